import type { Mutant } from '../mutant.ts'

const BUDGET = 'src/gateway/byte-budgets/byte-budget.ts'
const BUDGET_TESTS = 'src/gateway/byte-budgets/byte-budget.test.ts'
const MEMORY_SCENARIOS = 'test/scenarios/http/body-memory.test.ts'
const SPOOL_SCENARIOS = 'test/scenarios/media/media-bodies.test.ts'

/** Faults in the budgets and limits of request bodies. */
export const bodyMutants: readonly Mutant[] = [
  {
    name: 'one key gets the whole memory',
    file: BUDGET,
    text: "if (!fits(own, more, this.#share)) return 'owner_full'",
    replacement: "if (!fits(own, more, this.#total)) return 'owner_full'",
    tests: [BUDGET_TESTS, MEMORY_SCENARIOS],
  },
  {
    name: 'no memory is kept for small bodies',
    file: BUDGET,
    text: 'large: bytesMax - small.keptBytes',
    replacement: 'large: bytesMax',
    tests: [BUDGET_TESTS],
  },
  {
    name: 'a body that grows large counts only what it grew by',
    file: BUDGET,
    text: 'this.#largeIn(before + bytes) - this.#largeIn(before)',
    replacement: 'this.#largeIn(bytes)',
    tests: [BUDGET_TESTS],
  },
  {
    name: 'a body overtakes those that wait',
    file: BUDGET,
    text: '].length > 0) return false',
    replacement: '].length > 1e9) return false',
    tests: [BUDGET_TESTS],
  },
  {
    name: 'a body that waits for its own share stops all others',
    file: BUDGET,
    text: "if (outcome === 'full') isFull = true",
    replacement: "if (outcome !== 'placed') isFull = true",
    tests: [BUDGET_TESTS],
  },
  {
    name: 'those that wait are not served when bytes are given back',
    file: BUDGET,
    text: 'if (own.all === 0) this.#owners.delete(owner)\n    this.#serve()',
    replacement: 'if (own.all === 0) this.#owners.delete(owner)',
    tests: [BUDGET_TESTS, MEMORY_SCENARIOS],
  },
  {
    name: 'a client that leaves while it waits keeps its place',
    file: BUDGET,
    text: "signal?.addEventListener('abort', refuse)",
    replacement: '',
    tests: [BUDGET_TESTS, MEMORY_SCENARIOS],
  },
  {
    name: 'the memory of a body is never given back',
    file: 'src/http/request-handler.ts',
    text: 'context.bodyMemory?.release()',
    replacement: '',
    tests: [MEMORY_SCENARIOS],
  },
  {
    name: 'a body in chunks takes no memory',
    file: 'src/http/incoming-request.ts',
    text: 'if (!memory.tryTake(piece.length)) await memory.take(piece.length, request.signal)',
    replacement: '',
    tests: [MEMORY_SCENARIOS],
  },
  {
    name: 'the connection of a refused body stays open',
    file: 'src/http/request-handler.ts',
    text: ", 'overloaded'])",
    replacement: '])',
    tests: [SPOOL_SCENARIOS],
  },
  {
    name: 'files are stored without space',
    file: 'src/gateway/media/create/spool-body.ts',
    text: 'if (!space.tryTake(bytes.length)) await space.take(bytes.length, signal)',
    replacement: 'void [space, signal]',
    tests: [SPOOL_SCENARIOS],
  },
  {
    name: 'the space for files is never given back',
    file: 'src/gateway/media/create/receive-media.ts',
    text: 'space.release()',
    replacement: '',
    tests: [SPOOL_SCENARIOS],
  },
  {
    name: 'a provider in a private network gets links',
    file: 'src/gateway/media/work/fetch-inputs.ts',
    text: '!(await isPrivate(provider))',
    replacement: '(await isPrivate(provider)) !== undefined',
    tests: ['test/scenarios/media/videos-inputs.test.ts', 'test/scenarios/media/images-references.test.ts'],
  },
  {
    name: 'a body may come as slowly as it likes',
    file: 'src/http1/server/request-body.ts',
    text: 'if (rateMin === undefined) return Infinity',
    replacement: 'if (rateMin !== undefined) return Infinity',
    tests: ['src/http1/server/server-request.test.ts', 'test/scenarios/http/http-edge.test.ts'],
  },
  {
    name: 'a response is unsolicited if it comes in the first poll after its request',
    file: 'src/http1/client/client-connection.ts',
    text: 'if (this.#sentInPoll !== undefined && this.#sentInPoll === currentPoll())',
    replacement: 'if (this.#sentInPoll === undefined || this.#sentInPoll === currentPoll())',
    tests: ['src/http1/client/client-connection.test.ts'],
  },
]
