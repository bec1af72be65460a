import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { Fingerprint } from '../../gateway/ports/requests/replays.ts'

/** The beginning of all keys, with the version of the form of their values. */
const NAMESPACE = 'tollgate:1'
const PURPOSE = 'tollgate shared cache 1'
const KEY_BYTES = 32
const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** The bytes that sealing adds to a value. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES

type EntryKind = 'answer' | 'flight'

/** A place in the cache, and the key that seals its value. */
export type SealedEntry = {
  /** The key in the server. It says nothing about the request. */
  readonly name: string
  /** Encrypts the parts of a value, one after another. */
  seal(parts: readonly (string | Uint8Array)[]): Uint8Array
  /** Undefined if the value was not sealed with our key, or for another place. */
  open(sealed: Uint8Array): Uint8Array | undefined
}

/**
 * Returns a function that makes the entry of a fingerprint. The name and the key of an entry are made of the secret key
 * and the fingerprint, so another place has another key. The nonces of one key for all entries would begin to repeat
 * after some billions of answers. The public id of the API key is of one account and of one set of books only, so
 * gateways with other books share nothing, even with the same secret key.
 */
export function sealedEntries(
  secretKey: Uint8Array,
): (kind: EntryKind, fingerprint: Fingerprint) => SealedEntry {
  const masterKey = new Uint8Array(hkdfSync('sha256', secretKey, '', PURPOSE, KEY_BYTES))
  return (kind, { apiKey, apiKeyId, route, digest }) => {
    const hash = createHmac('sha512', masterKey)
      .update(`${kind} ${apiKey} ${apiKeyId} ${route} ${digest}`)
      .digest()
    const name = `${NAMESPACE}:${kind}:${hash.toString('base64url', 0, KEY_BYTES)}`
    return entryOf(name, hash.subarray(KEY_BYTES))
  }
}

function entryOf(name: string, key: Uint8Array): SealedEntry {
  return {
    name,
    seal(parts) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(Buffer.from(name))
      const content = parts.map(part =>
        typeof part === 'string' ? cipher.update(part, 'utf8') : cipher.update(part),
      )
      return Buffer.concat([nonce, ...content, cipher.final(), cipher.getAuthTag()])
    },
    open(sealed) {
      if (sealed.byteLength < SEAL_BYTES) return undefined
      const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(Buffer.from(name))
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
      const content = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES))
      try {
        decipher.final()
      } catch {
        return undefined
      }
      return content
    },
  }
}
