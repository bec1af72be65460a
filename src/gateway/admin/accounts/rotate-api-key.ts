import type { ApiKey } from '../../../domain/accounts/api-key.ts'
import { apiKeyPrefix, apiKeyText, KEY_BYTES } from '../../../domain/accounts/api-key-text.ts'
import { OLD_SECRET_MS_MAX } from '../../../domain/accounts/key-secrets.ts'
import { GatewayError } from '../../../domain/errors.ts'
import type { ApiKeys } from '../../ports/access/api-keys.ts'
import type { Actor } from '../operator.ts'

/** How long the old secret works after a rotation, unless the operator says otherwise. */
export const OLD_SECRET_MS = 24 * 3_600_000

/**
 * Gives a key a new secret. `text` is the secret itself. It is returned only here, and the store keeps its hash. The
 * secret before it ends at `oldEndsAtMs`, or at once if that is now. Throws `invalid_field` for another instant that is
 * not within `OLD_SECRET_MS_MAX`, and what `ApiKeys.rotate` throws.
 */
export async function rotateApiKey(
  request: {
    readonly key: ApiKey
    readonly oldEndsAtMs: number
    readonly nowMs: number
    /** The field that has the instant, for errors. */
    readonly param: string
    readonly actor: Actor
  },
  ports: {
    readonly apiKeys: Pick<ApiKeys, 'rotate'>
    /** Cryptographically secure random bytes. */
    readonly randomBytes: (count: number) => Uint8Array
    readonly sha256: (text: string) => Uint8Array
  },
): Promise<{ readonly apiKey: ApiKey; readonly text: string }> {
  const { key, oldEndsAtMs, nowMs, param, actor } = request
  if (oldEndsAtMs < nowMs || oldEndsAtMs > nowMs + OLD_SECRET_MS_MAX)
    throw new GatewayError('invalid_field', `"${param}" must be within the next 30 days.`, { param })
  const text = newText(key, ports.randomBytes)
  const secret = { hash: ports.sha256(text), prefix: apiKeyPrefix(text), oldEndsAtMs }
  return { apiKey: await ports.apiKeys.rotate(key.publicId, secret, { actor, atMs: nowMs }), text }
}

/** A text that begins unlike the other secrets of the key, because their first characters name them. */
function newText({ secrets }: ApiKey, randomBytes: (count: number) => Uint8Array): string {
  for (;;) {
    const text = apiKeyText(randomBytes(KEY_BYTES))
    if (secrets.every(({ prefix }) => prefix !== apiKeyPrefix(text))) return text
  }
}
