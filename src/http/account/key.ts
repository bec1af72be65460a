import type { Authenticated } from '../../gateway/ports/api-keys.ts'
import type { Limits } from '../../gateway/ports/limits.ts'
import { limitsOf } from '../limits-json.ts'
import { jsonReply, type HttpReply } from '../request-context.ts'

/** `GET /v1/key`: the key of the request, with its limits and those of its account. */
export async function readKey(
  { account, apiKey }: Authenticated,
  limits: Pick<Limits, 'of' | 'budgets'>,
): Promise<HttpReply> {
  const accountId = account.id
  const [ofKey, ofAccount] = await Promise.all([
    limitsOf({ accountId, apiKeyId: apiKey.id }, limits),
    limitsOf({ accountId, apiKeyId: undefined }, limits),
  ])
  return jsonReply(200, {
    object: 'key',
    id: apiKey.publicId,
    name: apiKey.name,
    created_at: new Date(apiKey.createdAtMs).toISOString(),
    ...ofKey,
    account: ofAccount,
  })
}
