import type { Mutant } from '../mutant.ts'

const REPLAYS = 'src/stores/valkey/replays.ts'
const FLIGHTS = 'src/stores/valkey/flights.ts'
const ENTRIES = 'src/stores/valkey/sealed-entry.ts'
const CONNECTION = 'src/stores/valkey/connection.ts'
const COALESCER = 'src/gateway/replays/request-coalescer.ts'
const TESTS = 'src/stores/valkey/shared-cache.test.ts'
const TWO_NODES = 'src/stores/valkey/two-nodes.test.ts'
const SCENARIOS = 'test/scenarios/replays/shared-cache.test.ts'

/** Faults in the answers and requests that nodes share. */
export const sharedCacheMutants: readonly Mutant[] = [
  {
    name: 'gateways with different books share answers',
    file: ENTRIES,
    text: '`${kind} ${apiKey} ${apiKeyId} ${route} ${digest}`',
    replacement: '`${kind} ${apiKey.length * 0} ${apiKeyId} ${route} ${digest}`',
    tests: [TESTS, SCENARIOS],
  },
  {
    name: 'two keys share an answer in the cache',
    file: ENTRIES,
    text: '`${kind} ${apiKey} ${apiKeyId} ${route} ${digest}`',
    replacement: '`${kind} ${apiKey.length * 0} ${apiKeyId * 0} ${route} ${digest}`',
    tests: [TESTS],
  },
  {
    name: 'a changed value in the cache is used',
    file: ENTRIES,
    text: '      } catch {\n        return undefined',
    replacement: '      } catch {\n        return content',
    tests: [TESTS],
  },
  {
    name: 'the secret key does not change the entries of the cache',
    file: ENTRIES,
    text: "hkdfSync('sha256', secretKey, '', PURPOSE, KEY_BYTES)",
    replacement: "hkdfSync('sha256', secretKey.subarray(0, 0), '', PURPOSE, KEY_BYTES)",
    tests: [TESTS],
  },
  {
    name: 'an answer in the cache lives as long as someone keeps it there',
    file: REPLAYS,
    text: 'clock.now() < expiresAtMs ? answer : undefined',
    replacement: 'answer',
    tests: [TESTS],
  },
  {
    name: 'an answer in the cache never expires',
    file: REPLAYS,
    text: ", 'PX', String(ttlMs)]",
    replacement: ']',
    tests: [TESTS],
  },
  {
    name: 'a copied flight makes requests wait',
    file: FLIGHTS,
    text: '&& clock.now() < other.expiresAtMs',
    replacement: '',
    tests: [TESTS],
  },
  {
    name: 'a node ends the flight of another one',
    file: FLIGHTS,
    text: '~= ARGV[1] then return 0 end',
    replacement: "== '' then return 0 end",
    tests: [TESTS],
  },
  {
    name: 'a flight is not renewed',
    file: FLIGHTS,
    text: 'if (isOurs && !this.#hasEnded) this.start()',
    replacement: '',
    tests: [TESTS],
  },
  {
    name: 'values of others are not counted',
    file: 'src/stores/valkey/shared-cache.ts',
    text: 'rejected += 1',
    replacement: 'rejected += 0',
    tests: [TESTS],
  },
  {
    name: 'a frozen cache is waited for',
    file: CONNECTION,
    text: 'const ANSWER_WITHIN_MS = 90',
    replacement: 'const ANSWER_WITHIN_MS = 90_000',
    tests: [TESTS],
  },
  {
    name: 'a cache that failed is called by the next request',
    file: 'src/stores/valkey/client.ts',
    text: 'const OFF_MS = 5000',
    replacement: 'const OFF_MS = 50',
    tests: [TESTS],
  },
  {
    name: 'the request that waits for another node never hears that it failed',
    file: COALESCER,
    text: "void flight?.land('not_kept')",
    replacement: '',
    tests: [TWO_NODES],
  },
  {
    name: 'a request that another node answers calls the model too',
    file: 'src/gateway/replays/take-turn.ts',
    text: 'if (flight !== undefined) return { flight }',
    replacement: 'return { ...(flight !== undefined && { flight }) }',
    tests: [TWO_NODES],
  },
  {
    name: 'a request waits for another node without an end',
    file: 'src/gateway/replays/take-turn.ts',
    text: 'if (clock.monotonicMs() >= patientUntilMs) return {}',
    replacement: '',
    tests: [TWO_NODES],
  },
]
