import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { imageFields, openAiImageFields } from '../src/http/media/image-routes.ts'
import { openAiVideoFields, videoFields } from '../src/http/media/video-routes.ts'
import type { Schema } from '../src/http/description/schema.ts'
import { chatFields } from '../src/protocol/chat/dialect.ts'
import { userFields } from '../src/protocol/user-id.ts'
import { embeddingsFields } from '../src/protocol/embeddings/dialect.ts'
import { imageNames, videoNames } from '../src/protocol/media/media-body.ts'
import { messagesFields } from '../src/protocol/messages/request.ts'
import { nativeFields } from '../src/protocol/native-messages/dialect.ts'
import { responsesFields } from '../src/protocol/responses/dialect.ts'
import { componentSchemas, schemaCheck } from './support/described-reply.ts'
import { wholeDocument } from './support/whole-document.ts'
import { ADMIN_KEY, startTestGateway, type TestGateway } from './support/gateway.ts'

// The readers of requests are written by hand, because they are on the path of every request. These tests hold the
// description and the readers together in both directions.

const document = wholeDocument()
const openAiDocument = wholeDocument({ isOpenAiMediaOn: true })
const problemIn = schemaCheck(document)

type Parameter = {
  readonly name: string
  readonly in: string
  readonly schema: Schema
  readonly example?: unknown
}
type Body = Readonly<
  Record<
    string,
    { readonly schema: Schema; readonly examples: Readonly<Record<string, { readonly value: unknown }>> }
  >
>
type Operation = {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Body }
}
type Described = {
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly requestBody: Operation['requestBody']
}

const operations: readonly Described[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as unknown as Readonly<Record<string, Operation>>).map(
    ([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      parameters,
      requestBody,
    }),
  ),
)
const named = (list: readonly Described[]) => list.map(each => [`${each.method} ${each.path}`, each] as const)
const withJson = operations.filter(
  ({ requestBody }) => requestBody?.content['application/json'] !== undefined,
)
const withQuery = operations.filter(operation => queryOf(operation).length > 0)

let gateway: TestGateway
let key: string
let chargeId: string
let webhookId: string

beforeAll(async () => {
  gateway = await startTestGateway()
  key = (await gateway.account()).key
  await gateway.admin('POST', 'accounts', { name: 'ada' })
  await gateway.admin('POST', 'accounts/ada/grants', { amount_usd: '100' })
  const row = (path: string) =>
    exampleOf(operations.find(each => each.method === 'PUT' && each.path === path)!)
  await gateway.admin('PUT', 'providers/main', row('/admin/api/providers/{provider}'))
  await gateway.admin('PUT', 'models/gpt-x', row('/admin/api/models/{model}'))
  await gateway.admin('PUT', 'models/all-sets', IMAGE_MODEL)
  webhookId = (await gateway.admin<{ id: string }>('POST', 'webhooks', { url: 'https://example.com/' })).id
  const answer = await gateway.chat(key, {
    model: 'sandbox-chat',
    messages: [{ role: 'user', content: 'Hi' }],
  })
  chargeId = answer.headers.get('x-request-id') ?? ''
})

afterAll(() => gateway.stop())

function exampleOf({ requestBody }: Described): Readonly<Record<string, unknown>> {
  const [first] = Object.values(requestBody?.content['application/json']?.examples ?? {})
  return first?.value as Readonly<Record<string, unknown>>
}

/** Sends a request whose path has the examples of its parameters. */
async function send({ method, path, parameters }: Described, query: object, body?: unknown) {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === 'charge'
      ? chargeId
      : name === 'webhook'
        ? webhookId
        : String(parameters.find(each => each.name === name)?.example),
  )
  const isAdmin = path.startsWith('/admin/')
  const url = `${gateway.url}${filled}?${new URLSearchParams(Object.entries(query))}`
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${isAdmin ? ADMIN_KEY : key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, error: errorIn(text), text }
}

function errorIn(text: string): {
  readonly code?: string
  readonly param?: string | null
  readonly message?: string
} {
  try {
    return (JSON.parse(text) as { error?: object }).error ?? {}
  } catch {
    return {}
  }
}

/** The alternatives of a schema: one for each kind of row. */
function alternatives(schema: Schema): readonly Schema[] {
  const name = (schema['$ref'] as string | undefined)?.split('/').at(-1)
  const found = name === undefined ? schema : componentSchemas(document)[name]!
  return (found['anyOf'] as readonly Schema[] | undefined) ?? [found]
}

