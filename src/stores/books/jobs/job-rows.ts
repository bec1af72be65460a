import type { Id } from '../../../domain/ids.ts'
import type {
  Failure,
  FailureReason,
  Job,
  JobKind,
  JobRequest,
  JobState,
  MediaQuote,
  StoredFile,
} from '../../../domain/jobs/job.ts'
import { nanoUsd } from '../../../domain/money.ts'
import type { ImageTariff, VideoTariff } from '../../../domain/pricing/tariff.ts'
import type { NewJob } from '../../../gateway/ports/media/jobs.ts'
import { attributionColumns, attributionFrom, type AttributionColumns } from '../rows/attribution-columns.ts'

/** The columns of a job that never change. Commit hashes cover them. */
type JobCreation = AttributionColumns & {
  row_id: bigint
  id_key: bigint
  id_tail: bigint
  kind: JobKind
  account_id: bigint
  api_key_id: bigint
  route: string
  model: string
  provider: string
  upstream_model: string
  quote: string
  held: bigint
  node: string
  created_at_ms: bigint
  /** The deadline of the creation. A job of an unknown submission has an earlier one in the meantime. */
  job_deadline_at_ms: bigint
  request_key: bigint | null
  request_tail: bigint | null
}

/** The columns of a job that its steps change. */
export type JobProgress = {
  state: JobState
  request: string
  changed_at_ms: bigint
  submitted_at_ms: bigint | null
  upstream_id: string | null
  upstream_status: string | null
  problem: string | null
  next_poll_at_ms: bigint
  deadline_at_ms: bigint
  outputs: string | null
  duration_ms: bigint | null
  cost: bigint | null
  failure_reason: FailureReason | null
  failure_code: string | null
  failure_message: string | null
  failure_retry_after_s: bigint | null
  archived_at_ms: bigint | null
  watch_until_ms: bigint | null
  loss: bigint | null
  loss_at_ms: bigint | null
  /** The operation that booked the loss. Null for a loss of zero, which needs none. */
  loss_by: bigint | null
  provider_cost: bigint | null
}

export type JobRow = JobCreation & JobProgress

/** The row of a new job, before it has a row id. `node` is the name of the node that records it. */
export function newJobRow(job: NewJob, node: string): Omit<JobRow, 'row_id'> {
  const { id, requestId } = job
  return {
    id_key: id.key,
    id_tail: id.tail,
    kind: job.kind,
    account_id: BigInt(job.accountId),
    api_key_id: BigInt(job.apiKeyId),
    route: job.route,
    model: job.model,
    provider: job.provider,
    upstream_model: job.upstreamModel,
    quote: quoteText(job.quote),
    held: job.held,
    node,
    created_at_ms: BigInt(job.createdAtMs),
    job_deadline_at_ms: BigInt(job.deadlineAtMs),
    request_key: requestId?.key ?? null,
    request_tail: requestId?.tail ?? null,
    ...attributionColumns(job),
    state: 'queued',
    request: JSON.stringify(job.request),
    changed_at_ms: BigInt(job.createdAtMs),
    submitted_at_ms: null,
    upstream_id: null,
    upstream_status: null,
    problem: null,
    next_poll_at_ms: BigInt(job.createdAtMs),
    deadline_at_ms: BigInt(job.deadlineAtMs),
    outputs: null,
    duration_ms: null,
    cost: null,
    failure_reason: null,
    failure_code: null,
    failure_message: null,
    failure_retry_after_s: null,
    archived_at_ms: null,
    watch_until_ms: null,
    loss: null,
    loss_at_ms: null,
    loss_by: null,
    provider_cost: null,
  }
}

