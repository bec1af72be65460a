import { errorTypeOf, SERVER_ERROR_MESSAGE, type ErrorCode } from '../../domain/errors.ts'
import { messagesErrorBody } from '../../protocol/messages/errors.ts'
import { statusOfError } from '../errors.ts'
import type { Content, Operation, Reply } from './operation.ts'
import {
  about,
  always,
  nullable,
  object,
  open,
  ref,
  text,
  words,
  type Members,
  type Schema,
} from './schema.ts'

/** A sentence for each code, as a client may get it. */
const sentenceOf: Readonly<Record<ErrorCode, string>> = {
  malformed_request: 'Malformed or ambiguous HTTP request.',
  invalid_json: 'The body is not valid JSON.',
  json_required: 'Invalid JSON',
  invalid_field: '"n" must be an integer from 1 to 128; it is 0.',
  ambiguous_field:
    'Some parsers read "Model" as "model", and others do not. Send "model" once, with exactly this spelling.',
  route_not_supported: 'This model does not serve this route.',
  not_supported: 'The books are in a PostgreSQL database. Use its own backups.',
  unpriced_feature: '"speed" must be "standard" or absent: other speeds have no price.',
  unsupported_input:
    '"gpt-x" does not read images: messages[3].content[1] is an image. Leave it out, or use another model.',
  thread_unsupported_request:
    '"thread" is not supported: leave it out, and send all messages with each request.',
  ref_video_not_ready: 'The job of "ref_video_job_id" has no clip yet.',
  ref_video_mismatch: 'The job "ref_video_job_id" was made by another provider.',
  content_policy_violation: 'The request was refused by moderation.',
  invalid_api_key: 'This API key is unknown or was revoked.',
  account_suspended: 'This account is suspended. Contact support.',
  project_closed: 'The project of this API key was closed. Use a key of another project.',
  admin_token_unknown: 'This admin token is unknown.',
  admin_token_expired: 'The admin token "prometheus" (tok_…) expired at 2027-01-31T00:00:00.000Z.',
  admin_token_revoked: 'The admin token "prometheus" (tok_…) was revoked at 2027-01-15T08:00:00.000Z.',
  missing_scope: 'This needs an admin token with the scope "all". The token has the scope "read".',
  grants_per_day_exceeded:
    'This admin token may grant 50 USD a day, of which 40 USD was granted today. A grant of 25 USD does not fit into the rest of 10 USD. The day ends at 2027-01-16T00:00:00.000Z (UTC).',
  not_signed_in: 'You are not signed in, or your session has ended. Sign in again.',
  wrong_credentials: 'The e-mail address or the password is wrong.',
  code_needed: 'Enter the code of your authenticator app.',
  fresh_sign_in_needed: 'Sign in again, and repeat this within 5 minutes.',
  sign_in_failed: 'The sign-in at the provider did not succeed. Try again.',
  role_not_allowed: 'Your role "viewer" does not allow this. It needs the role "owner" or "operator".',
  cross_site_request: 'This request does not come from the console. Reload the page and try again.',
  last_owner: 'ada@example.com is the only owner who can sign in. Make another user an owner first.',
  link_ended: 'This link was used, has expired, or was replaced by a later one. Ask for a new one.',
  too_many_tries: 'Too many tries to sign in failed. Try again in 8 seconds, or ask for a new link.',
  account_closed: 'This account is closed. Contact support.',
  secret_ended:
    'This secret of the API key was rotated out at 2027-01-16T00:00:00.000Z. Use the new secret of the key.',
  key_disabled: 'This API key is disabled. Use another key, or ask for it to be enabled.',
  key_expired: 'This API key expired at 2027-01-01T00:00:00.000Z.',
  address_not_allowed: 'This API key may not be used from this address.',
  route_not_allowed: 'This API key may not use images. It may use chat_completions, embeddings.',
  insufficient_balance:
    'This request must hold 0.049182 USD: for about 9 input tokens and up to 4096 output tokens, the limit of the model, because `max_tokens` is not set. The available balance is 0.001 USD. Set `max_tokens` to 80 or less, or add funds.',
  budget_exceeded:
    'This API key has a budget of 5 USD a day, of which 0.01 USD is left. This request can cost up to 0.049182 USD. The budget resets at 2027-01-16T00:00:00Z.',
  model_not_found: 'There is no model "gpt-y". Did you mean "gpt-x"?',
  not_found: 'There is no account "adda". Did you mean "ada"?',
  method_not_allowed: 'This path does not support DELETE. Use GET, HEAD.',
  body_timeout: 'The body did not arrive in time.',
  headers_timeout: 'The request head did not arrive in time.',
  already_exists: 'The name "ada" is in use.',
  already_closed: 'The account "ada" is closed, so that it takes no credit.',
  account_not_empty:
    'The account "ada" is not empty: 5 USD is available. Take it with a debit of 5 USD. Then close the account again.',
  key_revoked: 'key_01m825x7cx000wt5grz2m9758h was revoked at 2027-01-15T00:00:00.000Z. Create another key.',
  rotation_running:
    'key_01m825x7cx000wt5grz2m9758h has two secrets until 2027-01-16T00:00:00.000Z: tg_live_Ab3d… and, before it, tg_live_9xYz…. Revoke one of the two before you rotate the key again, or wait.',
  last_secret:
    'tg_live_Ab3d… is the only secret of key_01m825x7cx000wt5grz2m9758h that works. Rotate the key, or revoke the key.',
  too_many_webhooks: 'There are already 20 webhooks of this owner. Remove one first.',
  webhook_off:
    'whk_01m7yafb7z000c1awn4tmfekz0 has been off since 2027-01-15T00:00:00.000Z, so it gets no messages. Switch it on first.',
  mail_off: 'No mail is sent, because TOLLGATE_SMTP_URL is not set. Set it and start the gateway again.',
  removals_not_allowed: 'This change would remove model "gpt-x".',
  catalog_changed: 'The catalog is at revision 8, and this change was made from revision 7.',
  idempotency_key_reuse: 'This Idempotency-Key was used for another request before.',
  video_not_ready: 'The clip is not ready.',
  content_archived: 'The clip was archived, or is damaged.',
  request_too_large:
    'The request body exceeds the limit of 64 MB. The gateway refused it, and called no provider.',
  unsupported_encoding: 'The content-encoding must be gzip, deflate or zstd.',
  range_not_satisfiable: 'The file has 91 bytes, and "Range" is outside of it.',
  balance_reserved: 'Running requests hold the money for this request. Retry after a delay.',
  budget_reserved:
    'This API key has a budget of 5 USD a day, of which 0.01 USD is left. This request can cost up to 0.049182 USD. Running requests reserve what it needs. Retry when they have ended.',
  requests_per_minute: 'This API key may send 60 requests a minute. Retry in 1 s.',
  tokens_per_minute:
    'This API key may use 10000 tokens a minute, and this request can use 4200. Retry in 12 s.',
  concurrent_requests: 'This API key may have 5 open requests and jobs. Retry when one has ended.',
  rate_limited: 'The model is rate limited at its provider. Retry after a delay.',
  headers_too_large: 'The request head is too large.',
  server_error: SERVER_ERROR_MESSAGE,
  upstream_error: 'The model could not be reached, or failed to answer.',
  unavailable: 'The gateway cannot take requests now.',
  books_inconsistent: 'The books of this account have a problem. Contact support.',
  overloaded: 'Too many large bodies arrive at the same time. Retry after a delay.',
  upstream_timeout: 'The model did not answer in time.',
}

