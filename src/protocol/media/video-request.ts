import { allowsDuration, describeDurations, type Engine } from '../../domain/catalog/engines.ts'
import { GatewayError } from '../../domain/errors.ts'
import { invalidField, optionalBoolean, requiredName, requiredText } from '../request-fields.ts'

const MS = 1000

export type VideoRequest = {
  readonly model: string
  readonly prompt: string
  /** How long the client waits for the result, in milliseconds; null if it does not wait. */
  readonly waitMs: number | null
  readonly refVideoJobId: string | undefined
  readonly scenes: string | readonly string[] | undefined
}

/**
 * Reads the fields that do not depend on the engine. A `timeout` turns waiting on and can only lower the wait; one that
 * is not a number counts as `waitMsMax`, and a negative one as zero. Throws `invalid_field` for a missing model or
 * prompt.
 */
export function readVideoRequest(
  fields: Readonly<Record<string, unknown>>,
  { waitMsMax }: { readonly waitMsMax: number },
): VideoRequest {
  const ref = fields['ref_video_job_id'] ?? undefined
  return {
    model: requiredName(fields['model'], 'model'),
    prompt: requiredText(fields['prompt'], 'prompt'),
    waitMs: readWait(fields, waitMsMax),
    refVideoJobId: ref === undefined ? undefined : requiredName(ref, 'ref_video_job_id'),
    scenes: readScenes(fields['scenes']),
  }
}

function readWait(fields: Readonly<Record<string, unknown>>, waitMsMax: number): number | null {
  const timeout = fields['timeout'] ?? undefined
  if (timeout !== undefined) {
    const seconds = numberIn(timeout)
    return seconds === undefined ? waitMsMax : Math.min(Math.max(seconds * MS, 0), waitMsMax)
  }
  return isTrue(fields['wait']) ? waitMsMax : null
}

/** A form part can carry only text. */
function isTrue(wait: unknown): boolean {
  if (wait === 'true' || wait === 'false') return wait === 'true'
  return optionalBoolean(wait, 'wait') ?? false
}

/** Storyboard scenes are not validated. A value that cannot be a scene is left out. */
function readScenes(scenes: unknown): string | readonly string[] | undefined {
  if (typeof scenes === 'string') return scenes
  return Array.isArray(scenes) ? scenes.filter(scene => typeof scene === 'string') : undefined
}

/**
 * The duration that a request asks for, in milliseconds; undefined if it has none. `duration` takes precedence over
 * `seconds`. Throws `invalid_field`, with the allowed durations, for one outside the engine's set.
 */
export function readDuration(fields: Readonly<Record<string, unknown>>, engine: Engine): number | undefined {
  const name = (fields['duration'] ?? undefined) === undefined ? 'seconds' : 'duration'
  const asked = fields[name] ?? undefined
  if (asked === undefined) return undefined
  const seconds = numberIn(asked)
  if (seconds === undefined)
    throw invalidField(name, `a number of seconds: ${describeDurations(engine)}`, asked)
  if (!allowsDuration(engine, seconds)) {
    throw new GatewayError(
      'invalid_field',
      `"${name}" is ${seconds}; this model makes clips of ${describeDurations(engine)} seconds.`,
      { param: name },
    )
  }
  return Math.round(seconds * MS)
}

/** Undefined for a value that is not a finite number. A numeric string is a number. */
function numberIn(value: unknown): number | undefined {
  if (typeof value === 'string' && value.trim() !== '') return finite(Number(value))
  return typeof value === 'number' ? finite(value) : undefined
}

function finite(number: number): number | undefined {
  return Number.isFinite(number) ? number : undefined
}
