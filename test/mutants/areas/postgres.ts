import type { Mutant } from '../mutant.ts'

const BATCHES = 'src/stores/postgres/lanes/batches.ts'
const LANES = 'src/stores/postgres/migrations/0001_books.sql'
const POST = 'src/stores/postgres/migrations/0014_limits_of_batches.sql'
const LIMITS = 'src/stores/postgres/migrations/0008_limits.sql'
const MIGRATION_TESTS = 'src/stores/postgres/database/migrate.test.ts'
const BATCH_TESTS = 'src/stores/postgres/lanes/batches.test.ts'
const HOLD_TESTS = 'src/stores/postgres/ledger/text-holds.test.ts'
const LIMIT_TESTS = 'src/stores/postgres/limits/limits.test.ts'
const DATABASE = 'src/stores/postgres/database/database.ts'

/** Faults in the books of many nodes. */
export const postgresMutants: readonly Mutant[] = [
  {
    name: 'grants of one user to two accounts on two nodes do not see each other',
    file: 'src/stores/books/ledger/ledger.ts',
    text: "request.allowance === undefined ? 'books' : 'access'",
    replacement: "'books'",
    tests: ['test/properties/admin-grants.test.ts'],
  },
  {
    name: 'a batch in PostgreSQL is answered before it is on disk',
    file: 'src/stores/postgres/lanes/lane-writer.ts',
    text: 'flushed(this.#sql)]',
    replacement: 'Promise.resolve()]',
    tests: [BATCH_TESTS],
  },
  {
    name: 'an answer of the database that cannot be read counts as a refusal',
    file: 'src/stores/postgres/lanes/lane-writer.ts',
    text: "unread: 'unanswered'",
    replacement: "unread: 'refused'",
    tests: [BATCH_TESTS],
  },
  {
    name: 'a charge is refused for what the database refuses to every charge',
    file: 'src/stores/postgres/lanes/lane-writer.ts',
    text: "meaning === 'refused' || meaning",
    replacement: 'meaning',
    tests: [BATCH_TESTS],
  },
  {
    name: 'a gateway goes on while the database has damaged tables',
    file: 'src/stores/postgres/lanes/lane-writer.ts',
    text: "meaning === 'broken' ||",
    replacement: '',
    tests: [BATCH_TESTS],
  },
  {
    name: 'a gateway goes on while the database refuses one charge after the other',
    file: BATCHES,
    text: 'this.#refusedCharges += 1',
    replacement: 'this.#refusedCharges += 0',
    tests: [BATCH_TESTS],
  },
  {
    name: 'the end of any work shows that charges can be written',
    file: BATCHES,
    text: "answers.charges.some(answer => 'captured' in answer)",
    replacement: 'true',
    tests: [BATCH_TESTS],
  },
  {
    name: 'the role of a gateway becomes the owner of the tables through a temporary table',
    file: LANES,
    text: 'SECURITY DEFINER SET search_path = %I, pg_temp',
    replacement: 'SECURITY DEFINER SET search_path = %I',
    tests: [MIGRATION_TESTS],
  },
  {
    name: 'every role of the database calls the functions that run as the owner of the tables',
    file: LANES,
    text: "EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', p_function);",
    replacement: '',
    tests: [MIGRATION_TESTS],
  },
  {
    name: 'a batch is committed after the node was told that it was not',
    file: 'src/stores/postgres/lanes/lane.ts',
    text: 'UPDATE lanes SET batch = ${this.#attempt}',
    replacement: 'UPDATE lanes SET batch = batch',
    tests: ['src/stores/postgres/lanes/lane.test.ts'],
  },
  {
    name: 'a hold that was placed without an answer keeps its money',
    file: BATCHES,
    text: '[...charges, ...ends, ...ended], tries',
    replacement: '[...charges, ...ends], tries',
    tests: [BATCH_TESTS],
  },
  {
    name: 'the charges of a batch without an answer are dropped',
    file: BATCHES,
    text: '[...charges, ...ends, ...ended], tries',
    replacement: '[...ends, ...ended], tries',
    tests: [BATCH_TESTS],
  },
  {
    name: 'a process that lost its lane still writes',
    file: LANES,
    text: 'WHERE number = p_place.lane AND epoch = p_place.epoch AND batch = p_place.previous_batch\n      AND last_id = p_place.sealed_id',
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
    text: 'CASE WHEN h.expired_at_ms IS NULL THEN h.amount ELSE 0 END,',
    replacement: 'h.amount,',
    tests: [HOLD_TESTS],
  },
  {
    name: 'a database that acknowledges commits before they are on disk is accepted',
    file: DATABASE,
    text: "['on', 'remote_write', 'remote_apply']",
    replacement: "['on', 'local', 'remote_write', 'remote_apply']",
    tests: ['src/stores/postgres/database/database.test.ts'],
  },
  {
    name: 'a limit of an account in PostgreSQL admits every hold of a batch',
    file: POST,
    text: 'array_agg(account_id) FILTER (WHERE NOT fits)',
    replacement: 'NULL::bigint[]',
    tests: [LIMIT_TESTS],
  },
  {
    name: 'a budget in PostgreSQL ignores what running requests reserve',
    file: POST,
    text: ') >= l.reserved_text + l.reserved_media, true)',
    replacement: ') >= c.asked_amount, true)',
    tests: [LIMIT_TESTS],
  },
  {
    name: 'a request that ended keeps its part of the limits in PostgreSQL',
    file: LIMITS,
    text: '0, -1, p_used_tokens - h.tokens, -h.worst_case, 0, p_cost,',
    replacement: '0, 0, p_used_tokens - h.tokens, 0, 0, p_cost,',
    tests: [LIMIT_TESTS],
  },
  {
    name: 'the requests of a batch take nothing of the limits in PostgreSQL',
    file: POST,
    text: 'running = l.running + c.running,\n        reserved_text = l.reserved_text + c.reserved_text,',
    replacement: 'running = l.running,',
    tests: [LIMIT_TESTS],
  },
  {
    name: 'requests of a batch that find no room stay counted in PostgreSQL',
    file: POST,
    text: 'IF v_before IS NOT NULL THEN',
    replacement: 'IF false THEN',
    tests: [LIMIT_TESTS],
  },
  {
    name: 'a charge is taken without a hold in PostgreSQL',
    file: POST,
    text: 'FROM unnest(p_charges) AS g JOIN unnest(v_ended) AS e ON e.charge_id = g.id',
    replacement: 'FROM unnest(p_charges) AS g LEFT JOIN unnest(v_ended) AS e ON e.charge_id = g.id',
    tests: [HOLD_TESTS],
  },
  {
    name: 'the commit of a batch does not cover the charges of PostgreSQL',
    file: 'src/stores/postgres/lanes/post.ts',
    text: 'rows.add(chargesTable.tag, formOfRow(chargesTable, place, Object.assign(this.#row, decided)))',
    replacement: '',
    tests: [BATCH_TESTS],
  },
  {
    name: 'a batch of PostgreSQL does not store the commit of the batch before',
    file: LANES,
    text: 'IF p_place.hash IS NOT NULL THEN',
    replacement: 'IF false THEN',
    tests: [BATCH_TESTS],
  },
  {
    name: 'a raised limit goes on refusing requests on a node with PostgreSQL',
    file: 'src/stores/postgres/access-parts.ts',
    text: '        yield* forgetOnAllNodes(kept)\n',
    replacement: '',
    tests: [LIMIT_TESTS],
  },
  {
    name: 'the end of work is refused while PostgreSQL is lost',
    file: 'src/stores/books/steps.ts',
    text: 'END_OF_WORK: WriteOptions = { canWait: true }',
    replacement: 'END_OF_WORK: WriteOptions = { canWait: false }',
    tests: ['src/stores/postgres/node.test.ts'],
  },
  {
    name: 'a node of PostgreSQL takes the time of its own machine',
    file: 'src/stores/postgres/database/database-clock.ts',
    text: 'return Math.floor(this.#own.monotonicMs() + this.#aheadMs)',
    replacement: 'return this.#own.now()',
    tests: ['src/stores/postgres/clocks-apart.test.ts'],
  },
  {
    name: 'the time of a node does not follow the clock of its database',
    file: 'src/stores/postgres/database/database-clock.ts',
    text: 'this.#aheadMs = Math.min(Math.max(this.#aheadMs, leastMs), mostMs)',
    replacement: '',
    tests: ['src/stores/postgres/database/database-clock.test.ts'],
  },
]
