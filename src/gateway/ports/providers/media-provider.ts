import type { Bytes } from '../../../domain/bytes.ts'
import type { Provider } from '../../../domain/catalog/provider.ts'
import type { JobKind, JobRequest } from '../../../domain/jobs/job.ts'
import type { Params, Size } from '../../../domain/jobs/params.ts'
import type { NanoUsd } from '../../../domain/money.ts'
import type { ImageTokens } from '../../../domain/pricing/image-tokens.ts'
import type { ByteStream } from '../byte-stream.ts'

/**
 * A kind of provider that makes images or videos, such as `kling` or the sandbox. No method throws because of a
 * provider or the network: each way in which a call can end is an outcome. Texts of outcomes may name the provider's
 * hosts and accounts. The gateway removes those before a client sees a text. No text contains a key.
 */
export interface MediaProvider {
  /** The shortest time between two polls of one job that the provider accepts. */
  readonly pollEveryMsMin: number

  /**
   * The exact size of the results for these parameters. Undefined if it is not certain. Absent if no size ever is.
   * Calls nothing.
   */
  sizeOf?(shape: MediaShape): Size | undefined

  /**
   * How the provider continues an earlier job of its own with this model. Absent if it always takes its id of that job.
   * Calls nothing.
   */
  continuesFrom?(shape: MediaShape): Continuation

  /**
   * Asks the provider to make one job. Sends at most one request, and never repeats it. The caller marks the submission
   * as begun before this call and makes the call once for a job.
   */
  submit(call: SubmitCall): Promise<SubmitOutcome>

  /** Asks for the state of an accepted job. Changes nothing at the provider, so it may be repeated. */
  poll(job: AcceptedJob): Promise<PollOutcome>

  /**
   * Asks whether the provider has the job of a submission with an unknown outcome. Finds it by an id that the
   * submission carried, never by similarity. Changes nothing, so it may be repeated. Absent if the provider has no
   * exact way to find a job.
   */
  recover?(job: UnconfirmedJob): Promise<RecoverOutcome>
}

/** The facts on which the size of a result depends. */
export type MediaShape = {
  readonly kind: JobKind
  /** The provider's own name for the model. */
  readonly model: string
  readonly params: Params
}

export type Continuation =
  /** The submission has the provider's id of the earlier job, as `refUpstreamId`. */
  | { readonly from: 'id' }
  /**
   * The clip of the earlier job is the first video of the submission: as the provider's own link, while that is sure to
   * work, or else as bytes.
   */
  | {
      readonly from: 'clip'
      /** How long after the end of a job the provider can open the link that it gives for its clip. */
      readonly linkTtlMs: number
    }

type MediaProviderCall = {
  /** Our id of the job, in text. Providers that accept an id from the client get it. */
  readonly jobId: string
  readonly kind: JobKind
  /** The current row. Its key is the key of the submission, unless the operator has changed it since. */
  readonly provider: Provider
  /** The provider's own name for the model. */
  readonly model: string
  /** From the start of the call to the end of the answer. */
  readonly timeoutMs: number
}

/** A job to submit. No adapter sends `count` to a provider outside the gateway. */
export type SubmitCall = MediaProviderCall &
  Omit<JobRequest, 'images' | 'videos' | 'refJobId'> & {
    readonly images: readonly MediaInput[]
    readonly videos: readonly MediaInput[]
  }

export type MediaInput =
  /** A link, which the provider fetches by itself. */
  | { readonly from: 'url'; readonly url: string }
  | {
      readonly from: 'bytes'
      readonly bytes: number
      /** By the signature of the bytes; `application/octet-stream` for an unknown one. */
      readonly mediaType: string
      /**
       * Reads the input from its start. A stream that ends before `bytes` is broken, and the submission cannot be
       * completed.
       */
      open(): Promise<ByteStream>
    }
  /** The provider's own id of a file. */
  | { readonly from: 'provider_id'; readonly id: string }

export type AcceptedJob = MediaProviderCall & { readonly upstreamId: string }

export type UnconfirmedJob = MediaProviderCall & { readonly request: JobRequest }

