import type { Params } from '../../../domain/jobs/params.ts'
import type { SubmitCall } from '../../../gateway/ports/media-provider.ts'
import { hash32 } from '../seeded-random.ts'
import { clipRatio } from './base-clips.ts'
import type { MediaDirectives } from './directives.ts'
import { imageSize } from './frame-size.ts'
import type { Rendering } from './renderer.ts'
import type { SandboxJob } from './sandbox-jobs.ts'

/** The length of a clip if the submit has none. */
const CLIP_MS = 5000

/** The job that a submit asks for. */
export function newJob(
  call: SubmitCall,
  directives: MediaDirectives,
  { nowMs, videoMs }: { readonly nowMs: number; readonly videoMs: number },
): SandboxJob {
  const delayMs = directives.delay_ms ?? (call.kind === 'video' ? videoMs : 0)
  return {
    kind: call.kind,
    directives,
    renderings: directives.result === undefined ? renderingsOf(call, directives) : [],
    createdAtMs: nowMs,
    finishesAtMs: directives.never === undefined ? nowMs + delayMs : Infinity,
    pollFailuresLeft: directives.poll_failures ?? 0,
    isDelivered: false,
  }
}

function renderingsOf(call: SubmitCall, { images, clip_s: clipS }: MediaDirectives): readonly Rendering[] {
  const { kind, model, prompt, params, durationMs = CLIP_MS } = call
  if (kind === 'video') {
    const clipMs = clipS === undefined ? durationMs : Math.round(clipS * 1000)
    return [{ file: 'clip', ratio: clipRatio(params), durationMs: clipMs }]
  }
  // A prompt may be long, and jobs are kept.
  const seed = hash32(JSON.stringify([model, prompt, sorted(params)])).toString(36)
  const size = imageSize(params)
  return Array.from({ length: images ?? call.count }, (_, index) => ({
    file: 'png',
    ...size,
    seed: `${index}:${seed}`,
  }))
}

function sorted(params: Params): readonly unknown[] {
  return Object.entries(params).sort(([left], [right]) => (left < right ? -1 : 1))
}
