import { pick, type Random } from './seeded-random.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * Below the first depth only required properties are generated, and below the second nothing: schemas can be recursive.
 */
const GENEROUS_DEPTH_MAX = 6
const DEPTH_MAX = 24
const ITEMS_MAX = 16

/**
 * A value that a JSON schema allows. Supports the keywords of common tool and answer schemas: types, properties, items,
 * enums, bounds, formats, `anyOf`, `oneOf`, `allOf` and local `$ref`s. Ignores others, such as `pattern`, `not` and
 * `if`.
 */
export function exampleOf(schema: unknown, random: Random): unknown {
  return example(schema, { root: schema, random, depth: 0 })
}

type Context = { readonly root: unknown; readonly random: Random; readonly depth: number }

function example(given: unknown, context: Context): unknown {
  if (context.depth > DEPTH_MAX) return null
  if (!isSchema(given)) return 'anything'
  const schema = resolved(given, context.root)
  if ('const' in schema) return schema['const']
  if (isNonEmpty(schema['enum'])) return pick(schema['enum'], context.random)
  const deeper = { ...context, depth: context.depth + 1 }
  const { anyOf, oneOf, ...rest } = schema
  const [branch] = listOf(anyOf ?? oneOf)
  if (isSchema(branch)) return example({ ...rest, ...branch }, deeper)
  switch (typeOf(schema)) {
    case 'object':
      return anObject(schema, deeper)
    case 'array':
      return anArray(schema, deeper)
    case 'integer':
      return Math.ceil(aNumber(schema))
    case 'number':
      return aNumber(schema)
    case 'boolean':
      return context.random() < 0.5
    case 'null':
      return null
    case 'string':
      return aString(schema, context.random)
    default:
      return 'anything'
  }
}

/** The schema with its `$ref` resolved and its `allOf` merged. */
function resolved(schema: Schema, root: unknown, hops = 0): Schema {
  const { $ref: ref, allOf, ...own } = schema
  const target =
    typeof ref === 'string' && hops < DEPTH_MAX ? resolved(pointedAt(root, ref), root, hops + 1) : {}
  const parts = listOf(allOf).filter(isSchema)
  if (hops >= DEPTH_MAX || parts.length === 0) return { ...target, ...own }
  const layers = [target, ...parts.map(part => resolved(part, root, hops + 1)), own]
  return {
    ...Object.fromEntries(layers.flatMap(Object.entries)),
    properties: Object.fromEntries(layers.flatMap(layer => Object.entries(propertiesOf(layer)))),
    required: layers.flatMap(layer => listOf(layer['required'])),
  }
}

function pointedAt(root: unknown, ref: string): Schema {
  let found = root
  for (const segment of ref.replace(/^#\/?/, '').split('/').filter(Boolean)) {
    const name = decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~')
    found = isSchema(found) ? found[name] : undefined
  }
  return isSchema(found) ? found : {}
}

function typeOf(schema: Schema): unknown {
  const types = listOf(schema['type'])
  if (types.length > 0) return types.find(type => type !== 'null') ?? 'null'
  if (typeof schema['type'] === 'string') return schema['type']
  if ('properties' in schema || 'required' in schema) return 'object'
  return 'items' in schema || 'prefixItems' in schema ? 'array' : undefined
}

function anObject(schema: Schema, context: Context): Record<string, unknown> {
  const properties = propertiesOf(schema)
  const required = listOf(schema['required']).map(String)
  const names = context.depth > GENEROUS_DEPTH_MAX ? [] : Object.keys(properties)
  // `fromEntries` defines properties, so `__proto__` is a property like any other.
  return Object.fromEntries(
    [...new Set([...names, ...required])].map(name => [name, example(properties[name], context)]),
  )
}

function anArray(schema: Schema, context: Context): unknown[] {
  const least = numberAt(schema, 'minItems') ?? (context.depth > GENEROUS_DEPTH_MAX ? 0 : 1)
  const length = Math.min(least, numberAt(schema, 'maxItems') ?? ITEMS_MAX, ITEMS_MAX)
  const first = listOf(schema['prefixItems'])
  return Array.from({ length: Math.max(length, first.length) }, (_, index) =>
    example(first[index] ?? schema['items'], context),
  )
}

function aNumber(schema: Schema): number {
  const above = numberAt(schema, 'exclusiveMinimum')
  const below = numberAt(schema, 'exclusiveMaximum')
  const least = numberAt(schema, 'minimum') ?? (above === undefined ? undefined : above + 1)
  const most = numberAt(schema, 'maximum') ?? (below === undefined ? undefined : below - 1)
  const step = numberAt(schema, 'multipleOf')
  const value = Math.min(Math.max(1, least ?? 1), most ?? Number.MAX_SAFE_INTEGER)
  return step === undefined || step <= 0 ? value : Math.ceil(value / step) * step
}

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  time: '03:04:05Z',
  duration: 'PT1H',
  email: 'sandbox@example.com',
  hostname: 'sandbox.example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/sandbox',
  url: 'https://example.com/sandbox',
  uuid: '00000000-0000-4000-8000-000000000000',
}

function aString(schema: Schema, random: Random): string {
  const format = formats[String(schema['format'])]
  if (format !== undefined) return format
  const word = pick(['harbour', 'lantern', 'meadow', 'orchard', 'willow'], random)
  return word
    .padEnd(Math.min(numberAt(schema, 'minLength') ?? 0, 10_000), '.')
    .slice(0, numberAt(schema, 'maxLength'))
}

function numberAt(schema: Schema, keyword: string): number | undefined {
  const value = schema[keyword]
  return typeof value === 'number' ? value : undefined
}

function propertiesOf(schema: Schema): Schema {
  return isSchema(schema['properties']) ? schema['properties'] : {}
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isNonEmpty(value: unknown): value is [unknown, ...unknown[]] {
  return Array.isArray(value) && value.length > 0
}
