import type { Bytes } from '../../../../src/domain/bytes.ts'
import type { JobKind } from '../../../../src/domain/jobs/job.ts'
import type { MediaResult, SubmitOutcome } from '../../../../src/gateway/ports/providers/media-provider.ts'
import type { ScriptedMedia } from '../../../support/scripted-media.ts'
import { aClip } from '../../../support/scripted-media.ts'
import { tinyMp4 } from '../../../support/tiny-mp4.ts'
import { aPng, images } from '../../gateways/image-gateway.ts'

/** One way an image or video job can end, and what the ledger then contains. */
export type MediaCase = {
  /** The row of docs/settlement.md that this case covers. */
  readonly row: string
  readonly title: string
  /** Both kinds where it is absent. */
  readonly kind?: JobKind
  readonly request?: Readonly<Record<string, unknown>>
  /** Default: enough. */
  readonly grant?: string
  /** The answer to the submit. Default: the job is accepted. */
  readonly submitted?: SubmitOutcome
  /** What happens after the submit, before the reconciler runs. */
  readonly next?: (media: ScriptedMedia, kind: JobKind) => void
  /** How long after the submit the reconciler runs. Default: soon. Null where it does not run. */
  readonly afterMs?: number | null
  /** What happens after that pass, before another one. */
  readonly late?: (media: ScriptedMedia, kind: JobKind) => void
  readonly ends: {
    /** The status of a refusal, which makes no job. */
    readonly refused?: number
    readonly state?: string
    readonly reason?: string
    /** What is charged, and what is booked as a loss. Default: nothing. */
    readonly charged?: string
    readonly loss?: string
    /** Whether the reserve is still held. */
    readonly isHeld?: boolean
  }
}

export const MINUTE_MS = 60_000
export const DAY_MS = 86_400_000

/** What a request asks for, and reserves: three images at 0.04 USD, or 6 seconds at 0.1 USD. */
export const requestOf = {
  image: { model: 'draw-1', n: 3 },
  video: { model: 'film', duration: 6 },
} as const satisfies Record<JobKind, object>
export const RESERVED = { image: '0.12', video: '0.6' } as const satisfies Record<JobKind, string>

/** Two images, or 4 seconds. */
const finished = (kind: JobKind) => (kind === 'image' ? images(['one', 'two']) : aClip({ durationMs: 4000 }))
const finish = (media: ScriptedMedia, kind: JobKind) => void (media.polled = finished(kind))

const rejected = (change: object): SubmitOutcome => ({
  outcome: 'rejected',
  reason: 'invalid',
  status: 400,
  message: 'No.',
  ...change,
})
const unknown: SubmitOutcome = { outcome: 'unknown', problem: 'HTTP 503' }
const found = (media: ScriptedMedia, kind: JobKind) =>
  void (media.recovered = { ...(finished(kind) as ReturnType<typeof images>), upstreamId: 'found-1' })
const link = (media: ScriptedMedia, url: string) =>
  void (media.polled = { outcome: 'finished', result: { outputs: [{ from: 'url', url }], isCounted: true } })
const empty = (isCounted: boolean): MediaResult => ({ outputs: [], isCounted })

const REFUSED = 'Refused by the gateway (400, 401, 404, 413)'
const REJECTED = 'Submission rejected by the provider (any 4xx)'
const FOUND = 'Submission unknown (5xx, reset), found later'
const WITHOUT_RESULT = 'Finished without a result'
const IMAGES = 'Images finished'
const VIDEO = 'Video finished'

const refusals: readonly MediaCase[] = [
  { row: REFUSED, title: 'a missing prompt', request: { prompt: null }, ends: { refused: 400 } },
  { row: REFUSED, title: 'an unknown model', request: { model: 'nothing' }, ends: { refused: 400 } },
  {
    row: REFUSED,
    title: 'too many images',
    kind: 'image',
    request: { n: 11 },
    ends: { refused: 400 },
  },
  {
    row: REFUSED,
    title: 'a duration outside the set',
    kind: 'video',
    request: { duration: 99 },
    ends: { refused: 400 },
  },
  {
    row: REFUSED,
    title: 'an earlier job that does not exist',
    kind: 'video',
    request: { ref_video_job_id: 'vid_00000000000000000000000000' },
    ends: { refused: 404 },
  },
  {
    row: 'The balance does not cover the reserve (402)',
    title: 'by a fraction',
    grant: '0.119999999',
    ends: { refused: 402 },
  },
]

