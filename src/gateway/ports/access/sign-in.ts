import type { Identity } from '../../../domain/admin/user.ts'

/** Hashes passwords. That takes much time and memory on purpose, so only a few are hashed at once. */
export interface Passwords {
  /** A new hash in the PHC format. Rejects with `unavailable` if too many wait. */
  hash(password: string): Promise<string>

  /**
   * Whether the password has this hash. Without a hash, it hashes as much and answers false, so that nobody learns from
   * the time which users there are. Rejects with `unavailable` if too many wait.
   */
  matches(password: string, hash: string | null): Promise<boolean>
}

/** One-time codes of an authenticator app, by RFC 6238: six digits that change every 30 seconds. */
export interface OneTimeCodes {
  /** A new secret in base 32. */
  newSecret(): string

  /** The `otpauth:` URI of a secret, which apps read from a QR code. */
  uri(secret: string, of: { readonly email: string; readonly issuer: string }): string

  /**
   * The number of the period of 30 seconds that a code belongs to: the current one, or the one before or after it.
   * Undefined for a wrong code.
   */
  stepOf(code: string, secret: string, nowMs: number): number | undefined
}

/** An OpenID provider. */
export interface OpenIdProvider {
  /** What the button says. */
  readonly name: string

  /** The address at the provider to which the browser is sent. Rejects with `sign_in_failed` if it does not answer. */
  authorizationUrl(attempt: OpenIdAttempt): Promise<string>

  /**
   * Who the provider says has signed in, after it sent the browser back to `returnedTo`. Rejects with `sign_in_failed`
   * unless everything belongs to this attempt, this client and this provider.
   */
  person(attempt: OpenIdAttempt, returnedTo: URL): Promise<OpenIdPerson>
}

/** One sign-in at an OpenID provider. Everything is derived from a secret that only the browser has. */
export type OpenIdAttempt = {
  readonly redirectUri: string
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

export type OpenIdPerson = {
  readonly identity: Identity
  /** In lower case. Undefined unless the provider has verified it. */
  readonly verifiedEmail: string | undefined
}
