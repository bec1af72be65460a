/** A value of a JSON field that has no parts. */
export type Scalar = string | number | boolean

/** The step of a path from an array to each of its items. The other steps are names of members. */
export const EACH_ITEM = '[]'

/**
 * A field of requests that only some values may have, because a provider bills the others and no price covers them.
 * Requests without the field are always allowed.
 */
export type FieldRule = {
  /** As the operator wrote it: `tools[].type`. */
  readonly path: string
  /** `['tools', EACH_ITEM, 'type']` */
  readonly steps: readonly string[]
  /** Empty if requests may not have the field. */
  readonly allowed: readonly Scalar[]
}

/** The rules of a model or a provider. Absent if every field is allowed. */
export type FieldRules = { readonly refuseFields?: readonly FieldRule[] }

const NO_RULES: readonly FieldRule[] = []

/** The rules for the requests of a model to one of its providers. */
export function rulesOf(
  { refuseFields: ofModel = NO_RULES }: FieldRules,
  { refuseFields: ofProvider = NO_RULES }: FieldRules,
): readonly FieldRule[] {
  if (ofProvider.length === 0) return ofModel
  return ofModel.length === 0 ? ofProvider : [...ofModel, ...ofProvider]
}

/** The steps of a path: `tools[].type` is `tools`, then each item, then `type`. */
export function stepsOf(path: string): readonly string[] {
  return path
    .split('.')
    .flatMap(step => (step.endsWith(EACH_ITEM) ? [step.slice(0, -EACH_ITEM.length), EACH_ITEM] : [step]))
}
