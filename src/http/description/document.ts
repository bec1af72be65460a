import type { AdminScope } from '../../domain/admin/admin-token.ts'
import { TAGS_MAX } from '../../domain/ledger/attribution.ts'
import { ADMIN_PATH } from '../admin/admin-api.ts'
import { priceListPaths, priceListSchemas } from './price-lists.ts'
import { routes } from '../admin/routes.ts'
import { messagesReplies, plainReplies } from '../reply-style.ts'
import { accountPaths, accountSchemas } from './account.ts'
import { adminAccountStatePaths, adminAccountStateSchemas } from './admin/account-states.ts'
import { adminAccountPaths, adminAccountSchemas } from './admin/accounts.ts'
import { adminCatalogHistoryPaths, adminCatalogHistorySchemas } from './admin/catalog-history.ts'
import { adminCatalogPaths, adminCatalogSchemas } from './admin/catalog.ts'
import { adminMarginPaths, adminMarginSchemas } from './admin/margins.ts'
import { adminOverviewPaths, adminOverviewSchemas } from './admin/overview.ts'
import { adminRequestsReportPaths, adminRequestsReportSchemas } from './admin/requests-report.ts'
import { adminProjectPaths, adminProjectSchemas } from './admin/projects.ts'
import { adminKeyPaths, adminKeySchemas } from './admin/keys.ts'
import { adminKeySecretPaths, adminKeySecretSchemas } from './admin/key-secrets.ts'
import { adminTokenPaths, adminTokenSchemas } from './admin/tokens.ts'
import { userPaths, userSchemas } from './admin/users.ts'
import { adminMailPaths, adminMailSchemas } from './admin/mail.ts'
import { adminWebhookPaths, adminWebhookSchemas } from './admin/webhooks.ts'
import { adminBackupPaths, adminBackupSchemas } from './admin/backups.ts'
import { adminCheckPaths, adminCheckSchemas } from './admin/checks.ts'
import { adminJobPaths, adminJobSchemas } from './admin/jobs.ts'
import { catalogPaths, catalogSchemas } from './catalog.ts'
import { rowSchemas } from './catalog-rows.ts'
import { errorReplies, errorSchemas } from './errors.ts'
import { imagePaths, imageSchemas } from './images.ts'
import { openAiMediaPaths, openAiMediaSchemas } from './openai-media.ts'
import { videoPaths, videoSchemas } from './videos.ts'
import type { Contents, Operation, Parameter, PathDescription, Paths, Reply } from './operation.ts'
import { adminDocumentPaths, operatingPaths } from './operating.ts'
import { text, words, type Members, type Schema } from './schema.ts'
import { adminRequestPaths, requestPaths, requestSchemas } from './requests.ts'
import { EVENTS_TAG, messageObjects, messageSchemas } from './webhook-messages.ts'
import { textPaths } from './text.ts'
import { textSchemas } from './text-schemas.ts'

/** The version of the API that the document describes. It is not the version of the program. */
export const API_VERSION = '1.0.0'

/** The groups of operations, in the order in which pages show them. */
const tags: Readonly<Record<string, string>> = {
  Text: 'Chat, responses, messages and embeddings. Other fields pass through too.',
  Images: 'Images, as jobs that reserve money.',
  Videos: 'Videos, as jobs that reserve money.',
  Models: 'The models and their prices.',
  Account: 'The money of the account of a key.',
  [EVENTS_TAG]: 'Signed messages that webhooks get.',
  Operating: 'Health, metrics and this document.',
  'Admin: accounts and money': 'Accounts, keys, credits and corrections.',
  'Admin: projects': 'Groups of keys of an account.',
  'Admin: tokens': 'Tokens with some of the rights of the admin key.',
  'Admin: users': 'The people who sign in to the console.',
  'Admin: webhooks': 'Signed messages about events.',
  'Admin: mail': 'Mails about events.',
  'Admin: catalog': 'Providers, models and prices.',
  'Admin: reading and checking': 'Usage, jobs, the audit log, and checks of the books.',
}

const common = `Money is in US dollars, as a decimal string.

- \`HEAD\` works on every \`GET\` route, and \`OPTIONS\` answers with the methods of the route in \`Allow\`. A path or a
  method that is not in this document answers 404 or 405 with the same error object.
- Clients must ignore fields of replies that they do not know. New ones may be added.`

const ofCustomers = `${common}
- Under \`/v1/\`, any other \`POST\` is 404.
- Text routes can also reply with any other 4xx of the provider, in the same shape.`

const schemas: Members = {
  ...errorSchemas,
  ...textSchemas,
  ...imageSchemas,
  ...videoSchemas,
  ...openAiMediaSchemas,
  ...catalogSchemas,
  ...accountSchemas,
  ...requestSchemas,
  ...rowSchemas,
  ...adminAccountSchemas,
  ...adminAccountStateSchemas,
  ...adminKeySchemas,
  ...adminKeySecretSchemas,
  ...adminCatalogSchemas,
  ...adminCatalogHistorySchemas,
  ...priceListSchemas,
  ...adminJobSchemas,
  ...adminCheckSchemas,
  ...adminBackupSchemas,
  ...adminTokenSchemas,
  ...userSchemas,
  ...adminProjectSchemas,
  ...adminWebhookSchemas,
  ...adminMarginSchemas,
  ...adminOverviewSchemas,
  ...adminRequestsReportSchemas,
  ...adminMailSchemas,
  ...messageSchemas,
}

