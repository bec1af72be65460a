import {
  answer,
  chunk,
  closeDelimited,
  EVENT_STREAM,
  head,
  json,
  JSON_TYPE,
  shortBody,
  sse,
} from '../support/upstream-replies.ts'
import type { Exchange, Reply } from '../support/upstream.ts'
import { FIRST, type Lane } from './fault-lanes.ts'

/** What an upstream that plays a fault can see and move of the test around it. */
export type Stage = {
  advance(ms: number): void
  /** Resolves when this text has reached the client so many times. */
  received(text: string, times: number): Promise<void>
}

/** How an upstream behaves, to what it is asked for. */
export type Play = (lane: Lane, stage: Stage) => Reply

const READ_MS = 300_000
const IDLE_MS = 60_000
/** As every first part of a stream has it. */
const SAID = `"${FIRST}"`
const HEARTBEAT = ': ping\n\n'
/** A frame of a stream in which half a chunk stands. */
export const MALFORMED = 'data: {"id":"chat\n\n'

/** A whole answer in which `word` stands. */
export function wholeAnswer(lane: Lane, word: string): Reply {
  return sent(lane, lane.answer(word))
}

/** A good answer. */
export function whole(lane: Lane): Reply {
  return wholeAnswer(lane, 'main')
}

/** A good answer that says nothing. */
export function empty(lane: Lane): Reply {
  return sent(lane, lane.empty)
}

function sent({ upstreamSends }: Lane, parts: readonly string[]): Reply {
  return upstreamSends === 'json' ? answer(parts.join(''), { headers: JSON_TYPE }) : sse(parts)
}

/** A refusal of the upstream’s. */
export function status(code: number, headers: Readonly<Record<string, string>> = {}): Play {
  return () => json({ error: { message: 'No.', type: 'theirs', code: 'theirs' } }, { status: code, headers })
}

/** Breaks before a byte of the stream. */
export function resetAfterStreamHead(): Reply {
  return async exchange => {
    await exchange.write(STREAM_HEAD)
    exchange.reset()
  }
}

/** Breaks once a heartbeat, and nothing else, has reached the client. */
export function heartbeatThenReset(_lane: Lane, stage: Stage): Reply {
  return async exchange => {
    await exchange.write(STREAM_HEAD)
    await exchange.write(chunk(HEARTBEAT))
    await stage.received(HEARTBEAT, 1)
    exchange.reset()
  }
}

/** Nothing, for as long as an answer may take. */
export function silent(_lane: Lane, stage: Stage): Reply {
  return () => stage.advance(READ_MS)
}

/** Headers, and then nothing. */
export function silentAfterHeaders({ upstreamSends }: Lane, stage: Stage): Reply {
  return async exchange => {
    await exchange.write(upstreamSends === 'json' ? JSON_HEAD : STREAM_HEAD)
    // A stream that waits for its first byte is given up here, while there would be time to ask another upstream.
    for (let waitedMs = 0; waitedMs < READ_MS; waitedMs += IDLE_MS) {
      await aFewTurns()
      stage.advance(IDLE_MS)
    }
  }
}

/** Falls silent once its first part has reached the client. */
export function silentAfterFirstPart(lane: Lane, stage: Stage): Reply {
  return async exchange => {
    await firstPart(lane, stage, exchange)
    stage.advance(IDLE_MS)
  }
}

/** A part at a time, each sooner than any silence may last; all of it takes longer than an answer may. */
export function drippedJson(lane: Lane, stage: Stage): Reply {
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
export function drippedStream(lane: Lane, stage: Stage): Reply {
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

/** JSON without its last brace. */
export function malformed(lane: Lane): Reply {
  return answer(lane.answer('main')[0]!.slice(0, -1), { headers: JSON_TYPE })
}

/** So many bytes of a longer answer, and the connection closes. */
export function cut(length: number): Play {
  return lane => shortBody(lane.answer('main')[0]!.slice(0, length))
}

/** Fewer bytes than promised, and the last of them is in the middle of a character. */
export function cutWithinCharacter(): Reply {
  return async exchange => {
    await exchange.write(JSON_HEAD)
    await exchange.write(new TextEncoder().encode('{"note":"漢').slice(0, -1))
    exchange.end()
  }
}

/** The start of a frame, which ends within a character. */
export function halfCharacter(): Uint8Array {
  return new TextEncoder().encode('data: {"note":"漢').slice(0, -1)
}

/** Once its first part has reached the client: `sent`, and then an end of some kind. */
export function firstPartThen(
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
export function end(exchange: Exchange): Promise<void> {
  return exchange.write(LAST_CHUNK)
}

/** The connection is over, in the middle of the body. */
export function close(exchange: Exchange): void {
  exchange.end()
}

/** A good answer whose end is that of its connection. */
export function closedWhole(lane: Lane): Reply {
  const headers = lane.upstreamSends === 'json' ? JSON_TYPE : EVENT_STREAM
  return closeDelimited(lane.answer('main').join(''), headers)
}

/** The start of a stream whose end is that of its connection. */
export function closedHalf(lane: Lane): Reply {
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
