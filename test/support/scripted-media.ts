import type { Bytes } from '../../src/domain/bytes.ts'
import type { Size } from '../../src/domain/jobs/params.ts'
import type {
  MediaInput,
  MediaProvider,
  MediaResult,
  MediaShape,
  PollOutcome,
  RecoverOutcome,
  SubmitCall,
  SubmitOutcome,
} from '../../src/gateway/ports/providers/media-provider.ts'
import { bytesOf } from './byte-streams.ts'
import { tinyMp4 } from './tiny-mp4.ts'

/** A provider of images and videos whose answers a test sets. */
export type ScriptedMedia = Pick<MediaProvider, 'sizeOf' | 'submit' | 'poll'> & {
  pollEveryMsMin: number
  /** At first the provider continues its own jobs. */
  continuesFrom: NonNullable<MediaProvider['continuesFrom']>
  recover: NonNullable<MediaProvider['recover']>
  /** All submits so far, in order. */
  readonly submits: readonly RecordedSubmit[]
  /** How many polls there were. */
  readonly polls: number
  /** The answer to the submits that follow. At first each is accepted, under an id of its own. */
  submitted: SubmitOutcome | Promise<SubmitOutcome> | undefined
  /** The answer to the polls that follow. At first the job runs. */
  polled: PollOutcome | Promise<PollOutcome>
  /** The answer to questions for jobs of unknown submits that follow. At first the provider does not know the job. */
  recovered: RecoverOutcome
}

/** What a submit brought, its files read to their ends. */
export type RecordedSubmit = Omit<SubmitCall, 'images' | 'videos'> & {
  readonly images: readonly RecordedInput[]
  readonly videos: readonly RecordedInput[]
}

export type RecordedInput =
  | Exclude<MediaInput, { readonly from: 'bytes' }>
  | { readonly from: 'bytes'; readonly mediaType: string; readonly content: Buffer }

export const RUNNING: PollOutcome = { outcome: 'running', upstreamStatus: 'running', isKnownStatus: true }

/** The result of a job with one clip, whose header has no duration unless a test gives another clip. */
export function aClip(change: Partial<MediaResult> & { readonly bytes?: Bytes } = {}): PollOutcome {
  const { bytes = tinyMp4(0), ...result } = change
  return { outcome: 'finished', result: { outputs: [{ from: 'bytes', bytes }], isCounted: true, ...result } }
}

/** What the provider makes for some aspect ratios, at any resolution. */
const sizes: Readonly<Record<string, Size>> = {
  '1:1': { width: 1024, height: 1024 },
  '3:2': { width: 1536, height: 1024 },
  '2:3': { width: 1024, height: 1536 },
  '16:9': { width: 1280, height: 720 },
  '9:16': { width: 720, height: 1280 },
}

export function scriptedMedia(): ScriptedMedia {
  const submits: RecordedSubmit[] = []
  const media = {
    pollEveryMsMin: 1000,
    continuesFrom: (() => ({ from: 'id' })) as ScriptedMedia['continuesFrom'],
    sizeOf: ({ params }: MediaShape) => sizes[String(params['aspect_ratio'])],
    submits,
    polls: 0,
    submitted: undefined as ScriptedMedia['submitted'],
    polled: RUNNING as ScriptedMedia['polled'],
    recovered: { outcome: 'absent' } as RecoverOutcome,
    async submit(call: SubmitCall): Promise<SubmitOutcome> {
      const images = await Promise.all(call.images.map(recorded))
      const videos = await Promise.all(call.videos.map(recorded))
      submits.push({ ...call, images, videos })
      return media.submitted ?? { outcome: 'accepted', upstreamId: `upstream-${submits.length}` }
    },
    async poll() {
      media.polls += 1
      return media.polled
    },
    async recover() {
      return media.recovered
    },
  }
  return media
}

async function recorded(input: MediaInput): Promise<RecordedInput> {
  if (input.from !== 'bytes') return input
  const content = await bytesOf(await input.open())
  if (content.length !== input.bytes)
    throw new Error(`An input has ${content.length} bytes, not ${input.bytes}.`)
  return { from: 'bytes', mediaType: input.mediaType, content }
}
