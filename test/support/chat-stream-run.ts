import type { Bytes } from '../../src/domain/bytes.ts'
import type { GatewayError } from '../../src/domain/errors.ts'
import { ChatStream, type ChatStreamMode } from '../../src/protocol/chat-stream/chat-stream.ts'
import { shortLivedPieces } from '../../src/http1/testing/short-lived-pieces.ts'
import type { StreamCharge } from '../../src/protocol/text-dialect.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export type StreamRun = {
  /** What the client got before the charge, and after it. */
  readonly before: string
  readonly after: string
  /** Both outputs, joined. */
  readonly bytes: Uint8Array
  readonly isDone: boolean
  readonly reading: Omit<ReturnType<ChatStream['reading']>, 'texts'> & { readonly texts: readonly string[] }
}

/**
 * Feeds the reads to a stream, ends it, charges it and finishes it. Each read overwrites the bytes of the one before.
 */
export function runStream(
  reads: readonly (string | Bytes)[],
  mode: Partial<ChatStreamMode> & {
    readonly charge?: StreamCharge | null
    readonly failure?: GatewayError | null
  } = {},
): StreamRun {
  const stream = new ChatStream({
    choices: mode.choices ?? 1,
    limits: mode.limits ?? { inputTokensMax: undefined, outputTokensMax: undefined },
    rewriteModel: mode.rewriteModel ?? null,
  })
  const give = shortLivedPieces()
  const before = reads.map(read =>
    stream.feed(give(typeof read === 'string' ? encoder.encode(read) : read)!).slice(),
  )
  give(undefined)
  before.push(stream.end())
  const { isDone } = stream
  const read = stream.reading()
  const reading = { ...read, texts: read.texts() }
  const after = stream.finish(mode.charge ?? null, mode.failure ?? null)
  return {
    before: decoder.decode(joined(before)),
    after: decoder.decode(after),
    bytes: joined([...before, after]),
    isDone,
    reading,
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts))
}

/** The frame of a chunk with one choice. */
export function chunkFrame(
  delta: object,
  more: { finish?: string | null; [member: string]: unknown } = {},
): string {
  const { finish = null, ...members } = more
  const chunk = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'up-1',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...members,
  }
  return `data: ${JSON.stringify(chunk)}\n\n`
}
