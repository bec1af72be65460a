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
} from '../../support/upstream-replies.ts'
import type { Exchange, Reply } from '../../support/upstream.ts'
import { FIRST, type Lane } from './fault-lanes.ts'
import { turns } from '../../support/turn.ts'

/** What an upstream with a fault can observe and control in the test. */
export type Stage = {
  advance(ms: number): void
  /** Resolves when this text has reached the client this many times. */
  received(text: string, times: number): Promise<void>
}

/** The behaviour of an upstream for JSON and for streams. */
export type Play = (lane: Lane, stage: Stage) => Reply

const READ_MS = 300_000
const IDLE_MS = 60_000
/** Every first part of a stream has this text. */
const SAID = `"${FIRST}"`
const HEARTBEAT = ': ping\n\n'
/** A frame of a stream with half a chunk. */
export const MALFORMED = 'data: {"id":"chat\n\n'

/** A complete answer that contains `word`. */
export function wholeAnswer(lane: Lane, word: string): Reply {
  return sent(lane, lane.answer(word))
}

/** A good answer. */
export function whole(lane: Lane): Reply {
  return wholeAnswer(lane, 'main')
}

/** A valid empty answer. */
export function empty(lane: Lane): Reply {
  return sent(lane, lane.empty)
}

function sent({ upstreamSends }: Lane, parts: readonly string[]): Reply {
  return upstreamSends === 'json' ? answer(parts.join(''), { headers: JSON_TYPE }) : sse(parts)
}

/** An error of the upstream. */
export function status(code: number, headers: Readonly<Record<string, string>> = {}): Play {
  return () => json({ error: { message: 'No.', type: 'theirs', code: 'theirs' } }, { status: code, headers })
}

/** Breaks before the first byte of the stream. */
export function resetAfterStreamHead(): Reply {
  return async exchange => {
    await exchange.write(STREAM_HEAD)
    exchange.reset()
  }
}

/** Breaks when only a heartbeat has reached the client. */
export function heartbeatThenReset(_lane: Lane, stage: Stage): Reply {
  return async exchange => {
    await exchange.write(STREAM_HEAD)
    await exchange.write(chunk(HEARTBEAT))
    await stage.received(HEARTBEAT, 1)
    exchange.reset()
  }
}

/** Sends nothing until the read timeout. */
export function silent(_lane: Lane, stage: Stage): Reply {
  return () => stage.advance(READ_MS)
}

/** Sends headers, and then nothing. */
export function silentAfterHeaders({ upstreamSends }: Lane, stage: Stage): Reply {
  return async exchange => {
    await exchange.write(upstreamSends === 'json' ? JSON_HEAD : STREAM_HEAD)
    // The wait for the first byte of a stream ends here, although there would be time for another upstream.
    for (let waitedMs = 0; waitedMs < READ_MS; waitedMs += IDLE_MS) {
      await turns(READING_TURNS)
      stage.advance(IDLE_MS)
    }
  }
}

/** Goes silent when its first part has reached the client. */
export function silentAfterFirstPart(lane: Lane, stage: Stage): Reply {
  return async exchange => {
    await firstPart(lane, stage, exchange)
    stage.advance(IDLE_MS)
  }
}

/** Sends one part at a time, each within the idle timeout. The whole answer exceeds the read timeout. */
export function drippedJson(lane: Lane, stage: Stage): Reply {
  return async exchange => {
    await exchange.write(JSON_HEAD)
    for (const character of lane.answer('main')[0]!.slice(0, 6)) {
      await exchange.write(character)
      await turns(READING_TURNS)
      stage.advance(READ_MS / 6)
    }
  }
}

/** Streams have no read timeout. */
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

/** Sends this many bytes of a longer answer, and closes the connection. */
export function cut(length: number): Play {
  return lane => shortBody(lane.answer('main')[0]!.slice(0, length))
}

/** Sends fewer bytes than announced. The last byte is in the middle of a character. */
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

/** Sends `sent` when its first part has reached the client, and then ends in some way. */
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

/** Ends the body normally. */
export function end(exchange: Exchange): Promise<void> {
  return exchange.write(LAST_CHUNK)
}

/** Breaks the connection in the middle of the body. */
export function close(exchange: Exchange): void {
  exchange.end()
}

/** A good answer that ends with its connection. */
export function closedWhole(lane: Lane): Reply {
  const headers = lane.upstreamSends === 'json' ? JSON_TYPE : EVENT_STREAM
  return closeDelimited(lane.answer('main').join(''), headers)
}

/** The start of a stream that ends with its connection. */
export function closedHalf(lane: Lane): Reply {
  return closeDelimited(lane.answer('main')[0]!, EVENT_STREAM)
}

const STREAM_HEAD = head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' })
const JSON_HEAD = head(200, { ...JSON_TYPE, 'content-length': '1000' })
const LAST_CHUNK = '0\r\n\r\n'

/** Enough time for the gateway to read what was written. Otherwise the limit would only be reached earlier. */
const READING_TURNS = 3