/** Errors of the HTTP server, which can meet any request. */
const ofServer: readonly ErrorCode[] = [
  'malformed_request',
  'headers_timeout',
  'headers_too_large',
  'server_error',
  'unavailable',
]
const ofBody: readonly ErrorCode[] = [
  'invalid_json',
  'invalid_field',
  'body_timeout',
  'request_too_large',
  'unsupported_encoding',
  'overloaded',
]
const ofTokens: readonly ErrorCode[] = [
  'invalid_api_key',
  'admin_token_unknown',
  'admin_token_expired',
  'admin_token_revoked',
  'missing_scope',
]
const ofAccess: Readonly<Record<Operation['access'], readonly ErrorCode[]>> = {
  customer: [
    'invalid_api_key',
    'secret_ended',
    'account_closed',
    'account_suspended',
    'project_closed',
    'key_disabled',
    'key_expired',
    'address_not_allowed',
    'route_not_allowed',
    'requests_per_minute',
    'books_inconsistent',
  ],
  admin: ofTokens,
  metrics: ofTokens,
  everyone: [],
}

/** A refusal by a provider, with the provider's status and code. */
const REFUSAL = {
  message: 'The image cannot be read.',
  type: 'invalid_request_error',
  code: 'image_parse_error',
  param: null,
}

/** The schemas that errors share. */
export const errorSchemas: Members = {
  ProviderError: open({
    error: open({ message: text, type: text, param: nullable(text) }, { code: nullable(text) }),
  }),
  MessagesError: open({
    type: always('error'),
    error: open(
      { message: text, type: text },
      { code: nullable(text), param: nullable(text), details: open({}) },
    ),
  }),
}

