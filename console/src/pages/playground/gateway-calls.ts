/**
 * Calls of the routes for customers, as a customer makes them: with an API key. The key is made for an hour for the
 * account that pays, and kept only here, in the memory of the page.
 */
import { answer, api, ApiError, errorOf } from '../../api/client.ts'
import { gatewayUrl } from '../../base.ts'
import { currentUser } from '../../session.ts'
import { playgroundTexts } from './texts.ts'

const words = playgroundTexts

const KEY_MS = 3_600_000
/** A key is replaced before it can expire during a request. */
const KEY_LEFT_MS_MIN = 600_000

type Key = {
  readonly userId: string
  readonly account: string
  readonly text: string
  readonly expiresAtMs: number
}
let kept: Key | undefined

/** The key of this account. It has a name that tells it apart, and only its text is kept. */
async function keyOf(account: string): Promise<string> {
  const { id: userId, email } = currentUser()
  const isUsable =
    kept?.account === account && kept.userId === userId && kept.expiresAtMs - Date.now() > KEY_LEFT_MS_MIN
  if (kept !== undefined && isUsable) return kept.text
  const expiresAtMs = Date.now() + KEY_MS
  const body = {
    name: words.keyName(email).slice(0, KEY_NAME_LENGTH_MAX),
    expires_at: new Date(expiresAtMs).toISOString(),
  }
  const { key } = await answer(
    api.POST('/admin/api/accounts/{account}/keys', { params: { path: { account } }, body }),
  ).catch(withoutRequest)
  kept = { userId, account, text: key, expiresAtMs }
  return key
}

const KEY_NAME_LENGTH_MAX = 64

/** The refusal of a call of the admin API, which is no request that the console lists. */
function withoutRequest(error: unknown): never {
  if (!(error instanceof ApiError)) throw error
  const { status, message, code, retryAfterS } = error
  throw new ApiError(status, message, { code, retryAfterS })
}

export type Call = {
  readonly account: string
  readonly path: string
  readonly signal: AbortSignal
  /** Without it, the call is a GET. */
  readonly body?: object
  /** So that a repeat makes no second job. */
  readonly idempotencyKey?: string
}

/** Rejects with an `ApiError` unless the status is 2xx. */
export async function call({ account, path, signal, body, idempotencyKey }: Call): Promise<Response> {
  const headers = new Headers({ authorization: `Bearer ${await keyOf(account)}` })
  if (body !== undefined) headers.set('content-type', 'application/json')
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey)
  const init = {
    headers,
    signal,
    credentials: 'omit',
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  } as const
  const response = await fetch(new URL(path, gatewayUrl), init).catch((cause: unknown) => {
    if (signal.aborted) throw cause
    throw new ApiError(0, words.unreachable)
  })
  if (response.ok) return response
  const error = await errorOf(response)
  // The key was revoked meanwhile: the next call makes another one.
  if (response.status === 401) kept = undefined
  throw error
}

export type Message = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }

export type ChatEvent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'usage'; readonly costUsd: string | undefined; readonly tokens: number }

type Chunk = {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[]
  readonly usage?: { readonly cost_usd?: string; readonly total_tokens?: number } | null
  readonly error?: { readonly message?: string; readonly code?: string }
}

/** The events of a chat stream. Rejects if the stream ends with an error. */
export async function* chatEvents(response: Response): AsyncGenerator<ChatEvent> {
  for await (const data of eventsOf(response)) {
    if (data === '[DONE]') return
    const { choices, usage, error } = JSON.parse(data) as Chunk
    if (error !== undefined)
      throw new ApiError(502, error.message ?? words.broken, { ...(error.code && { code: error.code }) })
    const text = choices?.[0]?.delta?.content ?? ''
    if (text !== '') yield { kind: 'text', text }
    if (usage) yield { kind: 'usage', costUsd: usage.cost_usd, tokens: usage.total_tokens ?? 0 }
  }
}

/** The `data` of each server-sent event. Comments such as heartbeats are skipped. */
async function* eventsOf(response: Response): AsyncGenerator<string> {
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (rest + value).split(/\r?\n/)
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('data:')) yield line.slice('data:'.length).trim()
  }
}

export type JobReply = {
  readonly id?: string
  readonly status?: string
  readonly cost_usd?: string
  readonly estimated_cost_usd?: string
  readonly data?: readonly { readonly b64_json?: string; readonly url?: string }[]
  readonly error?: { readonly message?: string; readonly code?: string | null } | null
}

const POLL_MS = 2000

/** Sends a job and follows it to its end. `onReply` gets each state of it. */
export async function runJob(
  { kind, ...sent }: Omit<Call, 'path'> & { readonly kind: 'image' | 'video' },
  onReply: (reply: JobReply, requestId: string | undefined) => void,
): Promise<JobReply> {
  const first = await call({ ...sent, path: kind === 'image' ? 'v1/images/generations' : 'v1/videos' })
  let reply = (await first.json()) as JobReply
  onReply(reply, requestIdOf(first))
  const { account, signal } = sent
  while (isOpen(reply)) {
    await pause(POLL_MS, signal)
    const path = `v1/${kind === 'image' ? 'images/jobs' : 'videos'}/${reply.id}`
    reply = (await (await call({ account, path, signal })).json()) as JobReply
    onReply(reply, undefined)
  }
  if (reply.status === 'failed')
    throw new ApiError(502, reply.error?.message ?? words.broken, {
      ...(reply.error?.code && { code: reply.error.code }),
    })
  return reply
}

export function requestIdOf(response: Response): string | undefined {
  return response.headers.get('x-request-id') ?? undefined
}

function isOpen({ id, status }: JobReply): boolean {
  return id !== undefined && status !== undefined && status !== 'completed' && status !== 'failed'
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(new DOMException('Stopped', 'AbortError'))
    })
  })
}