const submits: readonly MediaCase[] = [
  ...[400, 404, 408, 409, 413, 422].map((status): MediaCase => ({
    row: REJECTED,
    title: `with ${status}`,
    submitted: rejected({ status }),
    afterMs: null,
    ends: { state: 'failed', reason: 'rejected' },
  })),
  {
    row: REJECTED,
    title: 'with 429',
    submitted: rejected({ reason: 'rate_limited', status: 429 }),
    afterMs: null,
    ends: { state: 'failed', reason: 'rate_limited' },
  },
  {
    row: REJECTED,
    title: "because of the operator's key or credit",
    submitted: rejected({ reason: 'operator', status: 402 }),
    afterMs: null,
    ends: { state: 'failed', reason: 'provider_unavailable' },
  },
  {
    row: 'Submission answered without an id',
    title: 'is released at once',
    submitted: rejected({ reason: 'no_id', status: 200 }),
    afterMs: null,
    ends: { state: 'failed', reason: 'no_job_id' },
  },
  {
    row: 'Submission not sent (DNS, refused connection)',
    title: 'is held until the next pass of the reconciler',
    submitted: { outcome: 'not_sent', problem: 'ECONNREFUSED' },
    afterMs: null,
    ends: { state: 'unknown_submit', isHeld: true },
  },
  {
    row: 'Submission not sent (DNS, refused connection)',
    title: 'is released by the next pass of the reconciler',
    submitted: { outcome: 'not_sent', problem: 'ECONNREFUSED' },
    ends: { state: 'failed', reason: 'submit_unconfirmed' },
  },
  {
    row: FOUND,
    title: 'finished, images',
    kind: 'image',
    submitted: unknown,
    next: found,
    ends: { state: 'completed', charged: '0.08' },
  },
  {
    row: FOUND,
    title: 'finished, a video',
    kind: 'video',
    submitted: unknown,
    next: found,
    ends: { state: 'completed', charged: '0.4' },
  },
  {
    row: FOUND,
    title: 'failed',
    submitted: unknown,
    next: media => void (media.recovered = { outcome: 'failed', message: 'Refused.', upstreamId: 'found-1' }),
    ends: { state: 'failed', reason: 'generation_failed' },
  },
  {
    row: FOUND,
    title: 'running',
    submitted: unknown,
    next: media =>
      void (media.recovered = {
        outcome: 'running',
        upstreamStatus: 'RUNS',
        isKnownStatus: true,
        upstreamId: 'found-1',
      }),
    ends: { state: 'processing', isHeld: true },
  },
  {
    row: 'Submission unknown, not found within 15 minutes',
    title: 'is held until then',
    submitted: unknown,
    afterMs: 15 * MINUTE_MS - 1,
    ends: { state: 'unknown_submit', isHeld: true },
  },
  {
    row: 'Submission unknown, not found within 15 minutes',
    title: 'is released then',
    submitted: unknown,
    afterMs: 15 * MINUTE_MS,
    ends: { state: 'failed', reason: 'submit_unconfirmed' },
  },
]