const headers = {
  'x-request-id': { description: 'The id of the request.', schema: text },
  'request-id': { description: 'The id of the request, for the Anthropic SDKs.', schema: text },
  'retry-after': { description: 'When to retry. Usually a number of seconds.', schema: text },
  'x-should-retry': {
    description: 'Whether client libraries may retry by themselves. Absent: the status decides.',
    schema: words(['true', 'false']),
  },
} as const

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A key of a customer.' },
  xApiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'A key of a customer.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'api-key', description: 'A key of a customer.' },
  admin: { type: 'http', scheme: 'bearer', description: 'The admin key, or an admin token.' },
  metrics: {
    type: 'http',
    scheme: 'bearer',
    description: 'The key for the metrics, the admin key, or an admin token.',
  },
} as const

export type ApiOptions = {
  /** The word in the names of headers. */
  readonly brand: string
  readonly isOpenAiMediaOn: boolean
}

/** The OpenAPI 3.1 document of the routes for customers and monitoring. */
export function apiDocument({ brand, isOpenAiMediaOn }: ApiOptions): ApiDocument {
  const paths = {
    ...textPaths(brand),
    ...imagePaths,
    ...videoPaths,
    ...(isOpenAiMediaOn ? openAiMediaPaths : {}),
    ...catalogPaths,
    ...accountPaths,
    ...requestPaths,
    ...operatingPaths,
  }
  return documentOf(withTags(paths, brand), {
    title: 'AI gateway',
    description: ofCustomers,
    errorPrefix: 'Error',
    events: 'account',
  })
}

/** Every request that can cost something takes tags. */
function withTags(paths: Paths, brand: string): Paths {
  const tags: Parameter = {
    name: `x-${brand}-tags`,
    in: 'header',
    description: `Up to ${TAGS_MAX} tags, which are kept with the charge. They are not passed on.`,
    schema: text,
    example: 'team=red,feature=search',
  }
  const tagged = (methods: PathDescription): PathDescription => {
    const { post } = methods
    if (post === undefined) return methods
    return { ...methods, post: { ...post, parameters: [...(post.parameters ?? []), tags] } }
  }
  return Object.fromEntries(Object.entries(paths).map(([path, methods]) => [path, tagged(methods)]))
}

/** The OpenAPI 3.1 document of the admin API, for the operator. */
export function adminDocument(): ApiDocument {
  const rows = {
    ...adminAccountPaths,
    ...adminAccountStatePaths,
    ...adminProjectPaths,
    ...adminWebhookPaths,
    ...adminKeyPaths,
    ...adminMarginPaths,
    ...adminOverviewPaths,
    ...adminRequestsReportPaths,
    ...adminMailPaths,
    ...adminKeySecretPaths,
    ...adminTokenPaths,
    ...userPaths,
    ...adminCatalogPaths,
    ...adminCatalogHistoryPaths,
    ...priceListPaths,
    ...adminJobPaths,
    ...adminCheckPaths,
    ...adminRequestPaths,
    ...adminBackupPaths,
  }
  const paths = {
    ...Object.fromEntries(
      Object.entries(rows).map(([path, methods]) => [ADMIN_PATH + path, withScopes(path, methods)]),
    ),
    ...adminDocumentPaths,
  }
  const title = 'Admin API of the AI gateway'
  return documentOf(paths, { title, description: common, errorPrefix: 'AdminError', events: 'all' })
}

/** The operations of a path of the admin API, with the scopes of its route. */
function withScopes(path: string, methods: PathDescription): PathDescription {
  const route = routes.find(each => each.path.replace('...}', '}') === path)
  const scopes = new Map(
    Object.entries(route?.methods ?? {}).map(([method, endpoint]) => [method.toLowerCase(), endpoint.scopes]),
  )
  return Object.fromEntries(
    Object.entries(methods).map(([method, operation]) => [
      method,
      { ...operation, scopes: scopes.get(method) ?? [] },
    ]),
  )
}

export type ApiDocument = ReturnType<typeof documentOf>

