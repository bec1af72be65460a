import type { Mutant } from '../mutant.ts'

const TOKEN = 'src/domain/admin/admin-token.ts'
const TOKEN_TESTS = 'src/domain/admin/admin-token.test.ts'
const STORE_TESTS = 'src/stores/books/access/admin-tokens.test.ts'
const SCENARIOS = 'test/scenarios/operators/admin-tokens.test.ts'
const SCOPES = 'test/scenarios/operators/admin-scopes.test.ts'

/** Faults in the rights of admin tokens. */
export const adminTokenMutants: readonly Mutant[] = [
  {
    name: 'a token is accepted at the moment at which it expires',
    file: TOKEN,
    text: 'nowMs >= expiresAtMs',
    replacement: 'nowMs > expiresAtMs',
    tests: [TOKEN_TESTS, SCENARIOS],
  },
  {
    name: 'a token grants a little more than its amount a day',
    file: TOKEN,
    text: 'if (amount <= rest) return today.day',
    replacement: 'if (amount <= rest + 1n) return today.day',
    tests: [TOKEN_TESTS, STORE_TESTS],
  },
  {
    name: 'a clock that is set back starts another day of grants',
    file: TOKEN,
    text: 'latest.day >= day',
    replacement: 'latest.day === day',
    tests: [TOKEN_TESTS, STORE_TESTS],
  },
  {
    name: 'a token makes a token that outlives it',
    file: TOKEN,
    text: 'asked.expiresAtMs > creator.expiresAtMs',
    replacement: 'asked.expiresAtMs < creator.expiresAtMs',
    tests: [TOKEN_TESTS, SCENARIOS],
  },
  {
    name: 'the grants of a token are not counted',
    file: 'src/stores/books/rows/credit-rows.ts',
    text: '{ token_id: id, token_day: day }',
    replacement: '{ token_id: null, token_day: day }',
    tests: [STORE_TESTS, SCENARIOS],
  },
  {
    name: 'a token for grants gives top-ups',
    file: 'src/http/admin/accounts/money.ts',
    text: "if (source !== 'grant') requireScope({ rights }, ['all'])",
    replacement: '',
    tests: [SCENARIOS],
  },
  {
    name: 'the admin API does not look at the scopes of a token',
    file: 'src/http/admin/admin-api.ts',
    text: 'requireScope(caller, scopes)',
    replacement: '',
    tests: [SCOPES],
  },
  {
    name: 'every token reads the metrics',
    file: 'src/http/admin/admin-access.ts',
    text: "requireScope(caller, ['metrics'])",
    replacement: '',
    tests: [SCOPES],
  },
]
