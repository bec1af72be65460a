import {
  answer,
  closeDelimited,
  html,
  resetAfterHeaders,
  resetBeforeHeaders,
  sse,
} from '../../support/upstream-replies.ts'
import type { Lane } from './fault-lanes.ts'
import {
  MALFORMED,
  whole,
  empty,
  status,
  resetAfterStreamHead,
  heartbeatThenReset,
  silent,
  silentAfterHeaders,
  silentAfterFirstPart,
  drippedJson,
  drippedStream,
  malformed,
  cut,
  cutWithinCharacter,
  halfCharacter,
  firstPartThen,
  end,
  close,
  closedWhole,
  closedHalf,
  type Play,
} from './fault-plays.ts'

/** How a request can end for its client. `rules` has the consequences. */
export type End =
  | 'whole'
  | 'empty'
  | 'failed'
  | 'unpaid'
  | 'limited'
  | 'refused'
  | 'timed out'
  | 'broken'
  | 'broken without output'
  | 'gone silent'

export type Rule = {
  readonly status: number
  /** The code of the client's error, from the status or from the end of a stream. */
  readonly code?: string
  readonly type?: string
  readonly pays: keyof Lane['costs'] | 'nothing'
  /** Whether there is a failover to the next upstream, if there is one. */
  readonly isSwitched: boolean
  readonly shouldRetry?: 'false'
  readonly retryAfter?: string
}

/**
 * The rules for every expectation: there is no failover after output has reached the client; there is no failover from
 * a silent upstream without a limit for its first byte, because it may still bill; a client pays only for what reached
 * it, by the upstream's numbers if they arrived.
 */
export const rules: Readonly<Record<End, Rule>> = {
  whole: { status: 200, pays: 'answer', isSwitched: false },
  // If the route has no failover for empty answers.
  empty: { status: 200, pays: 'empty', isSwitched: false },
  failed: { status: 502, ...error('upstream_error'), pays: 'nothing', isSwitched: true },
  // A problem of the operator. A retry by the client does not help.
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
  // A mistake of the client, with the upstream's message. Another upstream would refuse it too.
  refused: { status: 400, ...error('theirs'), pays: 'nothing', isSwitched: false },
  'timed out': {
    status: 504,
    ...error('upstream_timeout', 'timeout_error'),
    pays: 'nothing',
    isSwitched: false,
    shouldRetry: 'false',
  },
  broken: { status: 200, ...error('upstream_error'), pays: 'firstPart', isSwitched: false },
  // The client has a heartbeat and no output.
  'broken without output': { status: 200, ...error('upstream_error'), pays: 'nothing', isSwitched: false },
  'gone silent': {
    status: 200,
    ...error('upstream_timeout', 'timeout_error'),
    pays: 'firstPart',
    isSwitched: false,
  },
}

export type Fault = {
  /** The ending for an upstream that sends JSON and for one that streams. Absent if the fault is impossible there. */
  readonly json?: readonly [End, Play]
  readonly stream?: readonly [End, Play]
  /** The upstream's address refuses connections, so it never gets a request. */
  readonly isRefused?: true
}

export const faults: Readonly<Record<string, Fault>> = {
  'no fault': { json: ['whole', whole], stream: ['whole', whole] },
  'a refused connection': { ...either('failed', whole), isRefused: true },
  'a reset before its headers': either('failed', resetBeforeHeaders),
  'a reset after its headers': {
    json: ['failed', resetAfterHeaders],
    stream: ['failed', resetAfterStreamHead],
  },
  'a reset after a heartbeat': { stream: ['broken without output', heartbeatThenReset] },
  'a reset after its first part': { stream: ['broken', firstPartThen('', exchange => exchange.reset())] },
  'a 400': either('refused', status(400)),
  'a 401': either('unpaid', status(401)),
  'a 404': either('unpaid', status(404)),
  'a 429': either('limited', status(429, { 'retry-after': '7' })),
  'a 500': either('failed', status(500)),
  'no bytes': either('timed out', silent),
  'silence after its headers': either('timed out', silentAfterHeaders),
  'silence after its first part': { stream: ['gone silent', silentAfterFirstPart] },
  'a slow drip': { json: ['timed out', drippedJson], stream: ['whole', drippedStream] },
  'an HTML page': either('failed', html),
  'an empty body': { json: ['failed', () => answer('')], stream: ['failed', () => sse([])] },
  'a malformed frame': {
    json: ['failed', malformed],
    stream: ['failed', () => sse([MALFORMED])],
  },
  'a malformed frame after its first part': {
    stream: ['broken', firstPartThen(MALFORMED, end)],
  },
  'a malformed frame before a complete answer': {
    stream: ['whole', lane => sse([MALFORMED, ...lane.answer('main')])],
  },
  'a malformed frame within a complete answer': {
    stream: ['whole', lane => sse(lane.answer('main').toSpliced(1, 0, MALFORMED))],
  },
  'a chunk with an invalid length after its first part': {
    stream: ['broken', firstPartThen('', exchange => exchange.write('not a length\r\n'))],
  },
  'a cut within a frame': {
    json: ['failed', cut(30)],
    stream: ['broken', firstPartThen('data: {"id":"ch', close)],
  },
  'a cut within a character': {
    json: ['failed', cutWithinCharacter],
    stream: ['broken', firstPartThen(halfCharacter(), close)],
  },
  'a complete answer without a length': either('whole', closedWhole),
  'half an answer without a length': {
    json: ['failed', lane => closeDelimited(lane.answer('main')[0]!.slice(0, 30))],
    stream: ['broken', closedHalf],
  },
  'an empty answer': { json: ['empty', empty], stream: ['empty', empty] },
}

function error(code: string, type = code): { readonly code: string; readonly type: string } {
  return { code, type }
}

function either(end: End, play: Play): Fault {
  return { json: [end, play], stream: [end, play] }
}
