import type { FieldRule } from '../../domain/catalog/field-rule.ts'
import type { GatewayError } from '../../domain/errors.ts'
import { findRefusedField } from '../../protocol/field-rules.ts'
import type { Destination, ResolvedModel } from './resolve-model.ts'
import type { ParsedCall } from './text-call.ts'

/**
 * The destinations that may get a request: those whose rules, of the row and of the provider, allow every field. Each
 * is checked with the request as its provider gets it. Throws `unpriced_feature` if no destination is left.
 */
export function permittedDestinations(
  { model, destinations }: ResolvedModel,
  { dialect, request }: Pick<ParsedCall, 'dialect' | 'request'>,
): readonly Destination[] {
  let refusal: GatewayError | undefined
  const permitted = destinations.filter(({ provider, upstream, converted }) => {
    const rules = rulesOf({ model, provider })
    if (rules.length === 0) return true
    const form = converted ?? { dialect, request }
    const text = form.dialect.forUpstream(form.request, upstream.model, provider, model)
    const problem = findRefusedField(rules, text)
    refusal ??= problem
    return problem === undefined
  })
  if (permitted.length === 0 && refusal !== undefined) throw refusal
  return permitted
}

const NO_RULES: readonly FieldRule[] = []

/** The rules for the requests of a row to one of its providers. */
export function rulesOf({
  model: { refuseFields: ofRow = NO_RULES },
  provider: { refuseFields: ofProvider = NO_RULES },
}: Pick<ResolvedModel, 'model'> & Pick<Destination, 'provider'>): readonly FieldRule[] {
  if (ofProvider.length === 0) return ofRow
  return ofRow.length === 0 ? ofProvider : [...ofRow, ...ofProvider]
}
