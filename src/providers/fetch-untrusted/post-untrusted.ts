import type { Clock } from '../../gateway/ports/clock.ts'
import type { PostOutcome, PostTerms, UntrustedPost } from '../../gateway/ports/providers/untrusted-post.ts'
import type { HttpClient } from '../../http1/client/http-client.ts'
import type { Resolver } from './address-guard.ts'
import { FetchLimits, networkError, RefusedError } from './fetch-limits.ts'
import { untrustedUrl } from './fetch-untrusted.ts'
import { findTarget } from './find-target.ts'
import { sendToTarget } from './send-to-target.ts'

type UntrustedPostPorts = {
  /** The client over sockets: one that uses proxies cannot connect to the address that was checked. */
  readonly http: Pick<HttpClient, 'send'>
  readonly resolve: Resolver
  readonly clock: Clock
  readonly version: string
}

/** Posts to an address that a customer may have chosen. It cannot reach hosts that only this machine may reach. */
export function untrustedPost(ports: UntrustedPostPorts): UntrustedPost {
  return async (text, terms) => {
    const limits = new FetchLimits(ports.clock, terms)
    try {
      return { outcome: 'answered', status: await post(text, terms, { ...ports, limits }) }
    } catch (error) {
      return failure(error, limits)
    } finally {
      limits.stop()
    }
  }
}

function failure(error: unknown, limits: FetchLimits): PostOutcome {
  if (error instanceof RefusedError) return { outcome: 'refused', problem: error.message }
  return { outcome: 'failed', problem: (limits.failure ?? networkError('connection', error)).message }
}

/** The status of the answer. Its body is not read. */
async function post(
  text: string,
  { headers, body, allowsPrivate }: PostTerms,
  { limits, version, ...ports }: UntrustedPostPorts & { readonly limits: FetchLimits },
): Promise<number> {
  const url = untrustedUrl(text)
  const target = await findTarget(url, { ...ports, allowsPrivate, limits })
  if (url.protocol !== 'https:' && !target.isPrivate)
    throw new RefusedError('the URL is not https, and its host is not in a private network')
  const sent = new Headers(headers)
  sent.set('user-agent', `tollgate/${version}`)
  const request = { method: 'POST', url, headers: sent, body: new TextEncoder().encode(body) } as const
  const response = await sendToTarget(target, request, { http: ports.http, limits })
  response.cancel()
  return response.status
}
