import {
  answer,
  chunk,
  closeDelimited,
  EVENT_STREAM,
  head,
  html,
  json,
  JSON_TYPE,
  resetAfterHeaders,
  resetBeforeHeaders,
  shortBody,
  sse,
} from '../support/upstream-replies.ts'
import type { Exchange, Reply } from '../support/upstream.ts'
import { FIRST, type Lane } from './fault-lanes.ts'

/** How a request can end, as its client sees it. What follows from each is in `rules`. */
export type End =
  | 'whole'
  | 'empty'
  | 'failed'
  | 'unpaid'
  | 'limited'
  | 'refused'
  | 'timed out'
  | 'broken off'
  | 'broken off unsaid'
  | 'fallen silent'

export type Rule = {
  readonly status: number
  /** Of the error that the client is told: by a status, or at the end of a stream that had begun. */
  readonly code?: string
  readonly type?: string
  readonly pays: keyof Lane['costs'] | 'nothing'
  /** Whether the next upstream is asked instead, where there is one. */
  readonly isSwitched: boolean
  readonly shouldRetry?: 'false'
  readonly retryAfter?: string
}

/**
 * The rules behind every expectation: nothing that has reached the client is asked for again; a silent upstream may yet bill, so no
 * other is asked; a client pays for what reached it, by the upstream's numbers where they came, and for nothing else.
 */
export const rules: Readonly<Record<End, Rule>> = {
  whole: { status: 200, pays: 'answer', isSwitched: false },
  // Where the lane asks the next one, but for that.
  empty: { status: 200, pays: 'empty', isSwitched: false },
  failed: { status: 502, ...error('upstream_error'), pays: 'nothing', isSwitched: true },
  // The operator's own trouble: no repeat of the client's helps.
  unpaid: {
    status: 502,
    ...error('upstream_error'),
    pays: 'nothing',
    isSwitched: true,
    shouldRetry: 'false',
  },
  limited: {
    status: 429,
    ...error('rate_limited', 'rate_limit_error'),
    pays: 'nothing',
    isSwitched: true,
    retryAfter: '7',
  },
  // The client's own mistake, in the upstream's words: no other upstream would see it otherwise.
  refused: { status: 400, ...error('theirs'), pays: 'nothing', isSwitched: false },
  'timed out': {
    status: 504,
    ...error('upstream_timeout', 'timeout_error'),
    pays: 'nothing',
    isSwitched: false,
    shouldRetry: 'false',
  },
  'broken off': { status: 200, ...error('upstream_error'), pays: 'firstPart', isSwitched: false },
  // The client has a heartbeat and no word.
  'broken off unsaid': { status: 200, ...error('upstream_error'), pays: 'nothing', isSwitched: false },
  'fallen silent': {
    status: 200,
    ...error('upstream_timeout', 'timeout_error'),
    pays: 'firstPart',
    isSwitched: false,
  },
}

/** What an upstream that plays a fault can see and move of the test around it. */
export type Stage = {
  advance(ms: number): void
  /** Resolves when this text has reached the client so many times. */
  received(text: string, times: number): Promise<void>
}

type Play = (lane: Lane, stage: Stage) => Reply

export type Fault = {
  /** What it comes to, for an upstream that sends JSON and for one that streams; absent where it cannot be. */
  readonly json?: readonly [End, Play]
  readonly stream?: readonly [End, Play]
  /** The upstream's address takes no connections, so it is never asked. */
  readonly isRefused?: true
}

const READ_MS = 300_000
const IDLE_MS = 60_000
/** As every first part of a stream has it. */
const SAID = `"${FIRST}"`
const HEARTBEAT = ': ping\n\n'
const MALFORMED = 'data: {"id":"chat\n\n'