/** How a submission ended, and what happens to the money. */
export type SubmitOutcome =
  /** The provider has the job. The hold stays until the job ends. */
  | { readonly outcome: 'accepted'; readonly upstreamId: string }
  /** The provider returned the result in the answer. The job is settled now. */
  | { readonly outcome: 'finished'; readonly result: MediaResult }
  /** The provider will not make the job. The hold is released now. */
  | ({ readonly outcome: 'rejected' } & Rejection)
  /**
   * A 5xx, or the connection failed after bytes may have been sent. It is not known whether the provider has the job,
   * so the hold stays until `recover` finds the job or its deadline passes.
   */
  | { readonly outcome: 'unknown'; readonly problem: string }
  /**
   * No byte was sent: the name was not resolved, or no connection was made. The hold is released at the reconciler's
   * next pass.
   */
  | { readonly outcome: 'not_sent'; readonly problem: string }

export type Rejection = {
  /**
   * - `invalid`: a 4xx about the request. The client sees its code and message. This includes 408 and 409.
   * - `rate_limited`: a 429 about the rate. The client may try again.
   * - `operator`: the provider refuses the operator's key, credit or permissions, under any HTTP status; or the row
   *   cannot be called as it is configured. The client never sees the text.
   * - `no_id`: a success without a job id or a result, for example one that cannot be parsed.
   */
  readonly reason: 'invalid' | 'rate_limited' | 'operator' | 'no_id'
  /** The HTTP status; absent if nothing was sent. */
  readonly status?: number
  /** The provider's own code. */
  readonly code?: string
  readonly message: string
  readonly retryAfterS?: number
} & Billed

/** The cost of a job as its provider reports it, also of one that failed. Empty if it reports none. */
export type Billed = {
  /** At the rate that the provider's row names for its unit. Absent if the row names none. */
  readonly providerCost?: NanoUsd
  /** The tokens of an image request. The row of the model may price them. */
  readonly tokens?: ImageTokens
}

/** The state of a job at its provider. Only `finished` and `failed` end a job. */
export type PollOutcome =
  /**
   * Not finished. A status that the adapter does not know counts as running and is reported, so that it can be counted.
   */
  | { readonly outcome: 'running'; readonly upstreamStatus: string; readonly isKnownStatus: boolean }
  /** The job is settled by its result. */
  | { readonly outcome: 'finished'; readonly result: MediaResult }
  /** The provider could not make the result. The hold is released. */
  | ({ readonly outcome: 'failed'; readonly code?: string; readonly message: string } & Billed)
  /** The poll itself failed, so the state of the job is not known. The hold stays, and the job is polled again. */
  | { readonly outcome: 'unavailable'; readonly problem: string; readonly retryAfterS?: number }

export type RecoverOutcome =
  /** The provider has the job. The state is the one that a poll would return. */
  | (Exclude<PollOutcome, { readonly outcome: 'unavailable' }> & { readonly upstreamId: string })
  /** The provider does not know the job now. A submission that is still on its way may reach it later. */
  | { readonly outcome: 'absent' }
  | Extract<PollOutcome, { readonly outcome: 'unavailable' }>

export type MediaResult = Billed & {
  /** In the provider's order. Empty if the provider reports a success without a result; the job then fails. */
  readonly outputs: readonly MediaOutput[]
  /** The duration of the clip as the provider reports it. */
  readonly durationMs?: number
  /** Whether the provider reports the number of images. If it does not, the requested number is charged. */
  readonly isCounted: boolean
}

export type MediaOutput =
  | { readonly from: 'bytes'; readonly bytes: Bytes }
  /** The provider made the result and has removed it. It can never be fetched. */
  | { readonly from: 'lost'; readonly problem: string }
  /** A link from the provider, not checked yet. Only the fetcher for untrusted links opens it. */
  | {
      readonly from: 'url'
      readonly url: string
      /** Request headers that contain the operator's key, and the only hosts that may get them. */
      readonly authorization?: {
        readonly hosts: readonly string[]
        readonly headers: Readonly<Record<string, string>>
      }
    }
