import type { ProviderOutcome } from '../../gateway/ports/text-provider.ts'
import type { HttpClient } from '../../http1/client/http-client.ts'
import { ClientError } from '../../http1/client/client-error.ts'
import { httpRequest, type HttpRequest } from '../../http1/client/http-request.ts'
import { failureReason } from '../http/failure-reason.ts'
import { readHead } from '../http/answer-head.ts'
import { readAnswer } from '../http/read-answer.ts'
import type { SendWhole, WholeReply, WholeRequest } from './send-whole.ts'

type Answered = Extract<ProviderOutcome, { outcome: 'answered' }>

/** Sends the requests of the media adapters over the gateway's HTTP client. */
export function mediaHttp(http: HttpClient): SendWhole {
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
function requestOf({ provider, method, url, headers }: WholeRequest): HttpRequest | undefined {
  try {
    return httpRequest({ method, url, headers, reuseConnection: provider.reusesConnections })
  } catch {
    return undefined
  }
}

function wholeAnswer({ status, contentType, retryAfter, body }: Answered): WholeReply {
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
