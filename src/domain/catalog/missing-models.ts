import type { Catalog } from './catalog.ts'
import { matchesPattern } from '../accounts/key-access.ts'
import { nearest } from './rows/nearest.ts'

/** The models that a change of a key, an account or the defaults of keys names. Null removes all. */
export type NamedModels = {
  /** Ids of models, or patterns with `*`. */
  readonly patterns?: readonly string[] | null | undefined
  /** The models with limits of their own. Null removes those of a model. */
  readonly perModel?: Readonly<Record<string, object | null>> | null | undefined
}

/**
 * Sentences about names and patterns that no model of the catalog has, finished or draft. They are accepted, because
 * the model can be added later.
 */
export function missingModels(catalog: Catalog, { patterns, perModel }: NamedModels): readonly string[] {
  const known = [...catalog.models.keys(), ...catalog.drafts.keys()]
  const limited = Object.entries(perModel ?? {}).flatMap(([name, change]) => (change === null ? [] : [name]))
  const unlimited = limited.filter(name => !known.includes(name))
  const unmatched = (patterns ?? []).filter(pattern => !known.some(id => matchesPattern(pattern, id)))
  return [
    ...unlimited.map(name => `${absence(name, known)} Until there is one, its limits apply to no request.`),
    ...unmatched.map(pattern =>
      pattern.includes('*')
        ? `No model matches "${pattern}" now.`
        : `${absence(pattern, known)} Until there is one, this name allows nothing.`,
    ),
  ]
}

function absence(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  return `There is no model "${name}" now${near === undefined ? '' : ` (did you mean "${near}"?)`}.`
}
