import type { Mutant } from '../mutant.ts'

const COALESCER = 'src/gateway/replays/request-coalescer.ts'
const COALESCER_TESTS = 'src/gateway/replays/request-coalescer.test.ts'
const SCENARIOS = 'test/scenarios/replays/replays.test.ts'
const STORE_TESTS = 'src/stores/memory/replays.test.ts'
const SHARED = 'src/gateway/replays/shared-stream.ts'
const SHARED_TESTS = 'src/gateway/replays/shared-stream.test.ts'

/** Faults in kept answers and in requests that share one answer. */
export const replayMutants: readonly Mutant[] = [
  {
    name: 'a replay ignores the route',
    file: COALESCER,
    text: 'fingerprintOf({ apiKeyId, apiKey, route, digest })',
    replacement: "fingerprintOf({ apiKeyId, apiKey, route: '', digest })",
    tests: [SCENARIOS],
  },
  {
    name: 'concurrent requests of two routes share an answer',
    file: 'src/gateway/ports/requests/replays.ts',
    text: '`${apiKeyId} ${route} ${digest}`',
    replacement: '`${apiKeyId} ${route.length * 0} ${digest}`',
    tests: [COALESCER_TESTS],
  },
  {
    name: 'concurrent requests of two keys share an answer',
    file: 'src/gateway/ports/requests/replays.ts',
    text: '`${apiKeyId} ${route} ${digest}`',
    replacement: '`${apiKeyId * 0} ${route} ${digest}`',
    tests: [COALESCER_TESTS],
  },
  {
    name: 'a kept answer ignores the route',
    file: 'src/gateway/ports/requests/replays.ts',
    text: '`${apiKeyId} ${route} ${digest}`',
    replacement: '`${apiKeyId} ${route.length > 0} ${digest}`',
    tests: [STORE_TESTS],
  },
  {
    name: 'a kept answer ignores the key',
    file: 'src/gateway/ports/requests/replays.ts',
    text: '`${apiKeyId} ${route} ${digest}`',
    replacement: '`${apiKeyId > 0} ${route} ${digest}`',
    tests: [STORE_TESTS],
  },
  {
    name: 'a kept answer is found by a part of its digest',
    file: 'src/gateway/ports/requests/replays.ts',
    text: '`${apiKeyId} ${route} ${digest}`',
    replacement: '`${apiKeyId} ${route} ${digest.slice(0, 40)}`',
    tests: [STORE_TESTS],
  },
  {
    name: 'a replaced answer takes its newer answer out of the index',
    file: 'src/stores/memory/replays.ts',
    text: 'if (latest.get(key) === log.oldest) latest.delete(key)',
    replacement: 'latest.delete(key)',
    tests: [STORE_TESTS],
  },
  {
    name: 'a dropped answer stays in the index',
    file: 'src/stores/memory/replays.ts',
    text: 'if (latest.get(key) === log.oldest) latest.delete(key)',
    replacement: '',
    tests: [STORE_TESTS],
  },
  {
    name: 'an answer is kept for a millisecond too long',
    file: 'src/stores/memory/replays.ts',
    text: 'while (oldestExpiresAtMs <= nowMs)',
    replacement: 'while (oldestExpiresAtMs < nowMs)',
    tests: [STORE_TESTS],
  },
  {
    name: 'the memory budget can be exceeded by one answer',
    file: 'src/stores/memory/answer-log.ts',
    text: 'if (taken + bytes > bytesMax) return false',
    replacement: 'if (taken > bytesMax) return false',
    tests: [STORE_TESTS],
  },
  {
    name: 'a request is forgotten while its answer is being kept',
    file: COALESCER,
    text: '.then(() => this.#forget(run))',
    replacement: '\n    if (isSmall(body)) this.#forget(run)',
    tests: [COALESCER_TESTS],
  },
  {
    name: 'identical requests are found only after the first await',
    file: COALESCER,
    text: 'this.#inFlight.set(fingerprint.key, request)',
    replacement: 'await Promise.resolve()\n    this.#inFlight.set(fingerprint.key, request)',
    tests: [COALESCER_TESTS],
  },
  {
    name: 'a request that took the place of another is forgotten with it',
    file: COALESCER,
    text: 'if (this.#inFlight.get(key) === request) this.#inFlight.delete(key)',
    replacement: 'this.#inFlight.delete(key)',
    tests: [COALESCER_TESTS],
  },
  {
    name: 'a request waits for identical ones without a limit',
    file: COALESCER,
    text: 'while (earlier !== undefined && clock.monotonicMs() < patientUntilMs)',
    replacement: 'while (earlier !== undefined && patientUntilMs > 0)',
    tests: [COALESCER_TESTS],
  },
  {
    name: 'a stream that broke off is kept',
    file: COALESCER,
    text: 'isSmall(body) && isWhole',
    replacement: 'isSmall(body)',
    tests: ['test/scenarios/replays/replays-streams.test.ts'],
  },
  {
    name: 'a replay has the rate limits of the first answer',
    file: COALESCER,
    text: 'return follower && { ...answer, ...REPLAY, first',
    replacement: 'return follower && { ...answer, isReplay: true, first',
    tests: [COALESCER_TESTS],
  },
  {
    name: 'a failed answer ends the wait of its followers without an end',
    file: COALESCER,
    text: `    } catch (error) {
      this.#forget(run)
      throw error`,
    replacement: `    } catch (error) {
      throw error`,
    tests: [COALESCER_TESTS],
  },
  {
    name: 'a leader that disconnects ends the answer of its followers',
    file: 'src/gateway/replays/in-flight-request.ts',
    text: 'if (this.#followers === undefined || this.#followers.size === 0) this.#allDisconnected.fire()',
    replacement: 'this.#allDisconnected.fire()',
    tests: ['src/gateway/replays/in-flight-request.test.ts'],
  },
  {
    name: 'a reader that left early counts as one that read the whole stream',
    file: SHARED,
    text: 'isWhole: this.#hasEnded && this.#lag(reader) === 0',
    replacement: 'isWhole: this.#hasEnded || this.#lag(reader) === 0',
    tests: [SHARED_TESTS],
  },
  {
    name: 'a slow follower is never dropped',
    file: SHARED,
    text: 'if (this.#lag(reader) > LAG_BYTES_MAX) this.#drop(reader)',
    replacement: 'if (this.#lag(reader) > Infinity) this.#drop(reader)',
    tests: [SHARED_TESTS],
  },
  {
    name: 'the source of a stream goes on after its last reader has left',
    file: SHARED,
    text: 'this.#source.cancel()',
    replacement: '',
    tests: [SHARED_TESTS],
  },
  {
    name: 'the word bypass is recognised only in lower case',
    file: 'src/http/text/text-route.ts',
    text: 'idempotency.trim().toLowerCase()',
    replacement: 'idempotency.trim()',
    tests: [SCENARIOS],
  },
]
