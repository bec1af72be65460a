import { GatewayError } from '../../domain/errors.ts'
import { isFinal, type Job } from '../../domain/jobs/job.ts'
import { formatUsd } from '../../domain/money.ts'
import type { CreateJobSettings } from '../../gateway/media/create/create-job.ts'
import { createImageJob, type CreateImagePorts } from '../../gateway/media/create/create-image-job.ts'
import type { ResultPorts } from '../../gateway/media/files/open-result.ts'
import { publicId } from '../../gateway/media/job-id.ts'
import { noteJob, type MediaCall } from '../../gateway/media/create/media-call.ts'
import { waitForJob, within, type WaitPorts } from '../../gateway/media/wait-for-job.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { ByteStream } from '../../http1/byte-stream.ts'
import { readImageForm } from '../../protocol/media/media-requests.ts'
import { optionalBoolean } from '../../protocol/request-fields.ts'
import { EVENT_STREAM_TYPE } from '../../protocol/sse/event-stream-type.ts'
import { COMMENT, COMMENT_AFTER_MS } from '../../protocol/sse/heartbeat.ts'
import { errorBody } from '../errors.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { jsonReply, UNBUFFERED, type HttpReply } from '../request-context.ts'
import { Base64Body, type BodyPart } from './base64-json.ts'
import {
  costOf,
  createdImageReply,
  NO_RETRY,
  openPaidImages,
  unfinishedReply,
  unixSeconds,
} from './job-replies.ts'

/**
 * The SDKs give up after 600 seconds, and then send the request again, which would make a second job. The reply must
 * come first.
 */
const WAIT_MS = 590_000
/** `fetch` of Node and Bun gives up on a reply that has not begun after 300 seconds, and the SDKs send it again too. */
const FETCH_WAIT_MS = 290_000
const LEAVES_EARLY = /\b(?:node|bun)\b/i

export type OpenAiImagePorts = CreateImagePorts & WaitPorts & ResultPorts

/**
 * Answers image requests as the OpenAI SDKs expect: forms, a size, a stream of events, and an error instead of a 202,
 * which they take for images.
 */
export function openAiImages(ports: OpenAiImagePorts, settings: CreateJobSettings) {
  return async (sent: MediaCall, request: IncomingRequest): Promise<HttpReply> => {
    const call = sent.isForm
      ? { ...sent, body: { ...sent.body, fields: readImageForm(sent.body.fields) } }
      : sent
    const { fields } = call.body
    refuseMasks(fields)
    const isStreamed = optionalBoolean(fields['stream'], 'stream') ?? false
    const job = await createImageJob(call, ports, settings)
    if (isStreamed) return eventsReply(job, call, ports)
    const waitMs = waitMsFor(request)
    const ended = await waitForJob(job, { waitMs, signal: call.client.signal }, ports)
    noteJob(call.record, ended)
    const isRepeatable = call.idempotency !== undefined
    return isRunning(ended) ? runningReply(ended) : createdImageReply(ended, { isRepeatable }, ports)
  }
}

function waitMsFor(request: Pick<IncomingRequest, 'header'>): number {
  const names = ['user-agent', 'x-stainless-runtime']
  return names.some(name => LEAVES_EARLY.test(request.header(name) ?? '')) ? FETCH_WAIT_MS : WAIT_MS
}

/** The fields for images that say which part of another one to change. */
export const maskFields = ['mask', 'markup'] as const

/** The customer would pay for a change of the whole image. */
function refuseMasks(fields: Readonly<Record<string, unknown>>): void {
  const param = maskFields.find(name => name in fields)
  if (param === undefined) return
  const message = `"${param}" is not supported. Leave it out, and say in the prompt which part of the image to change.`
  throw new GatewayError('invalid_field', message, { param })
}

function isRunning({ state }: Job): boolean {
  return !isFinal(state) && state !== 'unknown_submit'
}

function runningReply(job: Job) {
  const id = publicId(job)
  const message = `The job ${id} is still running, and its reserve is held. Read it with GET /v1/images/jobs/${id}. Do not send the request again.`
  // The SDKs show only the members of `error`.
  const error = { message, type: 'timeout_error', code: 'job_still_running', param: null, id }
  const estimate = { estimated_cost_usd: formatUsd(job.held) }
  return jsonReply(504, { error, id, status: 'processing', ...estimate }, NO_RETRY)
}

