import { omittableFields, type OmittableField, type Provider } from '../../domain/catalog/provider.ts'
import type { TextDialect } from '../../protocol/text-dialect.ts'
import type { AttemptRecord, AttemptResult } from './attempt-result.ts'

/** Only the start of an error names the field. */
const READ_CHARS_MAX = 4000

/**
 * The fields that providers refused in requests that the gateway composed, and that `omit_fields` can leave out. Known
 * since the start of this process.
 */
export class RefusedFields {
  readonly #fields = new Map<string, Set<OmittableField>>()

  /** Reads the error of a refused request. Ignores requests that the client wrote itself. */
  note(
    sent: { readonly dialect: TextDialect },
    { destination }: AttemptRecord<unknown>,
    { outcome }: Extract<AttemptResult, { kind: 'refusal' }>,
  ): void {
    const { dialect } = destination.converted ?? sent
    if (dialect.route === dialect.upstreamRoute) return
    const error = outcome.body.slice(0, READ_CHARS_MAX)
    for (const field of omittableFields) {
      if (!new RegExp(String.raw`\b${field}\b`).test(error)) continue
      const { id } = destination.provider
      this.#fields.set(id, (this.#fields.get(id) ?? new Set()).add(field))
    }
  }

  /** Only fields that the provider's row does not omit yet. */
  of({ id, omitFields = [] }: Provider): readonly OmittableField[] {
    return [...(this.#fields.get(id) ?? [])].filter(field => !omitFields.includes(field))
  }
}
