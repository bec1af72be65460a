import type { Provider } from '../../domain/catalog/provider.ts'
import type {
  AcceptedJob,
  PollOutcome,
  SubmitCall,
  SubmitOutcome,
} from '../../gateway/ports/providers/media-provider.ts'
import type { ProviderOutcome } from '../../gateway/ports/providers/text-provider.ts'
import { ClientError } from '../../http1/client/client-error.ts'
import type { HttpClient } from '../../http1/client/http-client.ts'
import { httpRequest, type HttpRequest } from '../../http1/client/http-request.ts'
import type { Address } from '../http/address.ts'
import { readAnswer, readHead } from '../http/read-answer.ts'
import { failureReason } from '../http/failure-reason.ts'
import { notCallable, unanswered, unavailable } from './outcomes.ts'
import { joinedBody, type JoinedBody, type SubmitBody } from './request-bodies.ts'

type Answered = Extract<ProviderOutcome, { outcome: 'answered' }>

/** Sends the requests of the media adapters over the gateway's HTTP client. */
export function mediaHttp(http: HttpClient): SendMedia {
  return async call => {
    const request = requestOf(call)
    if (request === undefined) return { reply: 'none', isSent: false, problem: 'the request cannot be sent' }
    const { provider, body, timeoutMs } = call
    const { connectTimeoutMs } = provider
    try {
      const options = { timeoutMs, connectTimeoutMs, ...(body === undefined ? {} : { body }) }
      const response = await http.send(request, options)
      const answer = await readAnswer(readHead(response, undefined), response)
      if (answer.outcome === 'answered') return wholeAnswer(answer)
      return {
        reply: 'none',
        isSent: true,
        problem: answer.outcome === 'unreachable' ? answer.reason : answer.outcome,
      }
    } catch (error) {
      return { reply: 'none', isSent: mayBeSent(error), problem: failureReason(error) }
    }
  }
}

/** Undefined for a request that the client refuses to send. */
function requestOf({ provider, method, url, headers }: MediaRequest): HttpRequest | undefined {
  try {
    return httpRequest({ method, url, headers, reuseConnection: provider.reusesConnections })
  } catch {
    return undefined
  }
}

function wholeAnswer({ status, contentType, retryAfter, body }: Answered): MediaReply {
  const text = retryAfter?.text ?? ''
  const isSeconds = /^\d{1,6}$/.test(text)
  return { reply: 'answer', status, contentType, body, ...(isSeconds ? { retryAfterS: Number(text) } : {}) }
}

/** The codes of `fetch` for a connection that was never made. Calls use `fetch` if there is a proxy. */
const UNCONNECTED: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'])

/** Whether the server may have seen some of the request. */
function mayBeSent(error: unknown): boolean {
  return error instanceof ClientError ? error.isRequestSent : !UNCONNECTED.has(failureReason(error))
}

/**
 * Posts a body, once, and reads the answer. Sends nothing for a row that cannot be called, and for a job that the API
 * cannot make.
 */
export async function submitTo(
  address: Address | { readonly problem: string },
  body: SubmitBody,
  { provider, timeoutMs }: Pick<SubmitCall, 'provider' | 'timeoutMs'>,
  { send, read }: { readonly send: SendMedia; readonly read: (answer: MediaAnswer) => SubmitOutcome },
): Promise<SubmitOutcome> {
  if ('problem' in address) return notCallable(address.problem)
  if ('refusal' in body) return { outcome: 'rejected', reason: 'invalid', message: body.refusal }
  const reply = await send({ provider, method: 'POST', ...address, body: joinedBody(body), timeoutMs })
  if (reply.reply === 'answer') return read(reply)
  return unanswered(reply)
}

/** Asks for the state of a job, once. */
export async function pollAt(
  address: Address | { readonly problem: string },
  { provider, timeoutMs }: Pick<AcceptedJob, 'provider' | 'timeoutMs'>,
  { send, read }: { readonly send: SendMedia; readonly read: (answer: MediaAnswer) => PollOutcome },
): Promise<PollOutcome> {
  if ('problem' in address) return unavailable(address.problem)
  const reply = await send({ provider, method: 'GET', ...address, timeoutMs })
  return reply.reply === 'answer' ? read(reply) : unavailable(reply.problem)
}

/** One request to a provider of images or videos. */
export type MediaRequest = {
  readonly provider: Provider
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers: Headers
  /** Text goes in UTF-8. */
  readonly body?: string | JoinedBody
  /** From the call to the end of the answer. */
  readonly timeoutMs: number
}

export type MediaAnswer = {
  readonly status: number
  /** The media type of the body. Absent if the provider names none. */
  readonly contentType?: string | undefined
  /** As text. It is not JSON if the bytes are not text. */
  readonly body: string
  readonly retryAfterS?: number
}

export type MediaReply =
  | ({ readonly reply: 'answer' } & MediaAnswer)
  /**
   * No complete answer arrived. `isSent` is false if the server cannot have seen any of the request. The problem has no
   * secrets.
   */
  | { readonly reply: 'none'; readonly isSent: boolean; readonly problem: string }

/** Sends one request, once, and reads the whole answer. Never rejects. */
export type SendMedia = (request: MediaRequest) => Promise<MediaReply>
