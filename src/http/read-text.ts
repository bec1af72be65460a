import type { Reservation } from '../gateway/budgets/byte-budget.ts'
import { wholeRange } from '../http1/byte-range.ts'
import { GrowingBuffer } from '../http1/growing-buffer.ts'
import type { BodyLimits } from '../http1/server/request-body.ts'
import { bodyText, type BodyText } from '../http1/server/server-request.ts'
import type { IncomingRequest } from './incoming-request.ts'

type Source = Pick<IncomingRequest, 'declaredBytes' | 'text' | 'stream' | 'signal'>

/**
 * Reads the whole body as text, after `memory` has room for it: for its declared length before anything is read, and
 * piece by piece without one. The caller releases the memory when its work has ended. Rejects with `overloaded`, and as
 * `IncomingRequest` does.
 */
export function readText(request: Source, limits: BodyLimits, memory: Reservation): Promise<BodyText> {
  const bytes = request.declaredBytes
  if (bytes === undefined) return collectText(request, limits, memory)
  // A body over the limit is refused, however much room there is.
  if (bytes > limits.bytesMax || memory.tryTake(bytes)) return request.text(limits)
  return memory.take(bytes, request.signal).then(() => request.text(limits))
}

async function collectText(request: Source, limits: BodyLimits, memory: Reservation): Promise<BodyText> {
  const body = request.stream(limits)
  const bytes = new GrowingBuffer()
  for (let piece = await body.read(); piece !== undefined; piece = await body.read()) {
    if (!memory.tryTake(piece.length)) await memory.take(piece.length, request.signal)
    bytes.append(piece)
  }
  return bodyText(wholeRange(Buffer.from(bytes.take().buffer)))
}
