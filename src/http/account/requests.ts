import { isApiKeyText, KEY_PREFIX_LENGTH } from '../../domain/accounts/api-key-text.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { ApiKeys, Authenticated } from '../../gateway/ports/access/api-keys.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { RequestRecords } from '../../gateway/ports/requests/request-records.ts'
import { findRequest, type FindRequestPorts } from '../../gateway/requests/find-request.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { jsonReply, type HttpReply } from '../request-context.ts'
import { readRequestQuery } from './request-filters.ts'
import { movementPage, recordJson, requestPage } from './requests-json.ts'

export type RequestPagePorts = FindRequestPorts & {
  readonly records: RequestRecords
  readonly apiKeys: Pick<ApiKeys, 'list'>
  readonly clock: Clock
}

/** `GET /v1/requests`: the billable requests of the account, newest first, with their ends. */
export async function listOwnRequests(
  { query }: IncomingRequest,
  { account }: Authenticated,
  { records, apiKeys, clock }: RequestPagePorts,
): Promise<HttpReply> {
  const parameters = new URLSearchParams(query)
  const asked = readRequestQuery(parameters, clock.now())
  const named = parameters.get('key')
  const apiKeyId = named === null ? undefined : await ownKey(named, account.id, apiKeys)
  const { requests, next } = await records.list({
    ...asked,
    accountId: account.publicId,
    ...(apiKeyId === undefined ? {} : { apiKeyId }),
  })
  return jsonReply(200, {
    object: 'list',
    data: requests.map(recordJson),
    has_more: next !== undefined,
    next: next ?? null,
  })
}

/** `GET /v1/requests/{id}`: why a request of the account was charged or refused. Any of its ids finds it. */
export async function readOwnRequest(
  { path }: Pick<IncomingRequest, 'path'>,
  { account }: Authenticated,
  ports: RequestPagePorts,
): Promise<HttpReply> {
  const found = await findRequest(lastSegment(path), account, ports)
  const reader = { isForOperator: false }
  return jsonReply(200, found.kind === 'request' ? requestPage(found, reader) : movementPage(found, reader))
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The id of a key of this account. No message repeats the name, because it may be the text of a key. */
async function ownKey(name: string, accountId: number, apiKeys: Pick<ApiKeys, 'list'>): Promise<string> {
  if (isApiKeyText(name) && name.length > KEY_PREFIX_LENGTH)
    throw wrongKey('must not be the text of a key, because URLs get into logs')
  const keys = await apiKeys.list(accountId)
  const [key, ...others] = keys.filter(
    ({ publicId, secrets }) => name === publicId || secrets.some(({ prefix }) => name === prefix),
  )
  if (key !== undefined && others.length === 0) return key.publicId
  throw wrongKey(
    `must be the id (key_…) or the first ${KEY_PREFIX_LENGTH} characters of one key of this account`,
  )
}

function wrongKey(problem: string): GatewayError {
  return new GatewayError('invalid_field', `"key" ${problem}.`, { param: 'key' })
}
