import type { MediaParams, VideoModel } from '../../domain/catalog/model.ts'
import type { Params } from '../../domain/jobs/params.ts'
import { invalidChoice } from '../request-fields.ts'

/** The default values of fields in image and video requests. A default applies only if the row's set has the value. */
export type ParamDefaults = Readonly<Record<string, string>>

export const imageDefaults: ParamDefaults = { aspect_ratio: '1:1', resolution: '1K', orientation: 'square' }
export const videoDefaults: ParamDefaults = { aspect_ratio: '16:9' }

const videoAspectRatios = ['16:9', '9:16', '1:1'] as const

/**
 * The values of a video row's allowlist for one request, like `chooseParams`. The aspect ratio is checked against the
 * contract's set even if the row does not list it, and reaches the provider only if it does: some models refuse it.
 */
export function chooseVideoParams(
  fields: Readonly<Record<string, unknown>>,
  { params, fixedParams }: Pick<VideoModel, 'params' | 'fixedParams'>,
): Params {
  if (!('aspect_ratio' in params) && !('aspect_ratio' in fixedParams))
    chooseParams(fields, { aspect_ratio: videoAspectRatios }, videoDefaults)
  return chooseParams(fields, params, videoDefaults)
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
