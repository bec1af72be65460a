import type { ByteStream } from '../byte-stream.ts'
import { clientError } from './client-error.ts'
import type { SocketWriter } from '../socket-writer.ts'

/** Text is sent in UTF-8. */
export type OutgoingBody = string | Uint8Array | StreamBody

/** A body that is read while it is sent: with its length, or in chunks if the length is absent. */
export type StreamBody = { readonly stream: ByteStream; readonly length?: number }

/** Methods whose requests declare that they have no body. Requests with other methods declare nothing. */
const methodsWithBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

const LINE_END = '\r\n'
const HEAD_END = '\r\n\r\n'

/**
 * Requests up to this size are put together in memory that they share, and sent with one write. Separate buffers would
 * cost a few percent of a request.
 */
const SCRATCH_BYTES = 64 * 1024
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)

export function isStreamBody(body: OutgoingBody | undefined): body is StreamBody {
  return typeof body === 'object' && 'stream' in body
}

/** Writes a request, except the stream of a body. */
export function writeRequest(
  { method, head }: { readonly method: string; readonly head: string },
  body: OutgoingBody | undefined,
  writer: SocketWriter,
): void {
  if (isStreamBody(body)) {
    const framing =
      body.length === undefined ? 'transfer-encoding: chunked' : `content-length: ${body.length}`
    writer.write(Buffer.from(head + framing + HEAD_END, 'latin1'))
  } else if (body === undefined) {
    const framing = methodsWithBody.has(method) ? `content-length: 0${LINE_END}` : ''
    writer.write(Buffer.from(head + framing + LINE_END, 'latin1'))
  } else writeWhole(head, body, writer)
}

function writeWhole(head: string, body: string | Uint8Array, writer: SocketWriter): void {
  const bodyLength = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  const start = `${head}content-length: ${bodyLength}${HEAD_END}`
  if (start.length + bodyLength > SCRATCH_BYTES) {
    writer.write(Buffer.from(start, 'latin1'))
    writer.write(typeof body === 'string' ? Buffer.from(body) : body)
    return
  }
  scratch.write(start, 'latin1')
  if (typeof body === 'string') scratch.write(body, start.length)
  else scratch.set(body, start.length)
  writer.writeShared(scratch, start.length + bodyLength)
}

/**
 * Sends the stream of a body as fast as the server takes it. Rejects if the stream breaks or the connection closes.
 */
export async function uploadStream({ stream, length }: StreamBody, writer: SocketWriter): Promise<void> {
  let sent = 0
  for (let piece = await stream.read(); piece !== undefined; piece = await stream.read()) {
    sent += piece.length
    if (length !== undefined && sent > length) throw clientError('REQUEST_BODY_LENGTH')
    if (length === undefined) writer.write(Buffer.from(piece.length.toString(16) + LINE_END))
    writer.write(piece)
    if (length === undefined) writer.write(Buffer.from(LINE_END))
    await writer.drained()
  }
  if (length === undefined) writer.write(Buffer.from(`0${HEAD_END}`))
  else if (sent < length) throw clientError('REQUEST_BODY_LENGTH')
  await writer.drained()
}
