/** A JSON Schema of draft 2020-12, as OpenAPI 3.1 uses it. */
export type Schema = Readonly<Record<string, unknown>>
export type Members = Readonly<Record<string, Schema>>

export const text: Schema = { type: 'string' }
export const flag: Schema = { type: 'boolean' }
export const count: Schema = { type: 'integer', minimum: 0 }
/** RFC 3339 in UTC, as `Date.toISOString` writes it. */
export const dateTime: Schema = { type: 'string', format: 'date-time' }
/** The canonical decimal string of an amount in dollars, as `formatUsd` writes it. */
export const usd: Schema = { type: 'string', pattern: '^-?(?:0|[1-9]\\d*)(?:\\.\\d{0,8}[1-9])?$' }
/** Any JSON value. */
export const anything: Schema = {}

/** A string of a fixed set. */
export function words(allowed: readonly string[]): Schema {
  return { type: 'string', enum: allowed }
}

export function always(value: string | boolean | null): Schema {
  return { type: value === null ? 'null' : typeof value, const: value }
}

export function listOf(items: Schema, more: Schema = {}): Schema {
  return { type: 'array', items, ...more }
}

/** A mapping from names to values of one kind. */
export function mapOf(values: Schema): Schema {
  return { type: 'object', additionalProperties: values }
}

/** An object with these members. Clients must accept further members in replies. */
export function object(required: Members, optional: Members = {}): Schema {
  const names = Object.keys(required)
  return {
    type: 'object',
    properties: { ...required, ...optional },
    ...(names.length > 0 && { required: names }),
  }
}

/** An object of a request. Any other member is refused. */
export function closed(required: Members, optional: Members = {}): Schema {
  return { ...object(required, optional), additionalProperties: false }
}

/** An object whose other members pass through, or come from a provider. */
export function open(required: Members, optional: Members = {}): Schema {
  return { ...object(required, optional), additionalProperties: true }
}

/** The schema, or null. In requests, null counts as absent. */
export function nullable(schema: Schema): Schema {
  const { type, enum: allowed } = schema
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] }
  return {
    ...schema,
    type: [type, 'null'],
    ...(Array.isArray(allowed) && { enum: [...(allowed as unknown[]), null] }),
  }
}

/** The schema with a sentence about the value. */
export function about(description: string, schema: Schema): Schema {
  return { ...schema, description }
}

/** A schema of `components`, by its name there. */
export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

/** An id: its prefix, an underscore and 26 base32 digits. */
export function idOf(...prefixes: readonly string[]): Schema {
  return { type: 'string', pattern: `^(?:${prefixes.join('|')})_[0-9a-z]{26}$` }
}

/** A page of a long list. */
export function pageSchema(row: Schema, more: Members = {}): Schema {
  return object(
    {
      data: listOf(row),
      has_more: flag,
      next: about('The `cursor` of the next page; null on the last page.', nullable(text)),
    },
    more,
  )
}
