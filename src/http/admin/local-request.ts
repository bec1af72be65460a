import { wholeRange } from '../../http1/byte-range.ts'
import { bodyTooLarge } from '../../http1/server/http-error.ts'
import { bodyText } from '../../http1/server/server-request.ts'
import type { AdminRequest } from './call.ts'

/** Wraps a request that was made in this process for a handler. */
export function localRequest(request: Request): AdminRequest {
  const { pathname, search } = new URL(request.url)
  return {
    method: request.method,
    path: pathname,
    query: search.slice(1),
    header: name => request.headers.get(name),
    async text({ bytesMax }) {
      const bytes = Buffer.from(await request.arrayBuffer())
      if (bytes.length > bytesMax) throw bodyTooLarge(bytesMax)
      return bodyText(wholeRange(bytes))
    },
  }
}