export const faults: Readonly<Record<string, Fault>> = {
  'no fault': { json: ['whole', whole], stream: ['whole', whole] },
  'a refused connection': { ...either('failed', whole), isRefused: true },
  'a reset before its headers': either('failed', resetBeforeHeaders),
  'a reset after its headers': {
    json: ['failed', resetAfterHeaders],
    stream: ['failed', resetAfterStreamHead],
  },
  'a reset after a heartbeat': { stream: ['broken off unsaid', heartbeatThenReset] },
  'a reset after its first part': { stream: ['broken off', firstPartThen('', exchange => exchange.reset())] },
  'a 400': either('refused', status(400)),
  'a 401': either('unpaid', status(401)),
  'a 404': either('unpaid', status(404)),
  'a 429': either('limited', status(429, { 'retry-after': '7' })),
  'a 500': either('failed', status(500)),
  'nothing at all': either('timed out', silent),
  'nothing after its headers': either('timed out', silentAfterHeaders),
  'nothing after its first part': { stream: ['fallen silent', silentAfterFirstPart] },
  'a slow drip': { json: ['timed out', drippedJson], stream: ['whole', drippedStream] },
  'a page of HTML': either('failed', html),
  'an empty body': { json: ['failed', () => answer('')], stream: ['failed', () => sse([])] },
  'a malformed frame': {
    json: ['failed', malformed],
    stream: ['failed', () => sse([MALFORMED])],
  },
  'a malformed frame after its first part': {
    stream: ['broken off', firstPartThen(MALFORMED, end)],
  },
  'a malformed frame before a whole answer': {
    stream: ['whole', lane => sse([MALFORMED, ...lane.answer('main')])],
  },
  'a malformed frame within a whole answer': {
    stream: ['whole', lane => sse(lane.answer('main').toSpliced(1, 0, MALFORMED))],
  },
  'a chunk of no length after its first part': {
    stream: ['broken off', firstPartThen('', exchange => exchange.write('not a length\r\n'))],
  },
  'a cut within a frame': {
    json: ['failed', cut(30)],
    stream: ['broken off', firstPartThen('data: {"id":"ch', close)],
  },
  'a cut within a character': {
    json: ['failed', cutWithinCharacter],
    stream: ['broken off', firstPartThen(halfCharacter(), close)],
  },
  'a whole answer that only the close ends': either('whole', closedWhole),
  'half an answer that only the close ends': {
    json: ['failed', lane => closeDelimited(lane.answer('main')[0]!.slice(0, 30))],
    stream: ['broken off', closedHalf],
  },
  'an empty answer': { json: ['empty', empty], stream: ['empty', empty] },
}

/** A whole answer in which `word` stands. */
export function wholeAnswer(lane: Lane, word: string): Reply {
  return sent(lane, lane.answer(word))
}

function error(code: string, type = code): { readonly code: string; readonly type: string } {
  return { code, type }
}

function either(end: End, play: Play): Fault {
  return { json: [end, play], stream: [end, play] }
}

function whole(lane: Lane): Reply {
  return wholeAnswer(lane, 'main')
}

function empty(lane: Lane): Reply {
  return sent(lane, lane.empty)
}

function sent({ upstreamSends }: Lane, parts: readonly string[]): Reply {
  return upstreamSends === 'json' ? answer(parts.join(''), { headers: JSON_TYPE }) : sse(parts)
}

function status(code: number, headers: Readonly<Record<string, string>> = {}): Play {
  return () => json({ error: { message: 'No.', type: 'theirs', code: 'theirs' } }, { status: code, headers })
}

function resetAfterStreamHead(): Reply {
  return async exchange => {
    await exchange.write(STREAM_HEAD)
    exchange.reset()
  }
}

function heartbeatThenReset(_lane: Lane, stage: Stage): Reply {
  return async exchange => {
    await exchange.write(STREAM_HEAD)
    await exchange.write(chunk(HEARTBEAT))
    await stage.received(HEARTBEAT, 1)
    exchange.reset()
  }
}

function silent(_lane: Lane, stage: Stage): Reply {
  return () => stage.advance(READ_MS)
}

