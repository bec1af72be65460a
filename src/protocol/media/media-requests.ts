import { allowsDuration, describeDurations, type Engine } from '../../domain/catalog/engines.ts'
import type { MediaParams, VideoModel } from '../../domain/catalog/model.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { Params } from '../../domain/jobs/params.ts'
import { MS_PER_S } from '../../domain/time.ts'
import {
  invalidChoice,
  invalidField,
  optionalBoolean,
  optionalInteger,
  requiredName,
  requiredText,
} from '../request-fields.ts'

const COUNT_MAX = 10

type ImageRequest = {
  readonly model: string
  /** May be empty: the model checks it (`EMPTY_PROMPT`). */
  readonly prompt: string
  /** The `n` of the request. It sizes the hold, and never goes to the provider. */
  readonly count: number
}

/** Throws `invalid_field` for a missing model or prompt, and for an `n` that is not an integer from 1 to 10. */
export function readImageRequest(fields: Readonly<Record<string, unknown>>): ImageRequest {
  return {
    model: requiredName(fields['model'], 'model'),
    prompt: requiredText(fields['prompt'], 'prompt'),
    count: optionalInteger(fields['n'], 'n', { min: 1, max: COUNT_MAX }) ?? 1,
  }
}

/** The fields of a form as a JSON body has them: `n` is a number, and `stream` a boolean. Other texts stay. */
export function readImageForm(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { n, stream } = fields
  const isCount = typeof n === 'string' && /^\d{1,9}$/.test(n)
  return {
    ...fields,
    ...(isCount ? { n: Number(n) } : {}),
    ...(stream === 'true' || stream === 'false' ? { stream: stream === 'true' } : {}),
  }
}

export type VideoRequest = {
  readonly model: string
  readonly prompt: string
  /** How long the client waits for the result, in milliseconds; null if it does not wait. */
  readonly waitMs: number | null
  readonly refVideoJobId: string | undefined
  /** Any JSON value: storyboard engines get it as it came. Undefined if there are none. */
  readonly scenes: unknown
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
    scenes: fields['scenes'] ?? undefined,
  }
}

function readWait(fields: Readonly<Record<string, unknown>>, waitMsMax: number): number | null {
  const timeout = fields['timeout'] ?? undefined
  if (timeout !== undefined) {
    const seconds = numberIn(timeout)
    return seconds === undefined ? waitMsMax : Math.min(Math.max(seconds * MS_PER_S, 0), waitMsMax)
  }
  return isTrue(fields['wait']) ? waitMsMax : null
}

/** A form part can carry only text. */
function isTrue(wait: unknown): boolean {
  if (wait === 'true' || wait === 'false') return wait === 'true'
  return optionalBoolean(wait, 'wait') ?? false
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
  return Math.round(seconds * MS_PER_S)
}

/** Undefined for a value that is not a finite number. A numeric string is a number. */
function numberIn(value: unknown): number | undefined {
  if (typeof value === 'string' && value.trim() !== '') return finite(Number(value))
  return typeof value === 'number' ? finite(value) : undefined
}

function finite(number: number): number | undefined {
  return Number.isFinite(number) ? number : undefined
}

/** The default values of fields in image and video requests. A default applies only if the row's set has the value. */
type ParamDefaults = Readonly<Record<string, string>>

export const imageDefaults: ParamDefaults = { aspect_ratio: '1:1', resolution: '1K', orientation: 'square' }
export const videoDefaults: ParamDefaults = { aspect_ratio: '16:9' }

const videoAspectRatios = ['16:9', '9:16', '1:1'] as const

/** With one of these in a row, the row says which shape a request without `aspect_ratio` gets. */
const shapeParams = ['aspect_ratio', 'orientation', 'ratio', 'size'] as const

/**
 * The values of a video row's allowlist for one request, like `chooseParams`. All video models have an aspect ratio. If
 * the row does not list its values, those of the contract are allowed, and the value reaches the provider, which may
 * refuse it. A clip that is made from an input follows the input's shape, so the default is not sent for it unless the
 * row lists it.
 */
export function chooseVideoParams(
  fields: Readonly<Record<string, unknown>>,
  { params, fixedParams }: Pick<VideoModel, 'params' | 'fixedParams'>,
  { hasInput }: { readonly hasInput: boolean },
): Params {
  const has = (name: string) => name in params || name in fixedParams
  const isAsked = (fields['aspect_ratio'] ?? undefined) !== undefined
  const isAdded = isAsked ? !has('aspect_ratio') : !hasInput && !shapeParams.some(has)
  const sets = isAdded ? { ...params, aspect_ratio: videoAspectRatios } : params
  return chooseParams(fields, sets, videoDefaults)
}

/**
 * The values of a row's allowlist for one request: the request's, else the contract's default if the row's set has it,
 * else the set's first. A number counts as its digits. Fields that the row does not list are left out. Throws
 * `invalid_field`, naming the set, for a value outside it.
 */
export function chooseParams(
  fields: Readonly<Record<string, unknown>>,
  sets: MediaParams,
  defaults: ParamDefaults,
): Params {
  const chosen: Record<string, string> = {}
  for (const [name, set] of Object.entries(sets)) {
    const asked = fields[name] ?? undefined
    const value = asked === undefined ? defaultOf(set, defaults[name]) : valueIn(set, asked, name)
    if (value !== undefined) chosen[name] = value
  }
  return chosen
}

function defaultOf(set: readonly string[], preferred: string | undefined): string | undefined {
  return preferred !== undefined && set.includes(preferred) ? preferred : set[0]
}

function valueIn(set: readonly string[], asked: unknown, name: string): string {
  const text = typeof asked === 'number' ? String(asked) : asked
  const found = set.find(value => value === text)
  if (found === undefined) throw invalidChoice(name, set, asked)
  return found
}
