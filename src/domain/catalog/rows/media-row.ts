import { engineNames, engines, secondsMax } from '../engines.ts'
import type { DraftSettings, MediaParams, ModelSettings } from '../model.ts'
import type { JobKind } from '../../jobs/job.ts'
import { extraOutputTypes, usualOutputTypes, type ExtraOutputType } from '../../jobs/output-types.ts'
import { checkList, checkOneOf, checkText, list, number, requiredOneOf } from './fields.ts'
import { readFixedParams, writeFixedParams, paramName, paramValue, SECONDS } from './fixed-params.ts'
import { report } from './problem.ts'
import { fieldOf, openRow, placeOf, reportField, type Row } from './row.ts'

type VideoSettings = Extract<ModelSettings, { kind: 'video' }>
type VideoOwn = Pick<VideoSettings, 'engine' | 'params' | 'fixedParams' | 'holdDurationSeconds'>

const PARAMS_MAX = 32
const VALUES_MAX = 64

/** The allowlist of a media row; empty when it has none. */
export function readParams(row: Row): MediaParams {
  const value = fieldOf(row, 'params')
  if (value === undefined) return {}
  const params = openRow(value, placeOf(row, 'params'), 'write value sets such as {resolution: [1K, 2K]}')
  if (params === undefined) return {}
  const names = Object.keys(params.values)
  if (names.length > PARAMS_MAX) {
    reportField(row, 'params', {
      message: `has ${names.length} fields`,
      remedy: `write at most ${PARAMS_MAX}`,
    })
    return {}
  }
  const read: Record<string, readonly string[]> = {}
  for (const name of names) {
    const place = placeOf(params, name)
    if (!paramName.test(name)) {
      const remedy = 'write a name of lower-case letters, digits and "_"'
      report(place.problems, { ...place, message: 'is not a valid name', remedy })
      continue
    }
    const remedy = `write its allowed values, the default first, such as [1K, 2K]`
    const values = checkList(params.values[name], place, { max: VALUES_MAX, remedy }, (item, at) =>
      checkText(item, paramValue, at),
    )
    if (values !== undefined) read[name] = values
  }
  return read
}

/** Formats of results that a row adds to the usual ones; undefined when it adds none. */
export function readOutputTypes(row: Row, kind: JobKind): readonly ExtraOutputType[] | undefined {
  const known: readonly ExtraOutputType[] = extraOutputTypes[kind]
  const remedy = `write a list of ${known.join(', ')}; the formats ${usualOutputTypes[kind].join(', ')} are always allowed`
  return list(row, 'output_types', { max: known.length, remedy }, (type, place) =>
    checkOneOf(type, known, place),
  )
}

export function writeParams(params: MediaParams): Record<string, unknown> {
  return Object.keys(params).length === 0 ? {} : { params }
}

/** Reports a missing or unknown engine and returns undefined: without it, nothing else can be checked. */
export function readVideoSettings(row: Row): VideoOwn | undefined {
  const params = readParams(row)
  const name = requiredOneOf(row, 'engine', engineNames)
  if (name === undefined) return undefined
  const engine = engines[name]
  const fixedParams = readFixedParams(row, params, engine)
  const pinned = fixedParams.duration
  const held = number(row, 'hold_duration_seconds', SECONDS) ?? pinned ?? secondsMax(engine)
  const heldMin = pinned ?? engine.defaultSeconds
  if (held < heldMin) {
    // The hold of a request without a duration must cover the clip that the engine makes by default.
    reportField(row, 'hold_duration_seconds', {
      message: `is ${held}`,
      remedy: `write at least ${heldMin}, the duration of a request without one`,
    })
  }
  return { engine: name, params, fixedParams, holdDurationSeconds: held }
}

export function writeVideoSettings(
  model: VideoOwn | Extract<DraftSettings, { kind: 'video' }>,
): Record<string, unknown> {
  const { fixedParams, holdDurationSeconds } = model
  return {
    ...writeFixedParams(fixedParams),
    hold_duration_seconds: holdDurationSeconds,
  }
}
