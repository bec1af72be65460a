import type { Mutant } from '../mutant.ts'

const BATCHES = 'src/stores/postgres/batches.ts'
const POST = 'src/stores/postgres/migrations/0002_batches.sql'
const BATCH_TESTS = 'src/stores/postgres/batches.test.ts'
const HOLD_TESTS = 'src/stores/postgres/text-holds.test.ts'
const DATABASE = 'src/stores/postgres/database.ts'

/** Faults in the books of many nodes. */
export const postgresMutants: readonly Mutant[] = [
  {
    name: 'a batch in PostgreSQL is answered before it is on disk',
    file: 'src/stores/postgres/lane-writer.ts',
    text: 'flushed(this.#sql)]',
    replacement: 'Promise.resolve()]',
    tests: [BATCH_TESTS],
  },
  {
    name: 'a hold that was placed without an answer keeps its money',
    file: BATCHES,
    text: 'this.#waiting.unshift(...charges, ...ends, ...ended)',
    replacement: 'this.#waiting.unshift(...charges, ...ends)',
    tests: [BATCH_TESTS],
  },
  {
    name: 'the charges of a batch without an answer are dropped',
    file: BATCHES,
    text: 'this.#waiting.unshift(...charges, ...ends, ...ended)',
    replacement: 'this.#waiting.unshift(...ends, ...ended)',
    tests: [BATCH_TESTS],
  },
  {
    name: 'a process that lost its lane still writes',
    file: POST,
    text: 'WHERE number = p_place.lane AND epoch = p_place.epoch AND batch = p_place.batch - 1',
    replacement: 'WHERE number = p_place.lane',
    tests: [BATCH_TESTS],
  },
  {
    name: 'a hold in PostgreSQL ignores what other holds reserve',
    file: POST,
    text: 'a.amount <= b.available - b.reserved)',
    replacement: 'a.amount <= b.available)',
    tests: [BATCH_TESTS],
  },
  {
    name: 'a charge in PostgreSQL after its hold expired frees the hold again',
    file: POST,
    text: 'CASE WHEN h.expired_at_ms IS NULL THEN h.amount ELSE 0 END AS freed',
    replacement: 'h.amount AS freed',
    tests: [HOLD_TESTS],
  },
  {
    name: 'a database that acknowledges commits before they are on disk is accepted',
    file: DATABASE,
    text: "['on', 'remote_write', 'remote_apply']",
    replacement: "['on', 'local', 'remote_write', 'remote_apply']",
    tests: ['src/stores/postgres/database.test.ts'],
  },
]