/** The status and the headers leave before the job has ended, so that its failure is an event too. */
function eventsReply(job: Job, { route, record, client }: MediaCall, ports: OpenAiImagePorts): HttpReply {
  noteJob(record, job)
  const untilEnded = async (): Promise<ByteStream> => {
    const waitMs = Math.max(0, job.deadlineAtMs - ports.clock.now())
    const ended = await waitForJob(job, { waitMs, signal: client.signal }, ports)
    noteJob(record, ended)
    return new Base64Body(await eventsOf(ended, route, ports).catch(error => [failedEvent(error, record)]))
  }
  const body = new AwaitedStream(untilEnded(), ports.clock)
  const headers = { 'content-type': EVENT_STREAM_TYPE, ...UNBUFFERED }
  return { status: 200, headers, body, ended: body.ended }
}

/** One event for each image, or an error. */
async function eventsOf(job: Job, route: string, ports: ResultPorts): Promise<readonly BodyPart[]> {
  if (job.state !== 'completed') {
    const { body } = isRunning(job) ? runningReply(job) : unfinishedReply(job, { isRepeatable: false })
    return [errorEvent(body)]
  }
  const files = job.archivedAtMs === null ? await openPaidImages(job, ports) : undefined
  if (files === undefined) return [errorEvent(JSON.stringify(archivedError(job)))]
  const type = route === 'images.edits' ? 'image_edit.completed' : 'image_generation.completed'
  return files.flatMap((file, index) => {
    const event = {
      type,
      created_at: unixSeconds(job.changedAtMs),
      size: 'auto',
      quality: 'auto',
      background: 'auto',
      output_format: formatOf(job.outputs[index]?.mediaType),
      // The last event has the charge for all images, so that the sum over the events is right.
      usage: { ...NO_TOKENS, ...(index === files.length - 1 ? { cost_usd: costOf(job) } : {}) },
    }
    const head = `event: ${type}\ndata: ${JSON.stringify(event).slice(0, -1)},"b64_json":"`
    return [head, file.stream, '"}\n\n']
  })
}

/** If the stream were cut before its first byte, the SDKs would send the request again. */
function failedEvent(error: unknown, record: MediaCall['record']): string {
  if (!(error instanceof GatewayError)) throw error
  record.errorCode = error.code
  return errorEvent(JSON.stringify(errorBody(error)))
}

function errorEvent(body: string | null): string {
  return `event: error\ndata: ${body}\n\n`
}

/** The SDKs require the members. Images are not charged by their tokens. */
const NO_TOKENS = {
  input_tokens: 0,
  input_tokens_details: { image_tokens: 0, text_tokens: 0 },
  output_tokens: 0,
  total_tokens: 0,
}

/** `png` of `image/png`. */
function formatOf(mediaType = 'image/png'): string {
  return mediaType.slice(mediaType.indexOf('/') + 1)
}

function archivedError(job: Job): object {
  const message = 'The images of this job were archived and can no longer be read.'
  const error = { message, type: 'invalid_request_error', code: 'content_archived', param: null }
  return { error, id: publicId(job), cost_usd: costOf(job) }
}

/** A stream that is not there yet. Until then it has heartbeats. */
class AwaitedStream implements ByteStream {
  readonly ended: Promise<void>
  readonly #awaited: Promise<ByteStream>
  readonly #clock: Clock
  readonly #end: () => void
  #stream: ByteStream | undefined
  #isCancelled = false

  constructor(awaited: Promise<ByteStream>, clock: Clock) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#end = resolve
    this.#clock = clock
    this.#awaited = awaited.then(stream => {
      if (this.#isCancelled) stream.cancel()
      return (this.#stream = stream)
    })
    // A failure is thrown by `read`. Before that it must not count as an unhandled rejection.
    this.#awaited.catch(() => undefined)
  }

  async read(): Promise<Uint8Array | undefined> {
    try {
      if (this.#stream === undefined) {
        let isOver = false
        const awaited = this.#awaited.finally(() => (isOver = true))
        await within(COMMENT_AFTER_MS, awaited, { clock: this.#clock })
        if (!isOver && !this.#isCancelled) return COMMENT
      }
      const bytes = this.#isCancelled ? undefined : await (await this.#awaited).read()
      if (bytes === undefined) this.#end()
      return bytes
    } catch (error) {
      this.#end()
      throw error
    }
  }

  cancel(): void {
    this.#isCancelled = true
    this.#stream?.cancel()
    this.#end()
  }
}
