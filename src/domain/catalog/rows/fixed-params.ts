import { allowsDuration, describeDurations, type Engine } from '../engines.ts'
import type { FixedParams, MediaParams } from '../model.ts'
import { checkText, number } from './fields.ts'
import { report } from './problem.ts'
import { fieldOf, openRow, placeOf, quote, reportField, reportMissing, type Row } from './row.ts'

/** No engine makes a clip of an hour. A larger number is a mistake, such as milliseconds. */
export const SECONDS = { min: 0.001, max: 3600, whole: false }

/** The name of a media parameter. */
export const paramName = /^[a-z][a-z0-9_]{0,63}$/

/** A value of a media parameter. */
export const paramValue = {
  pattern: /^[^\p{Cc}\p{Cs}]{1,64}$/u,
  remedy: 'write text of at most 64 characters, in quotes if it is a number',
}

const FIXED_MAX = 32

/**
 * The parameters that a row fixes. A video row may fix the duration, to one that its engine allows; an engine may
 * require it. A parameter that requests may choose cannot be fixed too.
 */
export function readFixedParams(row: Row, params: MediaParams, engine?: Engine): FixedParams {
  const value = fieldOf(row, 'fixed_params')
  const remedy =
    engine === undefined
      ? 'write values such as {quality: high}'
      : `pin one of its durations: {duration: ${engine.defaultSeconds}}`
  if (value === undefined) {
    if (engine?.requiresPin === true) reportMissing(row, 'fixed_params', remedy)
    return {}
  }
  const fixed = openRow(value, placeOf(row, 'fixed_params'), remedy)
  if (fixed === undefined) return {}
  if (engine?.requiresPin === true && fieldOf(fixed, 'duration') === undefined) {
    reportMissing(fixed, 'duration', remedy)
  }
  const duration = engine === undefined ? undefined : readDuration(fixed, engine)
  return { ...readOthers(fixed, params, engine), ...(duration === undefined ? {} : { duration }) }
}

export function writeFixedParams(fixedParams: FixedParams): Record<string, unknown> {
  return Object.keys(fixedParams).length === 0 ? {} : { fixed_params: fixedParams }
}

function readDuration(fixed: Row, engine: Engine): number | undefined {
  const duration = number(fixed, 'duration', SECONDS)
  if (duration !== undefined && !allowsDuration(engine, duration)) {
    const allowed = `write ${describeDurations(engine)}, the seconds that the engine allows`
    reportField(fixed, 'duration', { message: `is ${duration}`, remedy: allowed })
  }
  return duration
}

function readOthers(
  fixed: Row,
  params: MediaParams,
  engine: Engine | undefined,
): Readonly<Record<string, string | number | boolean>> {
  const names = Object.keys(fixed.values).filter(name => engine === undefined || name !== 'duration')
  if (names.length > FIXED_MAX) {
    const { path, problems } = fixed
    report(problems, { path, message: `has ${names.length} fields`, remedy: `write at most ${FIXED_MAX}` })
    return {}
  }
  const read: Record<string, string | number | boolean> = {}
  for (const name of names) {
    const place = placeOf(fixed, name)
    const value = fixed.values[name]
    if (!paramName.test(name)) {
      const remedy = 'write a name of lower-case letters, digits and "_"'
      report(place.problems, { ...place, message: `is called ${quote(name)}`, remedy })
    } else if (Object.hasOwn(params, name)) {
      report(place.problems, {
        ...place,
        message: 'is in "params" too',
        remedy: 'write it in one of the two',
      })
    } else if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) {
      read[name] = value
    } else {
      const text = checkText(value, paramValue, place)
      if (text !== undefined) read[name] = text
    }
  }
  return read
}
