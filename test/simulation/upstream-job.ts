import type { Bytes } from '../../src/domain/bytes.ts'
import type { JobKind } from '../../src/domain/jobs/job.ts'
import type {
  MediaOutput,
  MediaResult,
  SubmitCall,
} from '../../src/gateway/ports/providers/media-provider.ts'
import { tinyMp4 } from '../support/tiny-mp4.ts'
import type { Random } from './random.ts'
import type { ResultFiles } from './result-files.ts'
import type { Process } from './scheduler.ts'

/** A job as its provider has it: a line of the provider's own ledger. */
export type UpstreamJob = {
  upstreamId: string
  /** Our id, as the submit carried it. */
  readonly jobId: string
  readonly kind: JobKind
  readonly storedAtMs: number
  /** Infinity for a job that never ends. */
  readonly endsAtMs: number
  readonly ending: 'finished' | 'failed'
  /** What the provider charges the operator for, once the job has finished. */
  readonly result: MediaResult
  /** The node that submitted it. */
  readonly submitter: Process
  /** What the answer to the submit says of this job. */
  answer: 'its id' | 'its result' | 'no id' | 'the id of another job' | 'nothing'
  /** When that answer reached the node. */
  answeredAtMs: number | undefined
  /** The time of the last question about it. */
  askedAtMs: number
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/**
 * How long the provider works. Some jobs end after the deadline, or after the time for which a released job is watched.
 */
export function workMs(random: Random, faults: number): number {
  if (!random.chance(faults)) return random.magnitude(SECOND, 5 * MINUTE)
  const how = random.weighted({ slow: 4, late: 4, 'too late': 1, never: 1 })
  if (how === 'slow') return random.magnitude(5 * MINUTE, HOUR)
  if (how === 'late') return random.magnitude(HOUR, 40 * HOUR)
  return how === 'never' ? Infinity : random.magnitude(40 * HOUR, 80 * HOUR)
}

type ResultTerms = {
  readonly random: Random
  readonly faults: number
  readonly files: ResultFiles
  readonly fromMs: number
}

/** Content filters remove images in runs without other faults too. */
const ODD_IMAGES = 0.3

/** What a job comes to: mostly what was asked for. */
export function aResult(call: SubmitCall, terms: ResultTerms): MediaResult {
  const { random, faults } = terms
  const isOdd = random.chance(call.kind === 'image' ? Math.max(faults, ODD_IMAGES) : faults)
  const count = isOdd ? random.integer(0, call.count + 2) : call.count
  const durationMs = call.durationMs === undefined ? undefined : reportedMs(call.durationMs, isOdd, random)
  const lengthMs =
    call.durationMs === undefined ? undefined : clipMs(durationMs ?? call.durationMs, isOdd, random)
  return {
    outputs: Array.from({ length: count }, () =>
      anOutput(call.kind === 'image' ? undefined : (lengthMs ?? NO_LENGTH), terms),
    ),
    isCounted: call.kind === 'video' || !random.chance(0.2),
    ...(durationMs === undefined ? {} : { durationMs }),
  }
}

/** The length in the header of a clip that states none. */
const NO_LENGTH = 0

/** A clip of a length, or the beginning of an image. */
function anOutput(lengthMs: number | undefined, { random, files, fromMs }: ResultTerms): MediaOutput {
  const size = random.chance(0.1) ? 6000 : random.integer(1, 60)
  const bytes = lengthMs === undefined ? anImage(random.bytes(size)) : tinyMp4(lengthMs)
  return random.chance(0.5)
    ? { from: 'bytes', bytes }
    : { from: 'url', url: files.offer(bytes, { fromMs, random }) }
}

const PNG_HEAD = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

function anImage(pixels: Uint8Array): Bytes {
  return Uint8Array.from([...PNG_HEAD, ...pixels])
}

/** Providers report lengths a little off, far off, or not at all. */
function reportedMs(askedMs: number, isOdd: boolean, random: Random): number | undefined {
  if (!isOdd) return askedMs + random.pick([0, 0, 0, 40, -40])
  return random.pick([undefined, 1, Math.round(askedMs / 2), askedMs * 3, askedMs + 1])
}

/** The length in the header of the clip; undefined for a file without one. */
function clipMs(reportedMs: number, isOdd: boolean, random: Random): number | undefined {
  return random.pick(
    isOdd
      ? [undefined, reportedMs + 501, reportedMs + 500, reportedMs * 2]
      : [undefined, reportedMs, reportedMs + 33],
  )
}
