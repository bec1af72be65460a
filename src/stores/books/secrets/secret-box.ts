import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Encrypts texts at rest. Each text is bound to its owner, so it cannot be moved to another one. */
export type SecretBox = {
  /** The result is different for every call. */
  seal(text: string, boundTo: string): Uint8Array
  /** Undefined if the key is wrong, the bytes were changed, or they are bound to another owner. */
  open(sealed: Uint8Array, boundTo: string): string | undefined
}

export type SecretKey = {
  /** 32 bytes. */
  readonly bytes: Uint8Array
  /** Whether the key was created now, because there was none. */
  readonly isNew: boolean
  /** Stores a new key. Called before anything is encrypted with it. Repeating it changes nothing. */
  readonly keep?: () => void
}

const KEY_BYTES = 32
const CIPHER = 'aes-256-gcm'
/** The format of the following bytes. */
const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + NONCE_BYTES

const encoder = new TextEncoder()

/**
 * AES-256-GCM with a key of 32 bytes. Sealed bytes are: version, nonce, ciphertext, tag. `keep` is called before
 * anything is sealed.
 */
export function secretBox(key: Uint8Array, keep: SecretKey['keep'] = () => {}): SecretBox {
  if (key.byteLength !== KEY_BYTES) {
    throw new RangeError(`The secret key has ${key.byteLength} bytes; it must have ${KEY_BYTES}.`)
  }
  return {
    seal(text, boundTo) {
      keep()
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(encoder.encode(boundTo))
      const content = [cipher.update(text, 'utf8'), cipher.final()]
      return joined([Uint8Array.of(VERSION), nonce, ...content, cipher.getAuthTag()])
    },
    open(sealed, boundTo) {
      if (sealed[0] !== VERSION || sealed.byteLength < HEAD_BYTES + TAG_BYTES) return undefined
      const nonce = sealed.subarray(1, HEAD_BYTES)
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(encoder.encode(boundTo))
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
      const text = decipher.update(sealed.subarray(HEAD_BYTES, -TAG_BYTES))
      try {
        return new TextDecoder('utf-8', { ignoreBOM: true }).decode(joined([text, decipher.final()]))
      } catch {
        return undefined
      }
    },
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.byteLength, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.byteLength
  }
  return bytes
}
