import type { ErrorExtras } from '../domain/errors.ts'
import type { Id } from '../domain/ids.ts'
import type { JobState } from '../domain/jobs/job.ts'
import { readTags, type Tags } from '../domain/ledger/attribution.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { ByteStream } from '../http1/byte-stream.ts'
import type { TextRecord } from '../gateway/text/text-record.ts'
import type { Reservation } from '../gateway/byte-budgets/byte-budget.ts'
import type { IncomingRequest } from './incoming-request.ts'

/** A request and what is recorded about it. */
export type RequestContext = {
  readonly request: IncomingRequest
  readonly id: Id
  /** `req_…`, as sent in `x-request-id`. */
  readonly requestId: string
  /** Filled in while the request is answered; read by the log and the metrics. */
  readonly record: RequestRecord
  /** The memory for the body, if its handler reserves any. It is given back when the work for the request has ended. */
  bodyMemory?: Reservation
}

export type RequestRecord = TextRecord & {
  /** The job of a media request, and its state when the reply was made. */
  jobId?: string
  jobState?: JobState
  jobFault?: 'client' | 'provider'
  /** Of the request's header. */
  tags?: Tags
  accountId?: string
  apiKeyId?: string
  projectId?: string
  errorCode?: string
  /** The members of the error beside `error`, such as the amounts of a refusal. */
  errorExtensions?: ErrorExtras['extensions']
  /** The error of a bug or an outage. */
  failure?: unknown
}

/** A reply before the headers that all routes share are added. Without a content type, the body is JSON. */
export type HttpReply = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The values of `set-cookie` headers. */
  readonly cookies?: readonly string[]
  /** A stream is read as fast as the client takes it, and cancelled when the client disconnects. */
  readonly body: Uint8Array | string | ByteStream | null
  /** The length of a stream, if it is known. */
  readonly contentLength?: number
  /** For a stream: resolves when it has ended. The request is recorded then. */
  readonly ended?: Promise<unknown>
  /** The charge, for the cost header. */
  readonly cost?: NanoUsd | null
  /** For the header that marks a replay. */
  readonly isReplay?: true | undefined
}

/** A reply whose body is not a stream. */
export type BufferedReply = HttpReply & { readonly body: string | null }

/** Answers the requests of a route. Rejects with a `GatewayError` to refuse one. */
export type Handler = (context: RequestContext) => Promise<HttpReply>

/** Headers of a reply that proxies must pass on while it is produced. */
export const UNBUFFERED = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }

export function jsonReply(
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): BufferedReply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) }
}

/**
 * The tags in the header of a request, which is never passed on. They are recorded too. Throws `invalid_field` for a
 * wrong one, before the body is read.
 */
export function sentTags({ request, record }: RequestContext, header: string): { readonly tags?: Tags } {
  const tags = readTags(request.header(header), header)
  if (tags === undefined) return {}
  record.tags = tags
  return { tags }
}
