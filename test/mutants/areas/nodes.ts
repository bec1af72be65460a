import type { Mutant } from '../mutant.ts'

const MIGRATE = 'src/stores/postgres/database/migrate.ts'
const NEWER = 'src/stores/postgres/newer-gateways.ts'
const LANE = 'src/stores/postgres/lanes/lane.ts'
const LANES = 'src/stores/postgres/migrations/0001_books.sql'
const HOLDS = 'src/stores/postgres/migrations/0003_hold_expiry.sql'
const STORED_ROWS = 'src/stores/postgres/lanes/stored-rows.ts'
const STEPS = 'src/stores/postgres/lanes/step-writes.ts'
const MIGRATE_TESTS = 'src/stores/postgres/database/migrate.test.ts'
const NEWER_TESTS = 'src/stores/postgres/newer-gateways.test.ts'
const LANE_TESTS = 'src/stores/postgres/lanes/lane.test.ts'
const BATCH_TESTS = 'src/stores/postgres/lanes/batches.test.ts'
const HOLD_TESTS = 'src/stores/postgres/ledger/text-holds.test.ts'
const SHARED_CHECKS = 'src/gateway/books/shared-checks.ts'
const CHECKS = 'src/gateway/books/check-books-regularly.ts'
const CHECKS_TESTS = 'src/gateway/books/check-books-regularly.test.ts'
const SHARED_CHECKS_TESTS = 'src/gateway/books/shared-checks.test.ts'
const BOOK_CHECKS = 'src/stores/postgres/book-checks.ts'
const BOOK_CHECKS_TESTS = 'src/stores/postgres/book-checks.test.ts'

