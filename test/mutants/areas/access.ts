import type { Mutant } from '../mutant.ts'

const SECRETS = 'src/domain/accounts/key-secrets.ts'
const SECRET_TESTS = 'src/domain/accounts/key-secrets.test.ts'
const KEYS = 'src/stores/books/access/api-keys.ts'
const KEY_TESTS = 'src/stores/books/access/api-keys.test.ts'
const LOOKUP_TESTS = 'src/stores/postgres/key-lookups.test.ts'
const ACCOUNTS = 'src/stores/books/access/accounts.ts'
const ACCOUNT_TESTS = 'src/stores/books/access/accounts.test.ts'

/** Faults in who may use a key or an account. */
export const accessMutants: readonly Mutant[] = [
  {
    name: 'a key is rotated while it has two secrets that work',
    file: SECRETS,
    text: 'if (ending !== undefined)',
    replacement: 'if (ending !== undefined && nowMs < 0)',
    tests: [SECRET_TESTS, KEY_TESTS],
  },
  {
    name: 'revoking the new secret leaves the end of the old one',
    file: SECRETS,
    text: 'return [ended, { number: ending.number, endsAtMs: null }]',
    replacement: 'return [ended]',
    tests: [SECRET_TESTS],
  },
  {
    name: 'a secret that was ended at once works again if the clock is set back',
    file: SECRETS,
    text: '(end.isFinal || end.atMs <= nowMs)',
    replacement: 'end.atMs <= nowMs',
    tests: [SECRET_TESTS],
  },
  {
    name: 'an ended secret is admitted',
    file: 'src/gateway/admission/admit-caller.ts',
    text: 'if (secretEnd === undefined || !hasEnded(secretEnd, nowMs)) return',
    replacement: 'if (secretEnd === undefined || nowMs > 0) return',
    tests: ['src/http/incoming-request.test.ts'],
  },
  {
    name: 'a secret in memory does not learn its end',
    file: KEYS,
    text: 'yield* forgetKeys()\n  return yield* keyOf(key.publicId)',
    replacement: 'return yield* keyOf(key.publicId)',
    tests: [KEY_TESTS],
  },
  {
    name: 'a node accepts the keys that it keeps although it cannot hear of changes',
    file: 'src/stores/postgres/database/poll.ts',
    text: 'this.#clock.monotonicMs() - this.#freshAtMs < FRESH_MS',
    replacement: 'true',
    tests: [LOOKUP_TESTS],
  },
  {
    name: 'a node keeps a key that it read before another node revoked it',
    file: 'src/stores/books/access/kept-keys.ts',
    text: 'if (generation !== this.#generation) return',
    replacement: '',
    tests: [LOOKUP_TESTS],
  },
  {
    name: 'other nodes are not told of a revoked key',
    file: 'src/stores/postgres/key-lookups.ts',
    text: "yield* run('INSERT INTO access_changes DEFAULT VALUES')",
    replacement: '',
    tests: [LOOKUP_TESTS],
  },
  {
    name: 'an account with a running request is closed',
    file: ACCOUNTS,
    text: 'openRequests: yield* parts.countRequests(accountId),',
    replacement: 'openRequests: 0,',
    tests: [ACCOUNT_TESTS],
  },
  {
    name: 'a closed account takes a project',
    file: 'src/stores/books/access/projects.ts',
    text: "yield* refuseClosed(accountId, 'projects')",
    replacement: '',
    tests: [ACCOUNT_TESTS],
  },
  {
    name: 'a closed account takes limits',
    file: 'src/stores/books/access/limit-changes.ts',
    text: "yield* refuseClosed(accountId, 'limits')",
    replacement: '',
    tests: [ACCOUNT_TESTS],
  },
  {
    name: 'a closed account takes a credit',
    file: 'src/stores/books/rows/credit-rows.ts',
    text: "if (books.current.isClosed) throw closedRefusal('credits')",
    replacement: '',
    tests: [ACCOUNT_TESTS],
  },
  {
    name: 'a closed account gets a key',
    file: KEYS,
    text: "yield* refuseClosed(accountId, 'keys')\n  if (projectId",
    replacement: 'if (projectId',
    tests: [ACCOUNT_TESTS],
  },
  {
    name: 'a node with another secret key starts on the same database',
    file: 'src/stores/postgres/catalog.ts',
    text: "if (compared === 'another') throw wrongKey()",
    replacement: '',
    tests: ['src/stores/postgres/catalog.test.ts'],
  },
  {
    name: 'the lease of another node in PostgreSQL can be taken before it has run out',
    file: 'src/stores/postgres/leases.ts',
    text: 'WHERE leases.until_ms <=',
    replacement: 'WHERE 0 <=',
    tests: ['src/stores/postgres/leases.test.ts'],
  },
]
