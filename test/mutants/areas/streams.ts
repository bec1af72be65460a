import type { Mutant } from '../mutant.ts'

const SETTLE = 'src/gateway/text/settle-stream.ts'
const RELAY = 'src/gateway/text/relay-stream.ts'
const RELAY_TESTS = 'src/gateway/text/relay-stream.test.ts'
const OPEN = 'src/gateway/text/open-stream.ts'
const FINISH = 'test/scenarios/finish-aborted.test.ts'
const REFUSED = 'test/scenarios/streams-refused.test.ts'

/** Faults in how streams are opened, relayed and settled. */
export const streamMutants: readonly Mutant[] = [
  {
    name: 'a failed stream settlement keeps its hold',
    file: SETTLE,
    text: '      await this.#freeHold()\n',
    replacement: '',
    tests: [RELAY_TESTS],
  },
  {
    name: 'output that the upstream reported no usage for is not charged',
    file: SETTLE,
    text: 'endedWell || outputBegan ||',
    replacement: 'endedWell ||',
    tests: ['test/scenarios/streams-broken.test.ts'],
  },
  {
    name: 'a stream that produced nothing is charged for its input',
    file: SETTLE,
    text: 'usage.output + usage.reasoning + usage.audioOutput > 0',
    replacement: 'usage.output + usage.reasoning + usage.audioOutput >= 0',
    tests: ['test/scenarios/streams-broken.test.ts'],
  },
  {
    name: 'output that only the usage shows is not charged',
    file: SETTLE,
    text: '(usage !== null && usage.output + usage.reasoning',
    replacement: '(usage === undefined && usage.output + usage.reasoning',
    tests: ['test/scenarios/responses-stream.test.ts'],
  },
  {
    name: 'output that is only reasoning, which only the usage shows, is not charged',
    file: SETTLE,
    text: 'usage.output + usage.reasoning + usage.audioOutput > 0',
    replacement: 'usage.output + usage.audioOutput > 0',
    tests: ['test/scenarios/responses-stream.test.ts'],
  },
  {
    name: 'a broken stream looks complete',
    file: SETTLE,
    text: 'return opened.stream.finish(charge, breakForClient(end))',
    replacement: 'return opened.stream.finish(charge, null)',
    tests: ['test/scenarios/streams-broken.test.ts'],
  },
  {
    name: "an interrupted stream is free if its upstream's own cost was not reported",
    file: SETTLE,
    text: '!(isPriced || reading.endedWell)',
    replacement: '!(isPriced || reading.outputBegan)',
    tests: ['test/scenarios/interrupted-costs.test.ts'],
  },
  {
    name: 'a stream whose charge failed looks complete',
    file: SETTLE,
    text: 'return opened.stream.finish(null, failure)',
    replacement:
      'return failure.code === undefined ? opened.stream.finish(null, failure) : opened.stream.finish(null, null)',
    tests: [RELAY_TESTS],
  },
  {
    name: "a stream names a cost that is the upstream's own",
    file: SETTLE,
    text: 'cost: isPriced ? cost : null',
    replacement: 'cost: isPriced ? cost : cost',
    tests: ['test/scenarios/streams-ended.test.ts'],
  },
  {
    name: 'a stream that its client left counts as read to its end',
    file: SETTLE,
    text: 'isWhole = isRead',
    replacement: 'isWhole = isRead || end !== undefined',
    tests: [RELAY_TESTS],
  },
  {
    name: "the upstream's call goes on after its client has disconnected",
    file: RELAY,
    text: `    this.#upstream.cancel()
    this.#upstreamEnd ??=`,
    replacement: '    this.#upstreamEnd ??=',
    tests: [RELAY_TESTS],
  },
  {
    name: 'a stream whose provider bills it in full ends with its client',
    file: RELAY,
    text: 'if (attempt.destination.provider.finishAborted === undefined) return undefined',
    replacement: 'if (attempt.destination.provider.id !== undefined) return undefined',
    tests: [RELAY_TESTS, FINISH],
  },
  {
    name: 'a stream without output is read on without its client',
    file: RELAY,
    text: ' || !isOwed(this.#stream.reading()))',
    replacement: ')',
    tests: [RELAY_TESTS, FINISH],
  },
  {
    name: 'the piece that arrives while a client disconnects is not counted',
    file: RELAY,
    text: 'if (begun !== SILENCE) this.#pass(begun)',
    replacement: '',
    tests: [RELAY_TESTS],
  },
  {
    name: 'a stream is read on without its client for ever',
    file: 'src/gateway/text/finishing-streams.ts',
    text: 'this.#clock.after(FINISH_WITHIN_MS, cut)',
    replacement: 'this.#clock.after(FINISH_WITHIN_MS, () => {})',
    tests: [RELAY_TESTS, FINISH],
  },
  {
    name: 'a stream that is read on without its client may have any length',
    file: RELAY,
    text: 'if (bytes > FINISH_BYTES_MAX) this.#upstream.cancel()',
    replacement: '',
    tests: [RELAY_TESTS],
  },
  {
    name: 'the place of a finished stream is not given back',
    file: RELAY,
    text: 'this.#onFinished?.()',
    replacement: '',
    tests: [RELAY_TESTS],
  },
  {
    name: 'a finished stream costs more than its hold',
    file: SETTLE,
    text: 'isFinished || !(isPriced',
    replacement: '!(isPriced',
    tests: [RELAY_TESTS],
  },
  {
    name: "the client's disconnect ends the call of a stream that must be finished",
    file: OPEN,
    text: '  unfollow()\n',
    replacement: '',
    tests: [FINISH],
  },
  {
    name: 'an upstream may keep the connection of a complete stream open for ever',
    file: RELAY,
    text: 'this.#clock.after(CLOSE_WITHIN_MS, () => this.#upstream.cancel())',
    replacement: 'this.#clock.after(CLOSE_WITHIN_MS, () => {})',
    tests: [RELAY_TESTS],
  },
  {
    name: 'the first bytes of a stream are dropped',
    file: RELAY,
    text: 'this.#first = first.length > 0 ? first : undefined',
    replacement: 'this.#first = first.length < 0 ? first : undefined',
    tests: [RELAY_TESTS],
  },
  {
    name: 'a stream that could not be relayed keeps its hold',
    file: 'src/gateway/text/stream-text.ts',
    text: 'if (relayed === undefined) await ports.holds.release(admitted.hold)',
    replacement: '',
    tests: [REFUSED],
  },
  {
    name: 'a stream that begins with an error is relayed',
    file: OPEN,
    text: "if (errorFirst) return { ...noAnswer(status, 'a stream that begins with an error'), reason: 'server' }",
    replacement: '',
    tests: [REFUSED],
  },
  {
    name: 'a stream that broke before its first output is relayed',
    file: OPEN,
    text: "if (end.end === 'broken') return { kind: 'failure', status, reason: 'unreachable', problem: end.reason }",
    replacement: "if (end.end === 'broken') return null",
    tests: ['test/scenarios/failover.test.ts'],
  },
  {
    name: 'an upstream that was silent before its first output counts as one without an answer',
    file: OPEN,
    text: "if (end.end === 'idle') return { kind: 'timeout', status }",
    replacement: '',
    tests: [REFUSED],
  },
  {
    name: 'the end of a stream is a view of a read whose bytes do not stay',
    file: 'src/protocol/chat-stream/deferred-tail.ts',
    text: 'this.#frames.push(frame.slice())',
    replacement: 'this.#frames.push(frame)',
    tests: ['src/gateway/text/relay-stream.test.ts'],
  },
  {
    name: 'an unread frame is a view of a read whose bytes do not stay',
    file: 'src/protocol/responses/responses-stream.ts',
    text: 'this.#unread.push(frame.slice())',
    replacement: 'this.#unread.push(frame)',
    tests: ['src/protocol/responses/responses-stream.test.ts'],
  },
]
