import type { Clock } from '../../gateway/ports/clock.ts'
import type {
  FetchOutcome,
  FetchTerms,
  UntrustedFetch,
} from '../../gateway/ports/providers/untrusted-fetch.ts'
import type { HttpClient, HttpResponse } from '../../http1/client/http-client.ts'
import type { Resolver } from './address-guard.ts'
import { FetchError, FetchLimits, LimitedBody, RefusedError, networkError, tooLarge } from './fetch-limits.ts'
import { findTarget, type Target } from './find-target.ts'
import { sendToTarget } from './send-to-target.ts'

const REDIRECTS_MAX = 5
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/**
 * A file that is missing or forbidden may be available a moment later, because object stores are not consistent at
 * once.
 */
const PASSING_STATUSES: ReadonlySet<number> = new Set([403, 404, 408, 409, 423, 425, 429])

type UntrustedFetchPorts = {
  /** The client over sockets: one that uses proxies cannot connect to the address that was checked. */
  readonly http: Pick<HttpClient, 'send'>
  readonly resolve: Resolver
  readonly clock: Clock
  readonly version: string
  /** Whether private and loopback addresses may be reached. */
  readonly allowsPrivate: boolean
}

/** Fetches a URL from a client or a provider. It cannot reach hosts that only this machine may reach. */
export function untrustedFetch(ports: UntrustedFetchPorts): UntrustedFetch {
  return async (text, terms) => {
    const limits = new FetchLimits(ports.clock, terms)
    try {
      const response = await follow(text, { terms, limits, ports })
      return opened(response, { terms, limits })
    } catch (error) {
      limits.stop()
      if (error instanceof RefusedError) return { outcome: 'refused', problem: error.message }
      const { message, isPermanent } = limits.failure ?? networkError('connection', error)
      return { outcome: 'failed', problem: message, isPermanent }
    }
  }
}

type Fetch = {
  readonly terms: FetchTerms
  readonly limits: FetchLimits
  readonly ports: UntrustedFetchPorts
}

/** The first response that does not redirect. Each redirect is checked like the first URL. */
async function follow(text: string, fetch: Fetch): Promise<HttpResponse> {
  let url = untrustedUrl(text)
  // After a redirect to another origin, the key is not sent again: that origin could redirect back to a path of its
  // choice.
  let isAuthorized = true
  for (let redirects = 0; ; redirects += 1) {
    const target = await findTarget(url, { ...fetch.ports, limits: fetch.limits })
    const response = await request(url, target, { ...fetch, isAuthorized })
    if (!REDIRECTS.has(response.status)) return response
    response.cancel()
    if (redirects === REDIRECTS_MAX) throw permanent(`more than ${REDIRECTS_MAX} redirects`)
    const location = response.headers.get('location')
    if (location === null) throw permanent('a redirect without a location')
    const next = untrustedUrl(location, url)
    isAuthorized &&= next.origin === url.origin
    url = next
  }
}

/** Sends a GET, with the operator's key if the host may get it. */
function request(
  url: URL,
  target: Target,
  { terms, limits, ports, isAuthorized }: Fetch & { readonly isAuthorized: boolean },
): Promise<HttpResponse> {
  const { authorization } = terms
  const isTrusted =
    isAuthorized &&
    authorization?.hosts.includes(url.host) === true &&
    // With plain http to other hosts, anyone on the network path could read the key.
    (url.protocol === 'https:' || target.isPrivate)
  const headers = new Headers(isTrusted ? authorization.headers : {})
  headers.set('accept', '*/*')
  headers.set('accept-encoding', 'identity')
  headers.set('user-agent', `tollgate/${ports.version}`)
  return sendToTarget(target, { method: 'GET', url, headers }, { http: ports.http, limits })
}

function opened(
  response: HttpResponse,
  { terms: { bytesMax }, limits }: Pick<Fetch, 'terms' | 'limits'>,
): FetchOutcome {
  const { status, headers, contentLength } = response
  const problem =
    status === 200
      ? contentLength !== undefined && contentLength > bytesMax
        ? tooLarge(bytesMax)
        : encodingProblem(headers.get('content-encoding'))
      : statusProblem(status)
  if (problem !== undefined) {
    response.cancel()
    throw problem
  }
  return {
    outcome: 'opened',
    contentType: headers.get('content-type') ?? '',
    ...(contentLength === undefined ? {} : { bytes: contentLength }),
    body: new LimitedBody(response, { bytesMax, limits }),
  }
}

function statusProblem(status: number): FetchError {
  const isPermanent = status < 500 && !PASSING_STATUSES.has(status)
  return new FetchError(`status ${status}`, { isPermanent })
}

/** A compressed body would be stored unchanged, and would not be an image or a video. */
function encodingProblem(encoding: string | null): FetchError | undefined {
  const isPlain = encoding === null || encoding.trim() === '' || encoding.toLowerCase() === 'identity'
  return isPlain ? undefined : permanent('a compressed body')
}

function permanent(problem: string): FetchError {
  return new FetchError(problem, { isPermanent: true })
}

/** Few servers accept longer ones. */
const URL_CHARS_MAX = 8192

/**
 * Reads a URL, which may be relative to the one that redirects to it. Throws a `RefusedError` for one that is not
 * fetched.
 */
export function untrustedUrl(text: string, base?: URL): URL {
  if (text.length > URL_CHARS_MAX) throw new RefusedError(`the URL has more than ${URL_CHARS_MAX} characters`)
  const url = URL.parse(text, base?.href)
  if (url === null) throw new RefusedError('the URL is not valid')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new RefusedError('the URL is neither http nor https')
  }
  if (url.username !== '' || url.password !== '') {
    throw new RefusedError('the URL has a user name or a password')
  }
  return url
}