function silentAfterHeaders({ upstreamSends }: Lane, stage: Stage): Reply {
  return async exchange => {
    await exchange.write(upstreamSends === 'json' ? JSON_HEAD : STREAM_HEAD)
    // A stream that waits for its first byte is given up here, while there would be time to ask another upstream.
    for (let waitedMs = 0; waitedMs < READ_MS; waitedMs += IDLE_MS) {
      await aFewTurns()
      stage.advance(IDLE_MS)
    }
  }
}

function silentAfterFirstPart(lane: Lane, stage: Stage): Reply {
  return async exchange => {
    await firstPart(lane, stage, exchange)
    stage.advance(IDLE_MS)
  }
}

/** A part at a time, each sooner than any silence may last; all of it takes longer than an answer may. */
function drippedJson(lane: Lane, stage: Stage): Reply {
  return async exchange => {
    await exchange.write(JSON_HEAD)
    for (const character of lane.answer('main')[0]!.slice(0, 6)) {
      await exchange.write(character)
      await aFewTurns()
      stage.advance(READ_MS / 6)
    }
  }
}

/** Streams have no such limit. */
function drippedStream(lane: Lane, stage: Stage): Reply {
  const [first = '', ...rest] = lane.answer('main')
  return async exchange => {
    await exchange.write(STREAM_HEAD)
    for (let parts = 1; parts <= 6; parts += 1) {
      await exchange.write(chunk(first))
      await stage.received(SAID, parts)
      stage.advance(IDLE_MS - 1)
    }
    await exchange.write(chunk(rest.join('')))
    await exchange.write(LAST_CHUNK)
  }
}

function malformed(lane: Lane): Reply {
  return answer(lane.answer('main')[0]!.slice(0, -1), { headers: JSON_TYPE })
}

function cut(length: number): Play {
  return lane => shortBody(lane.answer('main')[0]!.slice(0, length))
}

/** Length and bytes as promised, as far as they came: the cut is in the middle of three bytes. */
function cutWithinCharacter(): Reply {
  return async exchange => {
    await exchange.write(JSON_HEAD)
    await exchange.write(new TextEncoder().encode('{"note":"漢').slice(0, -1))
    exchange.end()
  }
}

function halfCharacter(): Uint8Array {
  return new TextEncoder().encode('data: {"note":"漢').slice(0, -1)
}

/** Once its first part has reached the client: `sent`, and then an end of some kind. */
function firstPartThen(
  sentThen: string | Uint8Array,
  endsWith: (exchange: Exchange) => void | Promise<void>,
): Play {
  return (lane, stage) => async exchange => {
    await firstPart(lane, stage, exchange)
    if (sentThen.length > 0) await exchange.write(chunk(sentThen))
    await endsWith(exchange)
  }
}

async function firstPart(lane: Lane, stage: Stage, exchange: Exchange): Promise<void> {
  await exchange.write(STREAM_HEAD)
  await exchange.write(chunk(lane.answer('main')[0]!))
  await stage.received(SAID, 1)
}

/** The body is over, in peace. */
function end(exchange: Exchange): Promise<void> {
  return exchange.write(LAST_CHUNK)
}

/** The connection is over, in the middle of the body. */
function close(exchange: Exchange): void {
  exchange.end()
}

function closedWhole(lane: Lane): Reply {
  const headers = lane.upstreamSends === 'json' ? JSON_TYPE : EVENT_STREAM
  return closeDelimited(lane.answer('main').join(''), headers)
}

function closedHalf(lane: Lane): Reply {
  return closeDelimited(lane.answer('main')[0]!, EVENT_STREAM)
}

const STREAM_HEAD = head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' })
const JSON_HEAD = head(200, { ...JSON_TYPE, 'content-length': '1000' })
const LAST_CHUNK = '0\r\n\r\n'

/** In which the gateway reads what was written. Were it not to, the limit would only come sooner. */
async function aFewTurns(): Promise<void> {
  for (let turns = 0; turns < 3; turns += 1) {
    await new Promise(resolve => {
      setImmediate(resolve)
    })
  }
}
