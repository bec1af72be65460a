import { stepsOf, type FieldRule, type FieldRules, type Scalar } from '../field-rule.ts'
import { report, type Path } from './problem.ts'
import { describe, fieldOf, openRow, placeOf, type Row } from './row.ts'

const FIELD = 'refuse_fields'
/** Bounds the cost of the check of a request. */
const RULES_MAX = 64
const VALUES_MAX = 64
const PATH_LENGTH_MAX = 200
export const fieldPath = /^[A-Za-z0-9_$-]+(?:\[\])?(?:\.[A-Za-z0-9_$-]+(?:\[\])?)*$/
const VALUE = /^[^\p{Cc}\p{Cs}]{0,200}$/u

/** Reads the fields that a row refuses: a mapping from the path of each to its allowed values, which may be none. */
export function readRefuseFields(row: Row): FieldRules {
  const value = fieldOf(row, FIELD)
  if (value === undefined) return {}
  const place = placeOf(row, FIELD)
  const paths = openRow(
    value,
    place,
    'write the allowed values of each field, such as service_tier: [default]',
  )
  if (paths === undefined) return {}
  const entries = Object.entries(paths.values)
  if (entries.length > RULES_MAX)
    report(row.problems, {
      ...place,
      message: `has ${entries.length} fields`,
      remedy: `write at most ${RULES_MAX}`,
    })
  const refuseFields: FieldRule[] = []
  for (const [path, allowed] of entries.slice(0, RULES_MAX)) {
    const at = [...place.path, path]
    if (!fieldPath.test(path) || path.length > PATH_LENGTH_MAX) {
      const remedy =
        'write the names of members with dots between them, and [] behind a list, such as tools[].type'
      report(row.problems, { path: at, message: 'is not the path of a field', remedy })
      continue
    }
    refuseFields.push({ path, steps: stepsOf(path), allowed: readValues(allowed, at, row) })
  }
  return refuseFields.length === 0 ? {} : { refuseFields }
}

/** `refuse_fields` of a row; empty if it has none. */
export function writeRefuseFields({ refuseFields }: FieldRules): Record<string, unknown> {
  if (refuseFields === undefined) return {}
  return { [FIELD]: Object.fromEntries(refuseFields.map(({ path, allowed }) => [path, allowed])) }
}

function readValues(value: unknown, path: Path, { problems }: Row): readonly Scalar[] {
  if (!Array.isArray(value) || value.length > VALUES_MAX) {
    const message = Array.isArray(value) ? `has ${value.length} values` : describe(value)
    const remedy = `write a list of at most ${VALUES_MAX} allowed values, or [] to allow none`
    report(problems, { path, message, remedy })
    return []
  }
  for (const [index, item] of value.entries()) {
    if (isScalar(item)) continue
    const remedy = 'write a text of at most 200 characters, a number, true or false'
    report(problems, { path: [...path, index], message: describe(item), remedy })
  }
  return value as Scalar[]
}

function isScalar(value: unknown): value is Scalar {
  return typeof value === 'string'
    ? VALUE.test(value)
    : typeof value === 'number' || typeof value === 'boolean'
}