const ends: readonly MediaCase[] = [
  {
    row: 'Not finished within a day',
    title: 'is released then',
    afterMs: DAY_MS,
    ends: { state: 'failed', reason: 'overdue' },
  },
  {
    row: IMAGES,
    title: 'fewer than asked for',
    kind: 'image',
    next: finish,
    ends: { state: 'completed', charged: '0.08' },
  },
  {
    row: IMAGES,
    title: 'more than asked for',
    kind: 'image',
    next: media => void (media.polled = images(['1', '2', '3', '4'])),
    ends: { state: 'completed', charged: '0.12' },
  },
  {
    row: 'Images finished, number not reported',
    title: 'are charged as asked for',
    kind: 'image',
    next: media => void (media.polled = images(['1'], { isCounted: false })),
    ends: { state: 'completed', charged: '0.12' },
  },
  ...[true, false].map((isCounted): MediaCase => ({
    row: WITHOUT_RESULT,
    title: isCounted ? 'reported as none' : 'not counted',
    next: media => void (media.polled = { outcome: 'finished', result: empty(isCounted) }),
    ends: { state: 'failed', reason: 'generation_failed' },
  })),
  {
    row: VIDEO,
    title: 'shorter than reserved',
    kind: 'video',
    next: finish,
    ends: { state: 'completed', charged: '0.4' },
  },
  {
    row: VIDEO,
    title: 'longer than reserved',
    kind: 'video',
    next: media => void (media.polled = aClip({ durationMs: 9000 })),
    ends: { state: 'completed', charged: '0.6' },
  },
  {
    row: 'Failed at the provider',
    title: 'is released',
    next: media => void (media.polled = { outcome: 'failed', code: 'NSFW', message: 'Refused.' }),
    ends: { state: 'failed', reason: 'generation_failed' },
  },
  {
    row: 'Finished after the release',
    title: 'images',
    kind: 'image',
    afterMs: DAY_MS,
    late: finish,
    ends: { state: 'failed', reason: 'overdue', loss: '0.08' },
  },
  {
    row: 'Finished after the release',
    title: 'a video of an unknown submit',
    kind: 'video',
    submitted: unknown,
    afterMs: 15 * MINUTE_MS,
    late: found,
    ends: { state: 'failed', reason: 'submit_unconfirmed', loss: '0.4' },
  },
  {
    row: 'Finished after the release',
    title: 'a video whose submit the provider refused as too slow (408)',
    kind: 'video',
    submitted: rejected({ status: 408 }),
    late: found,
    ends: { state: 'failed', reason: 'rejected', loss: '0.4' },
  },
  {
    row: 'Finished after the release',
    title: 'no video whose submit the provider refused (400)',
    kind: 'video',
    submitted: rejected({ status: 400 }),
    late: found,
    ends: { state: 'failed', reason: 'rejected' },
  },
  {
    row: 'Result cannot be fetched for now',
    title: 'is held and tried again',
    next: media => link(media, 'http://no-such-host.invalid/a.png'),
    ends: { state: 'processing', isHeld: true },
  },
  {
    row: 'Result can never be fetched',
    title: 'images',
    kind: 'image',
    next: media => link(media, 'http://169.254.169.254/a.png'),
    ends: { state: 'failed', reason: 'result_lost', loss: '0.04' },
  },
  {
    row: 'Result can never be fetched',
    title: 'a video',
    kind: 'video',
    next: media => link(media, 'http://169.254.169.254/a.mp4'),
    ends: { state: 'failed', reason: 'result_lost', loss: '0.6' },
  },
]

type WrongFile = readonly [title: string, kind: JobKind, bytes: Bytes, loss: string]

/** Files in place of a result, sent in the answer. */
const wrongFiles: readonly WrongFile[] = [
  ['a page', 'image', new TextEncoder().encode('<!doctype html>'), '0.04'],
  ['a page', 'video', new TextEncoder().encode('<!doctype html>'), '0.6'],
  ['a clip', 'image', tinyMp4(4000), '0.04'],
  ['an image', 'video', aPng('pixels'), '0.6'],
  ['a clip that is cut off', 'video', tinyMp4(4000).slice(0, -1), '0.6'],
]
const wrongResults = wrongFiles.map(([title, kind, bytes, loss]): MediaCase => ({
  row: 'Result is not an image or a clip',
  title: `${kind}: ${title}`,
  kind,
  next: media => void (media.polled = aClip({ bytes })),
  ends: { state: 'failed', reason: 'result_lost', loss },
}))

export const mediaCases: readonly MediaCase[] = [...refusals, ...submits, ...ends, ...wrongResults]
