import type { Mutant } from '../mutant.ts'

const ADMISSION = 'src/domain/limits/admission.ts'
const USAGE = 'src/domain/limits/scope-usage.ts'
const STEPS = 'src/stores/sqlite/limits/limit-steps.ts'
const UNIT_TESTS = 'src/domain/limits/admission.test.ts'
const PROPERTIES = 'test/properties/limits.test.ts'
const STORE_TESTS = 'src/stores/sqlite/limits/limits.test.ts'

/** Faults in limits and budgets. */
export const limitMutants: readonly Mutant[] = [
  {
    name: 'a budget does not count what is reserved',
    file: ADMISSION,
    text: 'subtractUsd(allowed, addUsd(spent, addUsd(usage.reserved.text, usage.reserved.media)))',
    replacement: 'subtractUsd(allowed, spent)',
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
    file: 'src/stores/sqlite/text-holds.ts',
    text: 'else if (used.tokens > 0) limits.addDebt(books, demand, used)',
    replacement: '',
    tests: [STORE_TESTS],
  },
  {
    name: 'a compensated charge counts for budgets',
    file: 'src/stores/sqlite/charges.ts',
    text: 'isCompensated ? { ...charge, cost: ZERO } : charge',
    replacement: 'charge',
    tests: [STORE_TESTS],
  },
]
