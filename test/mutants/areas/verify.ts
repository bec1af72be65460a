import type { Mutant } from '../mutant.ts'

const FOLD = 'src/domain/ledger/entry-fold.ts'
const FOLD_TESTS = 'src/domain/ledger/entry-fold.test.ts'
const BALANCES = 'src/stores/sqlite/verify/check-balances.ts'
const ENTRIES = 'src/stores/sqlite/verify/entry-reader.ts'
const CHARGES = 'src/stores/sqlite/verify/charge-reader.ts'
const COMMITS = 'src/stores/sqlite/verify/check-commits.ts'
const HOLDS = 'src/stores/sqlite/verify/check-holds.ts'
const CORRECTIONS = 'src/stores/sqlite/verify/check-corrections.ts'
const JOBS = 'src/stores/sqlite/verify/check-jobs.ts'
const ATTEMPTS = 'src/stores/sqlite/verify/check-attempts.ts'
const USAGE_DAYS = 'src/stores/sqlite/verify/check-usage-days.ts'
const VERIFY_TESTS = 'src/stores/sqlite/verify/verify.test.ts'
const EDIT_TESTS = 'src/stores/sqlite/verify/edits.test.ts'
const LATER_TESTS = 'src/stores/sqlite/verify/later-edits.test.ts'
const COMMIT_TESTS = 'src/stores/sqlite/verify/check-commits.test.ts'
const JOB_TESTS = 'src/stores/sqlite/verify/check-jobs.test.ts'
const ATTEMPT_TESTS = 'src/stores/sqlite/verify/check-attempts.test.ts'

