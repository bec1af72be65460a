import type { Mutant } from '../mutant.ts'

const ADMISSION = 'src/domain/limits/admission.ts'
const PACE = 'src/gateway/admission/refusal-pace.ts'
const PACE_TESTS = 'src/gateway/admission/refusal-pace.test.ts'
const USAGE = 'src/domain/limits/scope-usage.ts'
const STEPS = 'src/stores/sqlite/limits/limit-steps.ts'
const UNIT_TESTS = 'src/domain/limits/admission.test.ts'
const PROPERTIES = 'test/properties/limits.test.ts'
const PROJECT_TESTS = 'src/stores/books/access/projects.test.ts'
const STORE_TESTS = 'src/stores/sqlite/limits/limits.test.ts'

/** Faults in limits and budgets. */
export const limitMutants: readonly Mutant[] = [
  {
    name: 'the refusals of a flood do not wait',
    file: PACE,
    text: 'if (count <= REFUSALS_AT_ONCE) return undefined',
    replacement: 'if (count > 0) return undefined',
    tests: [PACE_TESTS],
  },
  {
    name: 'of many refusals, some wait for more than a second',
    file: PACE,
    text: 'this.#sentInTurn = Math.max(this.#sentInTurn, needed)',
    replacement: 'this.#sentInTurn = needed',
    tests: [PACE_TESTS],
  },
  {
    name: 'a budget does not count what is reserved',
    file: ADMISSION,
    text: 'const needed = addUsd(reserved, amount)',
    replacement: 'const needed = amount',
    tests: [UNIT_TESTS],
  },
  {
    name: 'a refusal does not take the time of a clock that was set back',
    file: ADMISSION,
    text: 'usages: states.map(({ usage }) => atClock(usage, nowMs))',
    replacement: 'usages: states.map(({ usage }) => usage)',
    tests: [UNIT_TESTS],
  },
  {
    name: 'a request that ends keeps its slot',
    file: USAGE,
    text: 'running: usage.running - 1,',
    replacement: 'running: usage.running,',
    tests: [PROPERTIES],
  },
  {
    name: 'a period starts anew when the clock is set back',
    file: 'src/domain/limits/periods.ts',
    text: 'stored !== undefined && nowMs < stored.endMs',
    replacement: 'stored !== undefined && nowMs < stored.endMs && nowMs >= stored.startMs',
    tests: ['src/domain/limits/periods.test.ts'],
  },
  {
    name: 'a charge before the period, after the clock was set back, counts as a wrong budget',
    file: 'src/domain/limits/periods.ts',
    text: 'atMs < startMs ? addUsd(current.spentBefore, cost) : current.spentBefore',
    replacement: 'current.spentBefore',
    tests: [STORE_TESTS],
  },
  {
    name: 'a wrong budget in memory is reported and not corrected',
    file: STEPS,
    text: 'books.limits = this.#load(books, nowMs)\n      this.#hints',
    replacement: 'this.#hints',
    tests: [STORE_TESTS],
  },
  {
    name: 'requests that wait for a leaked reserve are not told that it is free',
    file: STEPS,
    text: 'this.#hints.report(books.accountId)',
    replacement: 'void this.#hints',
    tests: [STORE_TESTS],
  },
  {
    name: 'the check of the books does not find a slot that leaked',
    file: 'src/stores/books/verify/rules/limit-rules.ts',
    text: 'if (counted.running === actual.running) return reserves',
    replacement: 'if (counted.running >= 0) return reserves',
    tests: [STORE_TESTS],
  },
  {
    name: 'what a budget says would fit does not count the balance',
    file: STEPS,
    text: 'admit(scopes, demand, nowMs, books.free)',
    replacement: 'admit(scopes, demand, nowMs)',
    tests: ['test/scenarios/keys/limited-keys.test.ts'],
  },
  {
    name: 'a bucket fills beyond its limit',
    file: 'src/domain/limits/rate-bucket.ts',
    text: 'parts: Math.min(parts + passedMs * perMinute, perMinute * PARTS)',
    replacement: 'parts: parts + passedMs * perMinute',
    tests: ['src/domain/limits/rate-bucket.test.ts'],
  },
  {
    name: 'a rollback does not undo what it took of the limits',
    file: STEPS,
    text: 'for (const [live, usage] of this.#before) live.usage = usage',
    replacement: '',
    tests: [STORE_TESTS],
  },
  {
    name: 'a request that the balance refuses counts for its limits',
    file: STEPS,
    text: "if (decision.outcome === 'admitted' && !isCovered) return UNLIMITED",
    replacement: '',
    tests: [STORE_TESTS],
  },
  {
    name: 'tokens of a request that is charged after its hold expired do not count',
    file: 'src/stores/sqlite/ledger/text-holds.ts',
    text: 'else if (used.tokens > 0) limits.addDebt(books, demand, used)',
    replacement: '',
    tests: [STORE_TESTS],
  },
  {
    name: 'a compensated charge counts for budgets',
    file: 'src/stores/books/ledger/charges.ts',
    text: 'isCompensated ? { ...charge, cost: ZERO } : charge',
    replacement: 'charge',
    tests: [STORE_TESTS],
  },
  {
    name: 'a request does not pass the limits of the project of its key',
    file: 'src/stores/books/limits/account-limits.ts',
    text: 'if (project !== undefined) scopes.push(project)',
    replacement: '',
    tests: [PROJECT_TESTS],
  },
  {
    name: 'the budget of a project counts what all keys of the account spent before',
    file: 'src/stores/books/limits/account-limits.ts',
    text: "projectId: kind === 'project' ? id : null",
    replacement: 'projectId: null',
    tests: [PROJECT_TESTS],
  },
  {
    name: 'a key of a closed project is accepted',
    file: 'src/gateway/admission/admit-caller.ts',
    text: 'caller.project !== undefined && caller.project.closedAtMs !== null',
    replacement: 'false',
    tests: ['src/http/incoming-request.test.ts'],
  },
  {
    name: 'a key is created in the project of another account',
    file: 'src/stores/books/access/api-keys.ts',
    text: 'project === undefined || Number(project.account_id) !== accountId',
    replacement: 'project === undefined',
    tests: [PROJECT_TESTS],
  },
]
