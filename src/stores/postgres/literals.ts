import type { SqlValue } from '../books/canonical.ts'

/**
 * A record as PostgreSQL reads it from text. Arguments of a batch are arrays of records, which cost the database a
 * third of what JSON costs.
 */
export function record(values: readonly SqlValue[]): string {
  return `(${values.map(field).join(',')})`
}

/** An array of texts, such as records, as PostgreSQL reads it from text. */
export function list(elements: readonly string[]): string {
  return `{${elements.map(element => `"${element.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(',')}}`
}

/** An empty field is null. */
function field(value: SqlValue): string {
  if (value === null) return ''
  if (typeof value === 'string') return `"${value.replaceAll(/["\\]/g, '$&$&')}"`
  return value instanceof Uint8Array ? `"\\\\x${Buffer.from(value).toString('hex')}"` : String(value)
}
