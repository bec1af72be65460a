/**
 * The one way from the console to the gateway. Admin calls have the paths and types of the OpenAPI document. The
 * gateway gives them to the admin API with the signed-in user as the caller.
 */
import createClient from 'openapi-fetch'
import type { paths } from './schema.d.ts'

/** A refusal in the error envelope of the gateway, or a reply that is none. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  /** The field that the error is about. */
  readonly param: string | undefined
  /** For support: names the request in the log of the gateway. */
  readonly requestId: string | undefined
  readonly retryAfterS: number | undefined

  constructor(status: number, message: string, more: Partial<Omit<ApiError, 'status' | 'message'>> = {}) {
    super(message)
    this.status = status
    this.code = more.code ?? 'server_error'
    this.param = more.param
    this.requestId = more.requestId
    this.retryAfterS = more.retryAfterS
  }
}

/** Of the signed-in session. Every call that changes something sends it. */
let csrfToken: string | undefined
let onSignedOut = () => {}

export function keepCsrfToken(token: string | undefined): void {
  csrfToken = token
}

/** Sets what happens when the gateway says that the session has ended. */
export function whenSignedOut(handle: () => void): void {
  onSignedOut = handle
}

/** `…/console/api`, also behind a path prefix, because the base of the page is relative. */
const apiUrl = new URL('api', document.baseURI).href

/** A request for a path of the document, which begins with `/admin/api/`. In the console that is `…/api/admin/`. */
class AdminRequest extends Request {
  constructor(url: string, init: RequestInit) {
    super(url.replace(`${apiUrl}/admin/api/`, `${apiUrl}/admin/`), init)
  }
}

/** Typed calls of the admin API. Wrap each in `answer`. */
export const api = createClient<paths>({
  baseUrl: apiUrl,
  fetch: send,
  Request: AdminRequest as typeof Request,
})

/** The value of a call. Rejects with an `ApiError`. */
export async function answer<Data>(call: Promise<{ readonly data?: Data }>): Promise<Data> {
  // `send` has rejected every other reply.
  return (await call).data as Data
}

/** Calls a route of the console itself, such as `session`. An empty reply resolves with undefined. */
export async function consoleCall<Data>(method: string, path: string, body?: unknown): Promise<Data> {
  const response = await send(
    new Request(`${apiUrl}/${path}`, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    }),
  )
  const text = await response.text()
  return (text === '' ? undefined : JSON.parse(text)) as Data
}

/** The address of an admin path for links and downloads, such as `accounts/x/statement?format=csv`. */
export function adminUrl(path: string): string {
  return `${apiUrl}/admin/${path}`
}

/** The address where the sign-in with the OpenID provider begins. */
export const oidcUrl = `${apiUrl}/oidc`

/** Sends a request with the header against forged requests. Rejects with an `ApiError` unless the status is 2xx. */
export async function send(request: Request): Promise<Response> {
  if (request.method !== 'GET' && csrfToken !== undefined) request.headers.set('x-csrf-token', csrfToken)
  const response = await fetch(request).catch((cause: unknown) => {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw new ApiError(0, 'The gateway cannot be reached. Check your connection and try again.')
  })
  if (response.ok) return response
  const error = await errorOf(response)
  // A refused sign-in also has the status 401, but no session has ended.
  if (error.code === 'not_signed_in') onSignedOut()
  throw error
}

type Envelope = {
  readonly error?: { readonly message?: string; readonly code?: string; readonly param?: string | null }
}

/** What a reply that is not 2xx says. */
export async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '')
  const { error } = envelopeOf(text)
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  const { status } = response
  return new ApiError(status, error?.message ?? `The gateway answered with the status ${status}.`, {
    code: error?.code ?? 'server_error',
    param: error?.param ?? undefined,
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterS: Number.isFinite(retryAfter) ? retryAfter : undefined,
  })
}

function envelopeOf(text: string): Envelope {
  try {
    return (JSON.parse(text) ?? {}) as Envelope
  } catch {
    // A proxy has answered with a page of its own.
    return {}
  }
}
