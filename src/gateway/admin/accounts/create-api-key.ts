import type { Account } from '../../../domain/accounts/account.ts'
import type { ApiKey, KeyPatch } from '../../../domain/accounts/api-key.ts'
import type { Project } from '../../../domain/accounts/project.ts'
import { apiKeyPrefix, apiKeyText, KEY_BYTES } from '../../../domain/accounts/api-key-text.ts'
import { formatId, type Id } from '../../../domain/ids.ts'
import type { LimitsPatch } from '../../../domain/limits/limits-row.ts'
import type { ApiKeys } from '../../ports/access/api-keys.ts'
import type { Clock } from '../../ports/clock.ts'
import { checkedName } from './create-account.ts'
import { auditOf, type Actor } from '../operator.ts'

/** The name of a key without a name. */
const UNNAMED = 'default'

/**
 * Creates an API key for an account. `text` is the key itself. It is returned only here, and the store keeps its hash.
 */
export async function createApiKey(
  request: Pick<KeyPatch, 'settings' | 'limits'> & {
    readonly account: Account
    readonly project?: Project | undefined
    readonly name?: string | undefined
    /** Replaces the defaults that it names, as `settings` does. */
    readonly limits?: LimitsPatch | undefined
    readonly actor: Actor
  },
  ports: {
    readonly apiKeys: Pick<ApiKeys, 'create'>
    readonly newId: () => Id
    readonly clock: Clock
    /** Cryptographically secure random bytes. */
    readonly randomBytes: (count: number) => Uint8Array
    readonly sha256: (text: string) => Uint8Array
  },
): Promise<{ readonly apiKey: ApiKey; readonly text: string }> {
  const name = checkedName(request.name ?? UNNAMED)
  const text = apiKeyText(ports.randomBytes(KEY_BYTES))
  const publicId = formatId('key', ports.newId())
  const { account, settings, limits } = request
  const apiKey = await ports.apiKeys.create({
    publicId,
    accountId: account.id,
    projectId: request.project?.id,
    name,
    hash: ports.sha256(text),
    prefix: apiKeyPrefix(text),
    ...(settings !== undefined && { settings }),
    ...(limits !== undefined && { limits }),
    audit: auditOf({ actor: request.actor, action: 'key.create', subject: publicId }, ports.clock),
  })
  return { apiKey, text }
}