/** Faults of gateways that are upgraded, frozen or replaced beside others. */
export const nodeMutants: readonly Mutant[] = [
  {
    name: 'a gateway that is too old for its database starts',
    file: MIGRATE,
    text: 'if (problem !== undefined) throw new Error(problem)',
    replacement: '',
    tests: [MIGRATE_TESTS],
  },
  {
    name: 'a gateway that knows exactly the smallest migration counts as too old',
    file: MIGRATE,
    text: 'if (known >= min) return undefined',
    replacement: 'if (known > min) return undefined',
    tests: [MIGRATE_TESTS],
  },
  {
    name: 'a migration does not record which gateways have to drain',
    file: MIGRATE,
    text: '${checksum}, ${minNumber})`',
    replacement: '${checksum}, 0)`',
    tests: [MIGRATE_TESTS],
  },
  {
    name: 'what older gateways use is dropped while they drain',
    file: MIGRATE,
    text: 'if (older.length === 0) return',
    replacement: 'return',
    tests: [MIGRATE_TESTS],
  },
  {
    name: 'a gateway that was stopped holds up migrations',
    file: MIGRATE,
    text: 'AND seen_at_ms > (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${LANE_TTL_MS} ORDER',
    replacement: 'ORDER',
    tests: [MIGRATE_TESTS],
  },
  {
    name: 'a gateway that is too old stays ready',
    file: NEWER,
    text: 'sinceMs >= UNREADY_AFTER_MS',
    replacement: 'sinceMs >= Infinity',
    tests: [NEWER_TESTS],
  },
  {
    name: 'a gateway that is too old is not ready before load balancers have seen the newer one',
    file: NEWER,
    text: 'sinceMs >= UNREADY_AFTER_MS',
    replacement: 'sinceMs >= 0',
    tests: [NEWER_TESTS],
  },
  {
    name: 'a gateway drains for a migration that no gateway uses yet',
    file: NEWER,
    text: 'WHERE EXISTS (SELECT FROM lanes WHERE migration >= min_number AND seen_at_ms > 0)',
    replacement: '',
    tests: [NEWER_TESTS],
  },
  {
    name: 'a gateway that is too old refuses paid work that load balancers still send',
    file: NEWER,
    text: '< REFUSE_AFTER_MS) return undefined',
    replacement: '< 0) return undefined',
    tests: [NEWER_TESTS],
  },
  {
    name: 'a gateway that is too old goes on with paid work',
    file: NEWER,
    text: '< REFUSE_AFTER_MS) return undefined',
    replacement: '< Infinity) return undefined',
    tests: [NEWER_TESTS],
  },
  {
    name: 'paid work starts on a build that is too old for its store',
    file: 'src/gateway/books/books-guard.ts',
    text: 'if (ofBuild !== undefined) return ofBuild',
    replacement: '',
    tests: ['src/gateway/books/books-guard.test.ts'],
  },
  {
    name: 'a lane is taken from a process that still writes',
    file: LANES,
    text: 'WHERE sealed_id = last_id AND seen_at_ms <= now_ms(p_now_ms) - p_ttl_ms',
    replacement: 'WHERE sealed_id = last_id',
    tests: [LANE_TESTS],
  },
  {
    name: 'a lane is taken without fencing the process that had it',
    file: LANES,
    text: 'migration = p_migration, epoch = epoch + 1, batch = 0,',
    replacement: 'migration = p_migration,',
    tests: [LANE_TESTS],
  },
  {
    name: 'a silent lane is sealed without fencing its process',
    file: STORED_ROWS,
    text: 'UPDATE lanes SET epoch = epoch + 1, batch = 0, sealed_id = last_id',
    replacement: 'UPDATE lanes SET sealed_id = last_id',
    tests: [LANE_TESTS],
  },
  {
    name: 'a lane is sealed although its process wrote again',
    file: STORED_ROWS,
    text: 'AND seen_at_ms <= now_ms(${nowMs}) - ${LANE_TTL_MS}::bigint FOR UPDATE',
    replacement: 'FOR UPDATE',
    tests: [LANE_TESTS],
  },
  {
    name: 'a fenced process goes on in the lane that was taken from it',
    file: LANE,
    text: "if (stored.epoch > place.epoch) return { fate: 'lane taken' }",
    replacement: '',
    tests: [LANE_TESTS],
  },
  {
    name: 'the holds of a process stay after another one took its lane',
    file: HOLDS,
    text: 'AND (l.epoch <> h.epoch OR l.seen_at_ms <= v_now_ms - p_ttl_ms)',
    replacement: 'AND l.seen_at_ms <= v_now_ms - p_ttl_ms',
    tests: [HOLD_TESTS],
  },
  {
    name: 'a frozen gateway keeps the locks of its step for more than a second',
    file: STEPS,
    text: "const IDLE_TIMEOUT = '500ms'",
    replacement: "const IDLE_TIMEOUT = '900ms'",
    tests: [BATCH_TESTS],
  },
  {
    name: 'a statement of a frozen gateway waits for its lock for most of a second',
    file: STEPS,
    text: "const LOCK_TIMEOUT = '250ms'",
    replacement: "const LOCK_TIMEOUT = '900ms'",
    tests: [BATCH_TESTS],
  },
  {
    name: 'every node of a database checks the books',
    file: CHECKS,
    text: 'if (!hasTurn) return RETRY_MS',
    replacement: '',
    tests: [SHARED_CHECKS_TESTS],
  },
  {
    name: 'a node checks the books although another one has just done it',
    file: CHECKS,
    text: 'if (freshMs > 0) return freshMs',
    replacement: '',
    tests: [SHARED_CHECKS_TESTS],
  },
  {
    name: 'a check from before the clock was set back counts as new',
    file: CHECKS,
    text: 'return endedAtMs - nowMs < everyMs ? Math.max(everyMs - ageMs, 0) : 0',
    replacement: 'return Math.max(everyMs - ageMs, 0)',
    tests: [SHARED_CHECKS_TESTS],
  },
  {
    name: 'the turn to check the books runs out during a long check',
    file: SHARED_CHECKS,
    text: 'await lease.renew(LEASE_MS).catch(() => undefined)',
    replacement: 'await Promise.resolve()',
    tests: [SHARED_CHECKS_TESTS],
  },
  {
    name: 'a check that began before a later one replaces its result in the guard',
    file: SHARED_CHECKS,
    text: 'if (!isLater(check, this.#noted)) return false',
    replacement: 'if (check.number === this.#noted.number) return false',
    tests: [SHARED_CHECKS_TESTS],
  },
  {
    name: 'a problem stops nothing if the result of the check cannot be stored',
    file: SHARED_CHECKS,
    text: '        const endedAtMs = clock.now()\n',
    replacement:
      '        const endedAtMs = clock.now()\n        await checks.store({ ...check, lastNumber })\n',
    tests: [SHARED_CHECKS_TESTS],
  },
  {
    name: 'a check of recent rows does not know a full check of its gateway that the database lost',
    file: SHARED_CHECKS,
    text: 'this.#noted.fullNumber > stored.fullNumber ? this.#noted : stored',
    replacement: 'stored',
    tests: [SHARED_CHECKS_TESTS],
  },
  {
    name: 'a check of recent rows hides a problem whose result could not be stored',
    file: SHARED_CHECKS,
    text: 'if (affectsNothing(affected)) forget()',
    replacement: 'forget()',
    tests: [SHARED_CHECKS_TESTS],
  },
  {
    name: 'a check that began before a later one replaces its stored result',
    file: BOOK_CHECKS,
    text: 'FROM now WHERE (full_number, number) < (${fullNumber}::bigint, ${number}::bigint)\n          AND ',
    replacement: 'FROM now WHERE ',
    tests: [BOOK_CHECKS_TESTS],
  },
  {
    name: 'a check of recent rows hides what a full check found meanwhile',
    file: 'src/gateway/ports/ledger/book-checks.ts',
    text: '  if (check.fullNumber !== than.fullNumber) return check.fullNumber > than.fullNumber\n',
    replacement: '',
    tests: [SHARED_CHECKS_TESTS],
  },
  {
    name: 'a check of recent rows replaces the stored result of a full check that ended meanwhile',
    file: BOOK_CHECKS,
    text: '(full_number, number) < (${fullNumber}::bigint, ${number}::bigint)',
    replacement: 'number < ${number}::bigint',
    tests: [BOOK_CHECKS_TESTS],
  },
  {
    name: 'a check of recent rows replaces what a gateway of an earlier version found meanwhile',
    file: BOOK_CHECKS,
    text: " OR accounts = '{}')",
    replacement: ' OR true)',
    tests: [BOOK_CHECKS_TESTS],
  },
  {
    name: 'a gateway keeps a result that did not replace what a gateway of an earlier version found',
    file: SHARED_CHECKS,
    text: '        forget()\n        await this.adoptLast()\n',
    replacement: '',
    tests: [SHARED_CHECKS_TESTS],
  },
  {
    name: 'only recent rows are checked while a problem stops an account',
    file: CHECKS,
    text: 'await checkWhileStopped(this.#ports, guard.affected)',
    replacement: 'await checkRecentRows(this.#ports)',
    tests: [CHECKS_TESTS],
  },
  {
    name: 'an account is no longer stopped if all rows cannot be read',
    file: 'src/gateway/books/check-books.ts',
    text: 'affected: bothOf(stopped, found.affected)',
    replacement: 'affected: found.affected',
    tests: [CHECKS_TESTS],
  },
  {
    name: 'all rows are never checked again',
    file: CHECKS,
    text: '    else if (result.isRecent && this.#isFullDue()) await this.#checkAll()\n',
    replacement: '',
    tests: [CHECKS_TESTS],
  },
  {
    name: 'a full check that cannot run is tried again each hour',
    file: CHECKS,
    text: 'return !isTried && (',
    replacement: 'return (!isTried || isTried) && (',
    tests: [CHECKS_TESTS],
  },
  {
    name: 'numbers of checks go back with the clock of the database',
    file: BOOK_CHECKS,
    text: 'greatest(begun + 1, now_ms(${this.#nowMs()}))',
    replacement: 'now_ms(${this.#nowMs()})',
    tests: [BOOK_CHECKS_TESTS],
  },
]
