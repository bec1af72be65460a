/** HMAC-SHA256 of a text in UTF-8. */
export type Hmac = (key: Uint8Array, text: string) => Uint8Array

const SECRET_PREFIX = 'whsec_'
/** The specification asks for 24 to 64. */
export const SECRET_BYTES = 32

/** A new secret in the form of the Standard Webhooks specification: a prefix and base64. */
export function secretText(bytes: Uint8Array): string {
  return `${SECRET_PREFIX}${btoa(String.fromCharCode(...bytes))}`
}

/**
 * The headers of a message by the Standard Webhooks specification. Each secret signs, so that a receiver can have the
 * old one or the new one during a rotation. The signature covers the time of the attempt, so each attempt has its own.
 */
export function signedHeaders(
  { id, body, secrets }: { readonly id: string; readonly body: string; readonly secrets: readonly string[] },
  { nowMs, hmac }: { readonly nowMs: number; readonly hmac: Hmac },
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(nowMs / MS_A_SECOND))
  const signatures = secrets.map(secret => {
    const signature = hmac(keyOf(secret), `${id}.${timestamp}.${body}`)
    return `v1,${btoa(String.fromCharCode(...signature))}`
  })
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}

const MS_A_SECOND = 1000

function keyOf(secret: string): Uint8Array {
  const base64 = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret
  return Uint8Array.from(atob(base64), char => char.charCodeAt(0))
}