/** Faults in what `verify` looks at. */
export const verifyMutants: readonly Mutant[] = [
  {
    name: 'verify skips the losses',
    file: BALANCES,
    text: '.filter(book => balances[book] !== sums[book])',
    replacement: ".filter(book => book !== 'losses' && balances[book] !== sums[book])",
    tests: [EDIT_TESTS],
  },
  {
    name: 'verify does not compare held money with the open holds',
    file: BALANCES,
    text: 'if (media !== held)',
    replacement: 'if (media === undefined)',
    tests: [VERIFY_TESTS],
  },
  {
    name: 'verify accepts an account without balances',
    file: BALANCES,
    text: 'if (!hasBalances(row))',
    replacement: 'if (!hasBalances(row)) return []\n  if (row === undefined)',
    tests: [EDIT_TESTS],
  },
  {
    name: 'verify accepts operations of a deleted account',
    file: BALANCES,
    text: '  yield* checkDeletedAccounts(database, readers)\n',
    replacement: '',
    tests: [EDIT_TESTS],
  },
  {
    name: 'verify does not compare the latest charge of an account',
    file: BALANCES,
    text: "    { name: 'its latest charge', stored: latestChargeId, is: charges.latestOf(accountId) },\n",
    replacement: '',
    tests: [VERIFY_TESTS],
  },
  {
    name: 'verify accepts entries that do not add up to zero',
    file: FOLD,
    text: 'if (sum !== 0n)',
    replacement: 'if (sum === undefined)',
    tests: [FOLD_TESTS],
  },
  {
    name: 'verify does not compare an operation with its entries',
    file: FOLD,
    text: 'if (available !== stated)',
    replacement: 'if (available === undefined)',
    tests: [FOLD_TESTS],
  },
  {
    name: 'verify does not compare the revenue of an operation with its charge',
    file: FOLD,
    text: 'if (revenue !== cost)',
    replacement: 'if (revenue === undefined)',
    tests: [FOLD_TESTS],
  },
  {
    name: 'verify accepts an entry in a book that its operation does not touch',
    file: FOLD,
    text: 'if (touchedBy[kind]?.includes(book) !== true)',
    replacement: 'if (touchedBy[kind] === undefined)',
    tests: [FOLD_TESTS],
  },
  {
    name: 'verify accepts a gap in the numbers of operations',
    file: FOLD,
    text: 'if (number === operations) return undefined',
    replacement: 'if (number >= operations) return undefined',
    tests: [FOLD_TESTS],
  },
  {
    name: 'verify reads on after a wrong entry of an account',
    file: FOLD,
    text: '    else account.isWrong = true\n',
    replacement: '',
    tests: [FOLD_TESTS],
  },
  {
    name: 'verify does not follow the chain of operations',
    file: ENTRIES,
    text: 'if (previous_id !== latest)',
    replacement: 'if (previous_id === undefined)',
    tests: [VERIFY_TESTS],
  },
  {
    name: 'verify accepts an operation whose credit, hold or charge is missing',
    file: ENTRIES,
    text: 'if (subject_at_ms === null) return',
    replacement: 'if (subject_at_ms === undefined) return',
    tests: [VERIFY_TESTS],
  },
  {
    name: 'verify accepts a third entry without an amount',
    file: ENTRIES,
    text: '(amount_3 !== null) === isThere && ',
    replacement: '',
    tests: [VERIFY_TESTS],
  },
  {
    name: 'verify accepts a negative cost',
    file: CHARGES,
    text: 'if (row.cost < 0n) return `has a negative cost, ${cost}`',
    replacement: '',
    tests: [EDIT_TESTS],
  },
  {
    name: "verify accepts a charge with another charge's operation",
    file: CHARGES,
    text: 'if (row.operation_id !== null && row.is_of_operation !== 1n)',
    replacement: 'if (row.operation_id !== null && row.is_of_operation === undefined)',
    tests: [VERIFY_TESTS],
  },
  {
    name: "verify accepts a charge with another account's key",
    file: CHARGES,
    text: 'if (row.is_of_key !== 1n) return',
    replacement: 'if (row.is_of_key === undefined) return',
    tests: [VERIFY_TESTS],
  },
  {
    name: 'verify does not follow the chain of charges',
    file: CHARGES,
    text: 'if (row.previous_id !== latest)',
    replacement: 'if (row.previous_id === undefined)',
    tests: [EDIT_TESTS],
  },
  {
    name: 'verify does not compute the price of a charge again',
    file: CHARGES,
    text: 'return price === row.cost',
    replacement: 'return price >= 0n',
    tests: [VERIFY_TESTS],
  },
  {
    name: 'verify does not recompute the hashes of commits',
    file: 'src/stores/sqlite/verify/commit-check.ts',
    text: 'Buffer.compare(hashOf(this.#hasher), hash) === 0',
    replacement: 'Buffer.compare(hashOf(this.#hasher), hash) < 2',
    tests: [COMMIT_TESTS],
  },
  {
    name: 'verify does not compare the checksums of commits',
    file: COMMITS,
    text: 'return isRight ? []',
    replacement: 'return isRight || differences.length === 0 ? []',
    tests: [LATER_TESTS],
  },
  {
    name: 'verify accepts a loss that counts as spent',
    file: BALANCES,
    text: 'if (bookedLosses !== losses)',
    replacement: 'if (bookedLosses > losses)',
    tests: [EDIT_TESTS],
  },
  {
    name: 'verify does not compare a job with its latest event',
    file: JOBS,
    text: 'facts === null ? []',
    replacement: 'facts !== null ? []',
    tests: [LATER_TESTS],
  },
  {
    name: 'verify accepts a deleted idempotency key',
    file: 'src/stores/sqlite/verify/check-job-keys.ts',
    text: 'newest !== null && created_at_ms <=',
    replacement: 'newest === null || created_at_ms <=',
    tests: [LATER_TESTS],
  },
  {
    name: 'verify does not look at the history of the catalog',
    file: 'src/stores/sqlite/verify/check-catalog.ts',
    text: '  yield* checkRevisions(database)\n',
    replacement: '',
    tests: [LATER_TESTS],
  },
  {
    name: 'verify reports a job that is archived meanwhile',
    file: 'src/stores/sqlite/verify/check-results.ts',
    text: ' || parts.isStored.get(row.row_id, row.outputs) === null',
    replacement: '',
    tests: ['src/stores/sqlite/verify/check-results.test.ts'],
  },
  {
    name: 'verify advises to refund what was refunded',
    file: 'src/stores/sqlite/verify/check-results.ts',
    text: 'nanoUsd(cost - (selectRefunded.get(rowId)?.refunded ?? 0n))',
    replacement: 'nanoUsd(cost)',
    tests: ['src/stores/sqlite/verify/check-results.test.ts'],
  },
  {
    name: 'verify accepts a missing commit',
    file: COMMITS,
    text: 'if (number !== chain.number + 1)',
    replacement: 'if (number < chain.number)',
    tests: [COMMIT_TESTS],
  },
  {
    name: 'verify does not name a row that was changed',
    file: 'src/stores/sqlite/verify/commit-check.ts',
    text: 'if (at < 0) return isShort ? [missing] : []',
    replacement: 'if (at !== undefined) return isShort ? [missing] : []',
    tests: [EDIT_TESTS],
  },
  {
    name: 'verify does not look at the rows after the last commit',
    file: COMMITS,
    text: '  yield check.strayRows()\n',
    replacement: '',
    tests: [COMMIT_TESTS],
  },
  {
    name: 'verify accepts a hold whose job is missing',
    file: HOLDS,
    text: 'if (is_orphan === 1n) return',
    replacement: 'if (is_orphan === 2n) return',
    tests: [EDIT_TESTS],
  },
  {
    name: 'verify accepts a hold that no operation ended',
    file: HOLDS,
    text: 'if (resolving !== (moves ? resolvingOf[state] : null))',
    replacement: 'if (resolving !== null && resolving !== (moves ? resolvingOf[state] : null))',
    tests: [EDIT_TESTS],
  },
  {
    name: 'verify accepts a charge above its media hold',
    file: HOLDS,
    text: 'return cost > amount ?',
    replacement: 'return cost < 0n ?',
    tests: [EDIT_TESTS],
  },
  {
    name: 'verify accepts a job whose hold is in another state',
    file: JOBS,
    text: 'if (hold !== holdStateOf[state]) return',
    replacement: 'if (hold === undefined) return',
    tests: [JOB_TESTS],
  },
  {
    name: 'verify does not compare the cost of a job with its charge',
    file: JOBS,
    text: 'if (charged !== cost) return',
    replacement: 'if (charged === undefined) return',
    tests: [JOB_TESTS],
  },
  {
    name: 'verify accepts a loss that no operation booked',
    file: JOBS,
    text: 'if (row.loss_operation === expected)',
    replacement: 'if (row.loss_operation === expected || row.loss_operation === null)',
    tests: [JOB_TESTS],
  },
  {
    name: 'verify accepts an attempt that was charged and not credited back',
    file: ATTEMPTS,
    text: 'return credited === due ?',
    replacement: 'return credited === due || credited === null ?',
    tests: [EDIT_TESTS],
  },
  {
    name: 'verify does not compute the price of an attempt again',
    file: ATTEMPTS,
    text: 'if (price !== cost)',
    replacement: 'if (price === undefined)',
    tests: [ATTEMPT_TESTS],
  },
  {
    name: 'verify stops after its first check',
    file: 'src/stores/sqlite/verify/verify.ts',
    text: '      await new Promise(setImmediate)\n    }\n',
    replacement: '      await new Promise(setImmediate)\n    }\n    if (problems.length >= 0) break\n',
    tests: [VERIFY_TESTS],
  },
  {
    name: 'verify does not compare the cost of a day with its charges',
    file: USAGE_DAYS,
    text: 'if (stored.totals.cost !== sum.totals.cost)',
    replacement: 'if (stored.totals.cost < 0n)',
    tests: [EDIT_TESTS],
  },
  {
    name: 'verify overlooks stored days without charges',
    file: USAGE_DAYS,
    text: 'for (const day of tables.storedDays()) if (!compared.has(day)) doubtful.add(day)',
    replacement: '',
    tests: [EDIT_TESTS],
  },
  {
    name: 'verify accepts refunds above their charge',
    file: CORRECTIONS,
    text: 'refunded !== null && refunded > cost',
    replacement: 'refunded !== null && refunded < 0n',
    tests: [EDIT_TESTS],
  },
  {
    name: 'verify accepts the refund of a compensated charge',
    file: CORRECTIONS,
    text: 'return is_compensated === 1n ?',
    replacement: 'return is_compensated === 2n ?',
    tests: [EDIT_TESTS],
  },
]
