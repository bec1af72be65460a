import type { Mutant } from '../mutant.ts'

const ACCESS = 'src/domain/accounts/key-access.ts'
const ACCESS_TESTS = 'src/domain/accounts/key-access.test.ts'
const SCENARIOS = 'test/scenarios/keys/key-settings.test.ts'

/** Faults in what a key may be used for. */
export const keyMutants: readonly Mutant[] = [
  {
    name: 'a default of the account does not replace that of the gateway for new keys',
    file: 'src/stores/books/access/key-defaults.ts',
    text: 'patchKeyDefaults(yield* defaultsOf(GATEWAY), yield* defaultsOf(accountId))',
    replacement: 'patchKeyDefaults(yield* defaultsOf(accountId), yield* defaultsOf(GATEWAY))',
    tests: ['src/stores/books/access/key-defaults.test.ts'],
  },
  {
    name: 'a second rename replaces the first name of a key',
    file: 'src/stores/books/access/api-keys.ts',
    text: 'coalesce(first_name, name)',
    replacement: 'name',
    tests: ['src/stores/books/access/api-keys.test.ts'],
  },
  {
    name: 'a key is still accepted at the time at which it expires',
    file: ACCESS,
    text: 'nowMs >= expiresAtMs',
    replacement: 'nowMs > expiresAtMs',
    tests: [ACCESS_TESTS],
  },
  {
    name: 'a client whose address is unknown may use a key for some addresses',
    file: ACCESS,
    text: "!isInRanges(clientAddress() ?? '', allowedAddresses)",
    replacement: "!isInRanges(clientAddress() ?? '10.0.0.1', allowedAddresses)",
    tests: [ACCESS_TESTS],
  },
  {
    name: 'an IPv6 address is compared with IPv4 ranges',
    file: 'src/domain/accounts/address-range.ts',
    text: 'version === address.version && ',
    replacement: '',
    tests: ['src/domain/accounts/address-range.test.ts'],
  },
  {
    name: 'the address of a proxy counts as that of a client that it does not name',
    file: 'src/http/forwarding.ts',
    text: 'if (before === undefined) return undefined',
    replacement: 'if (before === undefined) return client',
    tests: [SCENARIOS],
  },
  {
    name: 'a kept answer is given to a key that may not call its model',
    file: 'src/gateway/replays/replay-switch.ts',
    text: 'return !isOff(model) && mayUseModel(settings, model)',
    replacement: 'return !isOff(model)',
    tests: [SCENARIOS],
  },
  {
    name: 'an earlier job is given to a key that may not call its model',
    file: 'src/gateway/media/create/create-job.ts',
    text: 'if (!mayUseModel(caller.apiKey.settings, { kind, id }))',
    replacement: 'if (id === undefined)',
    tests: [SCENARIOS],
  },
]