/**
 * All error replies of an operation, by their statuses. Statuses of text routes include any other 4xx of a provider.
 */
export function errorReplies(operation: Operation): Record<string, Reply> {
  const { access, body, errors, style, errorExtensions = {}, otherErrors = {} } = operation
  const codes = new Set([...ofServer, ...ofAccess[access], ...(body === undefined ? [] : ofBody), ...errors])
  const replies: Record<string, Reply> = {}
  for (const status of new Set([
    ...[...codes].map(code => statusIn(style, code)),
    ...Object.keys(otherErrors).map(Number),
  ])) {
    const own = [...codes].filter(code => statusIn(style, code) === status)
    replies[status] = errorReply(own, { style, extensions: errorExtensions, other: otherErrors[status] })
  }
  const isRelayed = style === 'text' || style === 'messages'
  // Any other 4xx of the provider.
  if (isRelayed) replies['4XX'] = errorReply([], { style, extensions: {}, other: undefined })
  return replies
}

/** On media routes, a model that cannot be used is a bad request. */
function statusIn(style: Operation['style'], code: ErrorCode): number {
  return style === 'media' && code === 'model_not_found' ? 400 : statusOfError(code)
}

type Shape = {
  readonly style: Operation['style']
  readonly extensions: NonNullable<Operation['errorExtensions']>
  readonly other: Content | undefined
}

function errorReply(codes: readonly ErrorCode[], { style, extensions, other }: Shape): Reply {
  const ofCodes = codes.map(code => [code, errorExample(code, style, extensions[code] ?? {})] as const)
  const examples = { ...Object.fromEntries(ofCodes), ...other?.examples }
  const names = Object.keys(examples)
  const own = codes.length === 0 && other !== undefined ? [] : ownSchemas(codes, style, extensions)
  const schemas = [...own, ...(other === undefined ? [] : [other.schema])]
  const [schema] = schemas
  const content = {
    schema: schemas.length === 1 && schema !== undefined ? schema : { anyOf: schemas },
    examples: names.length === 0 ? { refusal: refusalIn(style) } : examples,
  }
  const description =
    names.length === 0
      ? 'The provider refused the request, with its status, message and code.'
      : names.map(name => `\`${name}\``).join(', ')
  return { description, content: { 'application/json': content } }
}

/** On text routes, errors of providers pass through with their own codes. */
function ownSchemas(
  codes: readonly ErrorCode[],
  style: Operation['style'],
  extensions: Shape['extensions'],
): Schema[] {
  if (style === 'messages') return [ref('MessagesError')]
  if (style === 'text') return [ref('ProviderError')]
  return codes.length === 0 ? [] : [errorSchema(codes, style, extensions)]
}

function refusalIn(style: Operation['style']): object {
  return style === 'messages' ? messagesErrorBody({ error: REFUSAL }) : { error: REFUSAL }
}

const FOR_ANTHROPIC = 'Only in replies to clients that send `anthropic-version`.'

function errorSchema(
  codes: readonly ErrorCode[],
  style: Operation['style'],
  extensions: Shape['extensions'],
): Schema {
  const types = [...new Set(codes.map(code => typeIn(style, code)))]
  return object(
    {
      error: object(
        { message: text, type: words(types), code: words(codes), param: nullable(text) },
        { details: about(FOR_ANTHROPIC, object({ error_code: words(codes) })) },
      ),
    },
    {
      type: about(FOR_ANTHROPIC, always('error')),
      ...(Object.assign({}, ...codes.map(code => extensions[code] ?? {})) as Members),
    },
  )
}

function typeIn(style: Operation['style'], code: ErrorCode): string {
  return style === 'media' && code === 'model_not_found' ? 'invalid_request_error' : errorTypeOf[code]
}

function errorExample(code: ErrorCode, style: Operation['style'], extensions: Members): object {
  const param = code === 'invalid_field' ? 'n' : code === 'ambiguous_field' ? 'model' : null
  const error = { message: sentenceOf[code], type: typeIn(style, code), code, param }
  const body = {
    error,
    ...Object.fromEntries(Object.entries(extensions).flatMap(([name, schema]) => firstExample(name, schema))),
  }
  return style === 'messages' ? messagesErrorBody(body) : body
}

function firstExample(name: string, { examples }: Schema): [string, unknown][] {
  return Array.isArray(examples) ? [[name, examples[0]]] : []
}