function queryOf({ parameters }: Described): readonly Parameter[] {
  return parameters.filter(each => each.in === 'query')
}

function membersOf(schema: Schema): Readonly<Record<string, Schema>> {
  return (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>
}

/** An image model with a set of values for every field that has one. */
const IMAGE_MODEL = {
  kind: 'image',
  upstreams: [{ provider: 'sandbox', model: 'image' }],
  pricing: { per_image: '0.04' },
  params: { aspect_ratio: ['1:1'], resolution: ['1K'], orientation: ['square'] },
}

/** The example without what would win over a member, and for a model that has the member. */
function alone(example: object, member: string): object {
  const { duration, ...others } = example as { readonly duration?: unknown }
  const rest = member === 'seconds' || duration === undefined ? others : example
  return 'model' in rest && rest.model === 'sandbox-image' ? { ...rest, model: 'all-sets' } : rest
}

/** Values of every kind. Those that a schema refuses are its wrong values. */
const VALUES = [
  true,
  0,
  -1,
  1.5,
  1e12,
  '',
  'x',
  ' ',
  '-1',
  'x'.repeat(5000),
  [],
  [1],
  {},
  { x: 1 },
  ['x', 'x'],
]

describe('a wrong value of a described member is refused, with the member in "param":', () => {
  const cases = withJson.flatMap(operation => {
    const example = exampleOf(operation)
    const schema = alternatives(operation.requestBody!.content['application/json']!.schema).find(
      each => problemIn(each, example) === undefined,
    )!
    return Object.entries(membersOf(schema)).flatMap(([member, described]) => {
      const wrong = VALUES.filter(value => problemIn(described, value) !== undefined)
      return wrong.length === 0
        ? []
        : [
            [
              `${operation.method} ${operation.path}: ${member}`,
              { operation, example, member, wrong },
            ] as const,
          ]
    })
  })

  test.each(cases)(
    'a wrong value of a described member is refused, with the member in "param": %s',
    async (_, { operation, example, member, wrong }) => {
      for (const value of wrong) {
        const { status, error, text } = await send(
          operation,
          {},
          { ...alone(example, member), [member]: value },
        )

        expect([value, status, error.code, text]).toEqual([
          value,
          400,
          expect.stringMatching(/^invalid_field|unpriced_feature|invalid_json$/),
          text,
        ])
        expect((error.param ?? '').split(/[.[]/)[0]).toBe(member)
      }
    },
  )
})

describe('a body without a member is refused exactly if the member is required:', () => {
  const cases = withJson.flatMap(operation =>
    alternatives(operation.requestBody!.content['application/json']!.schema).flatMap(schema => {
      const example = exampleOf(operation)
      if (problemIn(schema, example) !== undefined) return []
      const required = (schema['required'] ?? []) as readonly string[]
      return required.map(
        member =>
          [`${operation.method} ${operation.path}: ${member}`, { operation, example, member }] as const,
      )
    }),
  )

  test.each(cases)(
    'a body without a member is refused exactly if the member is required: %s',
    async (_, { operation, example, member }) => {
      const { [member]: left, ...rest } = example

      const { status, error } = await send(operation, {}, rest)

      expect([left === undefined, status, error.param]).toEqual([false, 400, member])
    },
  )
})

describe('a provider of each kind may lack the members that are not required:', () => {
  const put = operations.find(
    ({ path, method }) => method === 'PUT' && path.endsWith('/providers/{provider}'),
  )!

  test.each(
    alternatives(put.requestBody!.content['application/json']!.schema).map(
      schema => [String(membersOf(schema)['kind']!['const']), schema] as const,
    ),
  )('a provider of each kind may lack the members that are not required: %s', async (kind, schema) => {
    const required = (schema['required'] ?? []) as readonly string[]
    const row = { kind, ...(required.includes('base_url') && { base_url: 'https://api.example.com/v1' }) }

    const { status, text } = await send(put, {}, row)
    const withoutUrl = await send(put, {}, { kind })

    expect([status, text]).toEqual([200, text])
    expect(withoutUrl.status).toBe(required.includes('base_url') ? 400 : 200)
  })
})

describe('the example of a described body is accepted:', () => {
  test.each(named(withJson))('the example of a described body is accepted: %s', async (_, operation) => {
    const catalog = await gateway.admin<object>('GET', 'catalog')

    const { status, text } = await send(operation, {}, exampleOf(operation))

    // The example of a catalog lacks the models of the other examples.
    await gateway.admin('PUT', 'catalog', catalog)
    // What the example names may not exist here.
    const isMissing = ['is not a provider', 'its folder does not exist'].some(words => text.includes(words))
    expect([status === 400 && !isMissing ? text : '']).toEqual([''])
  })
})

describe('a body that refuses unknown members names the described ones:', () => {
  const closed = withJson.filter(({ requestBody }) =>
    alternatives(requestBody!.content['application/json']!.schema).every(
      each => each['additionalProperties'] === false,
    ),
  )

  test.each(named(closed))(
    'a body that refuses unknown members names the described ones: %s',
    async (_, operation) => {
      const schemas = alternatives(operation.requestBody!.content['application/json']!.schema)
      const example = exampleOf(operation)
      const own = schemas.find(each => problemIn(each, example) === undefined)!

      const { status, error } = await send(operation, {}, { ...example, zzzzzzzzzzzz: 1 })

      expect(status).toBe(400)
      const list = /fields are (.*)\./.exec(error.message ?? '')
      const accepted = (list?.[1] ?? '').replaceAll('"', '').split(', ')
      // Members of replies are ignored in a catalog, so that one can be sent back.
      const ignored = new Set(['revision', 'updated_at', 'missing_variables', 'warnings'])
      const described = Object.keys(membersOf(own))
      expect(accepted.sort()).toEqual(
        described.filter(name => operation.path !== '/admin/api/catalog' || !ignored.has(name)).sort(),
      )
    },
  )
})

describe('every field that a reader of an open body reads is described:', () => {
  test.each([
    ['ChatRequest', [...chatFields, ...userFields]],
    ['ResponsesRequest', [...responsesFields, ...userFields]],
    ['EmbeddingsRequest', [...embeddingsFields, ...userFields]],
    ['MessagesRequest', [...new Set([...messagesFields, ...nativeFields])]],
    ['ImageRequest', [...imageFields, ...userFields, ...imageNames]],
    ['OpenAiImageRequest', [...openAiImageFields, ...userFields, ...imageNames]],
    ['OpenAiVideoRequest', [...openAiVideoFields, ...userFields, ...imageNames, ...videoNames]],
    ['VideoRequest', [...videoFields, ...userFields, ...imageNames, ...videoNames]],
  ])('every field that a reader of an open body reads is described: %s', (name, read) => {
    const schemas = { ...componentSchemas(document), ...componentSchemas(openAiDocument) }
    expect(Object.keys(membersOf(schemas[name]!)).sort()).toEqual(read.sort())
  })
})

/** The parameters without which a parameter is refused, whatever its value. */
const neededBy: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  to: { from: '2026-11-01T00:00:00Z' },
  project: { account: 'ada' },
}

describe('a wrong value of a described query parameter is refused:', () => {
  test.each(named(withQuery))(
    'a wrong value of a described query parameter is refused: %s',
    async (_, operation) => {
      const body = operation.requestBody === undefined ? undefined : exampleOf(operation)
      const described = queryOf(operation)
      const needed = (name: string) =>
        Object.fromEntries(
          Object.entries(neededBy[name] ?? {}).filter(([other]) => described.some(one => one.name === other)),
        )
      for (const { name, schema } of described) {
        const values = ['0', '-1', '501', '1.5', 'x'].filter(
          text => problemIn(schema, schema['type'] === 'integer' ? Number(text) : text) !== undefined,
        )
        for (const value of values) {
          const { status, error } = await send(operation, { ...needed(name), [name]: value }, body)

          expect([name, value, status, error.param]).toEqual([name, value, 400, name])
        }
      }
    },
  )
})

describe('a list refuses an unknown query parameter, and names the described ones:', () => {
  const lists = withQuery.filter(operation => queryOf(operation).some(({ name }) => name === 'cursor'))

  test.each(named(lists))(
    'a list refuses an unknown query parameter, and names the described ones: %s',
    async (_, operation) => {
      const { status, error } = await send(operation, { zzzz: '1' })

      const accepted = /; the parameters are (.*)\./.exec(error.message ?? '')?.[1] ?? ''
      expect([status, error.param]).toEqual([400, 'zzzz'])
      expect(accepted.split(', ').sort()).toEqual(
        queryOf(operation)
          .map(({ name }) => name)
          .sort(),
      )
    },
  )
})
