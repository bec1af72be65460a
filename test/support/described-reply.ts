import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import type { ApiDocument } from '../../src/http/description/document.ts'
import type { Schema } from '../../src/http/description/schema.ts'

/** A reply as it was sent, with the method and the path of its request. */
export type SentReply = {
  readonly method: string
  readonly path: string
  readonly status: number
  /** Without parameters; undefined if the reply has none. */
  readonly contentType: string | undefined
  /** The whole body; undefined if the reply broke off, or is too large to check. */
  readonly body: string | undefined
}

type MediaObject = { readonly schema: Schema }
type ReplyObject = { readonly content?: Readonly<Record<string, MediaObject>> }
type Operation = { readonly responses: Readonly<Record<string, unknown>> }
type Template = { readonly matches: RegExp; readonly methods: Readonly<Record<string, Operation>> }

/** An error of a path or a method that is not described. */
const UNROUTED: MediaObject = { schema: { type: 'object', required: ['error'], additionalProperties: true } }

/** The schemas of a document that have names. */
export function componentSchemas(document: ApiDocument): Readonly<Record<string, Schema>> {
  return document.components.schemas
}

/** Checks values against schemas of a document. Returns what is wrong, or undefined. */
export function schemaCheck(document: ApiDocument): (schema: Schema, value: unknown) => string | undefined {
  const compiled = new Map<Schema, z.ZodType>()
  return (schema, value) => {
    let known = compiled.get(schema)
    if (known === undefined) {
      const whole = JSON.stringify({ ...schema, $defs: schemasIn(schema, document) })
      const local = whole.replaceAll('"#/components/schemas/', '"#/$defs/')
      compiled.set(schema, (known = z.fromJSONSchema(JSON.parse(local) as never)))
    }
    const { error } = known.safeParse(value)
    return error === undefined ? undefined : z.prettifyError(error)
  }
}

/** The named schemas that a schema refers to, also through others. Compiling all of them takes twice as long. */
function schemasIn(schema: Schema, document: ApiDocument): Readonly<Record<string, Schema>> {
  const all = componentSchemas(document)
  const found = new Map<string, Schema>()
  const collect = (from: Schema) => {
    for (const [, name = ''] of JSON.stringify(from).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      const named = all[name]
      if (named === undefined || found.has(name)) continue
      found.set(name, named)
      collect(named)
    }
  }
  collect(schema)
  return Object.fromEntries(found)
}

/** Checks replies against an OpenAPI document. Each check returns what is wrong, or undefined. */
export function describedReplies(open: ApiDocument): (reply: SentReply) => string | undefined {
  const document = closedObjects(open) as ApiDocument
  const templates = Object.entries(document.paths).map(([path, methods]) => templateOf(path, methods))
  const problemIn = schemaCheck(document)

  const problemOf = ({ method, path, status, contentType, body }: SentReply): string | undefined => {
    const media = mediaOf()
    if (typeof media === 'string') return media
    if (media === undefined || body === undefined || method === 'HEAD') return undefined
    const { schema } = media
    if (contentType === 'application/yaml') return problemIn(schema, parseYaml(body))
    if (contentType === 'text/event-stream') return problemInFrames(body, frameSchemaOf(schema))
    if (contentType !== 'application/json') return problemIn(schema, body)
    const value = parsed(body)
    return value === undefined ? 'is not JSON' : problemIn(schema, value.json)

    function mediaOf(): MediaObject | string | undefined {
      const { methods } = templates.find(({ matches }) => matches.test(path)) ?? {}
      const operation = methods?.[method === 'HEAD' ? 'get' : method.toLowerCase()]
      if (operation === undefined)
        return isUnrouted(method, status) ? unrouted() : 'its operation is not described'
      const described = operation.responses[status] ?? operation.responses[`${String(status)[0]}XX`]
      if (described === undefined) return 'its status is not described'
      const { content } = resolved(described)
      if (content === undefined) return body === '' ? undefined : 'a body is not described'
      // The reply to HEAD may lack the type.
      if (contentType === undefined) return method === 'HEAD' ? undefined : 'its content type is missing'
      return content[contentType] ?? content['*/*'] ?? `its content type ${contentType} is not described`
    }
    function unrouted(): MediaObject | undefined {
      return contentType === undefined ? undefined : UNROUTED
    }
  }

  /** Frames of providers pass through, also broken ones, so that only frames with JSON are checked. */
  const problemInFrames = (body: string, schema: Schema): string | undefined => {
    for (const [, data = ''] of body.matchAll(/^data: ?(\{.*\})\r?$/gm)) {
      const value = parsed(data)
      const problem = value === undefined ? undefined : problemIn(schema, value.json)
      if (problem !== undefined) return `${problem}\nin the frame ${data}`
    }
    return undefined
  }

  const resolved = (described: unknown): ReplyObject => {
    const name = (described as { readonly $ref?: string }).$ref?.split('/').at(-1)
    return (name === undefined ? described : document.components.responses[name]) as ReplyObject
  }

  return reply => {
    const problem = problemOf(reply)
    if (problem === undefined) return undefined
    const { method, path, status, body } = reply
    return `${method} ${path} → ${status}: ${problem}\n${body?.slice(0, 500) ?? ''}`
  }
}

/** The schema of the JSON in the `data` of each event. */
function frameSchemaOf(event: Schema): Schema {
  const { data } = event['properties'] as { readonly data: { readonly contentSchema: Schema } }
  return data.contentSchema
}

/** Names of models may have slashes. */
function templateOf(path: string, methods: object): Template {
  const pattern = path
    .replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'model' ? '.+' : '[^/]+'))
  return { matches: new RegExp(`^${pattern}$`), methods: methods as Template['methods'] }
}

/** Preflights, unknown paths and methods, and requests that could not be read. */
function isUnrouted(method: string, status: number): boolean {
  return method === 'OPTIONS' || method === '' || status === 404 || status === 405
}

/** An undocumented field is an error here, though clients must ignore it. */
export function closedObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closedObjects)
  if (typeof value !== 'object' || value === null) return value
  const closed = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, closedObjects(part)]))
  const isOwn = closed['type'] === 'object' && 'properties' in closed && !('additionalProperties' in closed)
  return isOwn ? { ...closed, additionalProperties: false } : closed
}

function parsed(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}
