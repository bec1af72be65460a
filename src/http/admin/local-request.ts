import type { BodyLimits, IncomingRequest } from '../incoming-request.ts'
import { tooLarge } from '../../http1/server/request-body.ts'
import { textOf } from '../../http1/server/whole-body.ts'

/** Wraps a request that was made in this process for a handler. */
export function localRequest(request: Request): IncomingRequest {
  const { method, headers, signal } = request
  const { pathname, search } = new URL(request.url)
  return {
    method,
    path: pathname,
    query: search.slice(1),
    header: name => headers.get(name),
    signal,
    get hasLeft() {
      return signal.aborted
    },
    body: async ({ bytesMax }: BodyLimits) => {
      const bytes = Buffer.from(await request.arrayBuffer())
      if (bytes.length > bytesMax) throw tooLarge(bytesMax)
      return textOf({ bytes, start: 0, end: bytes.length })
    },
  }
}