export function jobFrom(row: JobRow): Job {
  return {
    id: { key: row.id_key, tail: row.id_tail },
    requestId: requestIdFrom(row),
    ...attributionFrom(row),
    kind: row.kind,
    state: row.state,
    accountId: Number(row.account_id),
    apiKeyId: Number(row.api_key_id),
    route: row.route,
    model: row.model,
    provider: row.provider,
    upstreamModel: row.upstream_model,
    request: JSON.parse(row.request) as JobRequest,
    quote: quoteFrom(row.quote),
    held: nanoUsd(row.held),
    node: row.node,
    createdAtMs: Number(row.created_at_ms),
    changedAtMs: Number(row.changed_at_ms),
    submittedAtMs: numberOrNull(row.submitted_at_ms),
    upstreamId: row.upstream_id,
    upstreamStatus: row.upstream_status,
    problem: row.problem,
    nextPollAtMs: Number(row.next_poll_at_ms),
    deadlineAtMs: Number(row.deadline_at_ms),
    outputs: row.outputs === null ? [] : (JSON.parse(row.outputs) as StoredFile[]),
    durationMs: numberOrNull(row.duration_ms),
    cost: row.cost === null ? null : nanoUsd(row.cost),
    failure: failureFrom(row),
    archivedAtMs: numberOrNull(row.archived_at_ms),
    watchUntilMs: numberOrNull(row.watch_until_ms),
    loss: row.loss === null ? null : nanoUsd(row.loss),
    providerCost: row.provider_cost === null ? null : nanoUsd(row.provider_cost),
  }
}

function requestIdFrom({ request_key: key, request_tail: tail }: JobRow): Id | null {
  return key === null || tail === null ? null : { key, tail }
}

/** Prices are written as their digits: JSON has no exact integers of this size. */
function quoteText(quote: MediaQuote): string {
  if (quote.kind === 'images') {
    const { tariff, providerTariff: cost } = quote
    return JSON.stringify({ ...imageQuote(tariff), ...(cost && { cost: imageQuote(cost) }) })
  }
  const { tariff, heldMs, providerTariff: cost } = quote
  return JSON.stringify({ ...videoQuote(tariff), held_ms: heldMs, ...(cost && { cost: videoQuote(cost) }) })
}

function quoteFrom(text: string): MediaQuote {
  const quote = JSON.parse(text) as
    | (ImageQuote & { readonly cost?: ImageQuote })
    | (VideoQuote & { readonly held_ms: number; readonly cost?: VideoQuote })
  if (!('per_second' in quote))
    return {
      kind: 'images',
      tariff: imageTariff(quote),
      ...(quote.cost && { providerTariff: imageTariff(quote.cost) }),
    }
  return {
    kind: 'video',
    tariff: videoTariff(quote),
    heldMs: quote.held_ms,
    ...(quote.cost && { providerTariff: videoTariff(quote.cost) }),
  }
}

type VideoQuote = { readonly per_second: string }

function videoQuote({ perSecond }: VideoTariff): VideoQuote {
  return { per_second: String(perSecond) }
}

function videoTariff({ per_second: perSecond }: VideoQuote): VideoTariff {
  return { perSecond: nanoUsd(BigInt(perSecond)) }
}

type ImageQuote =
  | { readonly per_image: string }
  | {
      readonly text_input: string
      readonly image_input: string
      readonly text_output?: string
      readonly image_output: string
      readonly max_per_image: string
    }

function imageQuote(tariff: ImageTariff): ImageQuote {
  if ('perImage' in tariff) return { per_image: String(tariff.perImage) }
  const { textInput, imageInput, textOutput, imageOutput, maxPerImage } = tariff
  return {
    text_input: String(textInput),
    image_input: String(imageInput),
    ...(textOutput === undefined ? {} : { text_output: String(textOutput) }),
    image_output: String(imageOutput),
    max_per_image: String(maxPerImage),
  }
}

function imageTariff(quote: ImageQuote): ImageTariff {
  const price = (digits: string) => nanoUsd(BigInt(digits))
  if ('per_image' in quote) return { perImage: price(quote.per_image) }
  return {
    textInput: price(quote.text_input),
    imageInput: price(quote.image_input),
    ...(quote.text_output === undefined ? {} : { textOutput: price(quote.text_output) }),
    imageOutput: price(quote.image_output),
    maxPerImage: price(quote.max_per_image),
  }
}

function failureFrom({
  failure_reason: reason,
  failure_code: code,
  failure_message: message,
  failure_retry_after_s: retryAfterS,
}: JobRow): Failure | null {
  if (reason === null) return null
  return {
    reason,
    message: message ?? '',
    ...(code === null ? {} : { code }),
    ...(retryAfterS === null ? {} : { retryAfterS: Number(retryAfterS) }),
  }
}

function numberOrNull(value: bigint | null): number | null {
  return value === null ? null : Number(value)
}
