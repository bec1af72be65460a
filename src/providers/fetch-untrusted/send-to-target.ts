import type { Bytes } from '../../domain/bytes.ts'
import { ClientError } from '../../http1/client/client-error.ts'
import type { HttpClient, HttpResponse } from '../../http1/client/http-client.ts'
import { httpRequest } from '../../http1/client/http-request.ts'
import { FetchError, type FetchLimits } from './fetch-limits.ts'
import type { Target } from './find-target.ts'

/**
 * Sends a request to the checked addresses of a target, one after another, until one connects. Uses a new connection,
 * because a pooled one could be to another address.
 */
export async function sendToTarget(
  { addresses }: Target,
  request: {
    readonly method: 'GET' | 'POST'
    readonly url: URL
    readonly headers: Headers
    readonly body?: Bytes
  },
  { http, limits }: { readonly http: Pick<HttpClient, 'send'>; readonly limits: FetchLimits },
): Promise<HttpResponse> {
  const { method, url, headers, body } = request
  for (const [index, pinnedAddress] of addresses.entries()) {
    const pinned = pinnedAddress === undefined ? {} : { pinnedAddress }
    const attempt = httpRequest({ method, url, headers, ...pinned, reuseConnection: false })
    try {
      return await http.send(attempt, { signal: limits.signal, ...(body === undefined ? {} : { body }) })
    } catch (error) {
      const isLast = index === addresses.length - 1
      const isConnected = !(error instanceof ClientError) || error.isRequestSent
      if (isLast || isConnected || limits.failure !== undefined) throw error
    }
  }
  throw new FetchError('DNS: no address')
}
