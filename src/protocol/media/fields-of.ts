import { parseJsonObject, type SentText } from '../json/parse-json.ts'
import { unambiguousFields } from '../request-fields.ts'
import type { MediaBodyOptions } from './media-body-events.ts'

/**
 * The members of a JSON object that are not media inputs. Throws `invalid_json` for other text, and `ambiguous_field`
 * if a name that the gateway reads occurs twice or in another case.
 */
export function fieldsOf(
  text: SentText,
  { names, fields }: Pick<MediaBodyOptions, 'names' | 'fields'>,
): Readonly<Record<string, unknown>> {
  const document = parseJsonObject(text)
  unambiguousFields(document, new Set([...fields, ...names]), '')
  const others = Object.entries(document.value).filter(([key]) => !(names as ReadonlySet<string>).has(key))
  return Object.fromEntries(others)
}