function documentOf(
  paths: Paths,
  about: {
    readonly title: string
    readonly description: string
    readonly errorPrefix: string
    readonly events: 'all' | 'account'
  },
) {
  const { title, description, errorPrefix, events } = about
  const errors = new ErrorComponents(errorPrefix)
  const operations = Object.values(paths).flatMap(methods => Object.values(methods))
  const described = Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => [method, operationObject(operation, errors)]),
      ),
    ]),
  )
  const webhooks = Object.fromEntries(
    Object.entries(messageObjects(events)).map(([type, { body, ...message }]) => [
      type,
      { post: { ...message, requestBody: { required: true, content: contentObject(body) } } },
    ]),
  )
  const references = JSON.stringify([described, webhooks, errors.all])
  const schemes = new Set(operations.flatMap(({ access }) => securityOf(access).flatMap(Object.keys)))
  return {
    openapi: '3.1.0',
    info: { title, version: API_VERSION, description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/', description: 'The gateway that serves this document.' }],
    tags: Object.entries(tags)
      .filter(([name]) => name === EVENTS_TAG || operations.some(({ tag }) => tag === name))
      .map(([name, description]) => ({ name, description })),
    paths: described,
    webhooks,
    components: {
      schemas: schemasIn(references),
      responses: errors.all,
      headers: only(headers, name => references.includes(`"#/components/headers/${name}"`)),
      securitySchemes: only(securitySchemes, name => schemes.has(name)),
    },
  }
}

/** The schemas that a text refers to, and those that they refer to. */
function schemasIn(references: string): Members {
  const found = new Set<string>()
  const texts = [references]
  for (const text of texts)
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g))
      if (!found.has(name)) {
        found.add(name)
        texts.push(JSON.stringify(schemas[name]))
      }
  return only(schemas, name => found.has(name))
}

function only<Value>(
  all: Readonly<Record<string, Value>>,
  isUsed: (name: string) => boolean,
): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => isUsed(name)))
}

/** An admin token needs one of the scopes: each is a way to be admitted. */
function securityOf(
  access: Operation['access'],
  scopes: readonly AdminScope[] = [],
): readonly Readonly<Record<string, readonly string[]>>[] {
  switch (access) {
    case 'customer':
      return [{ bearer: [] }, { xApiKey: [] }, { apiKey: [] }]
    case 'admin':
      return scopes.length === 0 ? [{ admin: [] }] : scopes.map(scope => ({ admin: [scope] }))
    case 'metrics':
      return [{ metrics: [] }]
    case 'everyone':
      return []
  }
}

function sentenceOf(scopes: readonly AdminScope[]): string {
  return `An admin token needs the scope ${scopes.map(scope => `\`${scope}\``).join(' or ')}.`
}

function operationObject(operation: Operation, components: ErrorComponents) {
  const { id, summary, tag, access, parameters, body, replies, scopes } = operation
  const description = [operation.description, scopes && sentenceOf(scopes)].filter(Boolean).join(' ')
  const { requestIdHeaders } = operation.style === 'messages' ? messagesReplies : plainReplies
  const own = Object.entries(replies).map(([status, reply]) => [status, replyObject(reply, requestIdHeaders)])
  const errors = Object.entries(errorReplies(operation)).map(([status, reply]) => [
    status,
    components.refTo(status, replyObject(reply, [...requestIdHeaders, ...errorHeaders(status)])),
  ])
  return {
    operationId: id,
    summary,
    ...(description !== '' && { description }),
    tags: [tag],
    security: securityOf(access, scopes),
    ...(parameters !== undefined && { parameters: parameters.map(parameterObject) }),
    ...(body !== undefined && {
      requestBody: { required: body.isRequired, content: contentObject(body.content) },
    }),
    responses: Object.fromEntries([...own, ...errors]) as Readonly<Record<string, unknown>>,
  }
}

function parameterObject(parameter: Parameter) {
  return { ...parameter, required: parameter.in === 'path' }
}

/** Errors say when and whether to retry. Refusals of providers can also say when. */
function errorHeaders(status: string): readonly string[] {
  return ['429', '503', '4XX'].includes(status) ? ['retry-after', 'x-should-retry'] : ['x-should-retry']
}

/** `shared` names headers of the components. */
function replyObject({ description, content, headers = {} }: Reply, shared: readonly string[]) {
  const references = shared.map(name => [name, { $ref: `#/components/headers/${name}` }])
  return {
    description,
    headers: { ...Object.fromEntries(references), ...headers } as Readonly<Record<string, object>>,
    ...(content !== undefined && { content: contentObject(content) }),
  }
}

function contentObject(contents: Contents): Readonly<Record<string, { readonly schema: Schema }>> {
  return Object.fromEntries(
    Object.entries(contents).map(([type, { schema, examples }]) => [
      type,
      {
        schema,
        ...(Object.keys(examples).length > 0 && {
          examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }])),
        }),
      },
    ]),
  )
}

/** Error replies, each once, because most operations share theirs. */
class ErrorComponents {
  readonly all: Record<string, ReturnType<typeof replyObject>> = {}
  readonly #prefix: string
  readonly #nameOf = new Map<string, string>()

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  refTo(status: string, object: ReturnType<typeof replyObject>) {
    const key = JSON.stringify(object)
    const known = this.#nameOf.get(key)
    const name = known ?? `${this.#prefix}${status}-${Object.keys(this.all).length + 1}`
    this.#nameOf.set(key, name)
    this.all[name] = object
    return { $ref: `#/components/responses/${name}` }
  }
}
