import { SIGN_IN_FRESH_MS, type User } from '../../../domain/admin/user.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { callerOfUser } from '../operator.ts'
import { checkedPassword } from './links.ts'
import {
  openSession,
  type AdmittedSession,
  type Browser,
  type SignedIn,
  type SignInPorts,
} from './sign-in.ts'

// What signed-in people change of how they sign in. Whoever has only found an unlocked browser must not get far.

/**
 * Replaces the password of a user, who knows the current one. Ends all sessions, and signs this browser in again.
 * Throws `wrong_credentials`, `invalid_field` and `too_many_tries`.
 */
export async function changePassword(
  user: User,
  passwords: { readonly current: string; readonly next: string },
  browser: Browser,
  ports: SignInPorts,
): Promise<SignedIn> {
  await requirePassword(user, passwords.current, { browser, param: 'current' }, ports)
  const hash = await ports.passwords.hash(checkedPassword(passwords.next, user.email, 'new'))
  const by = { actor: callerOfUser(user).actor, atMs: ports.clock.now() }
  const changed = await ports.users.setPassword(user.publicId, hash, by)
  return openSession(changed, 'with a new password', browser, ports)
}

/** Who asks to change one-time codes, and what proves it: the password, or a fresh sign-in of a user without one. */
type Proof = Pick<AdmittedSession, 'user' | 'session'> & {
  readonly password: string | undefined
  readonly browser: Browser
}

/**
 * Proposes a secret of one-time codes. It counts after `confirmTotp`. Throws `already_exists` if codes are on, and as
 * `removeTotp` does: a found session must not be able to lock its user out.
 */
export async function proposeTotp(
  proof: Proof,
  issuer: string,
  ports: SignInPorts,
): Promise<{ readonly secret: string; readonly uri: string }> {
  const { user } = proof
  if (user.hasTotp)
    throw new GatewayError('already_exists', 'One-time codes are on. Switch them off first.', {
      shouldRetry: false,
    })
  await requireProof(proof, ports)
  const { users, oneTimeCodes } = ports
  const secret = oneTimeCodes.newSecret()
  await users.proposeTotp(user.publicId, secret)
  return { secret, uri: oneTimeCodes.uri(secret, { email: user.email, issuer }) }
}

/** Switches one-time codes on, with a first code of the proposed secret. Throws `not_found` and `wrong_credentials`. */
export async function confirmTotp(
  user: User,
  code: string,
  { users, oneTimeCodes, clock }: Pick<SignInPorts, 'users' | 'oneTimeCodes' | 'clock'>,
): Promise<User> {
  const secret = await users.proposedTotp(user.publicId)
  if (secret === undefined) throw new GatewayError('not_found', 'There is no new secret. Make one first.')
  const nowMs = clock.now()
  const step = oneTimeCodes.stepOf(code, secret, nowMs)
  if (step === undefined)
    throw new GatewayError('wrong_credentials', 'The code is wrong. Enter the one that the app shows now.', {
      param: 'code',
      shouldRetry: false,
    })
  return users.confirmTotp(user.publicId, { secret, step }, { actor: callerOfUser(user).actor, atMs: nowMs })
}

/**
 * Switches one-time codes off. Ends all sessions, and signs this browser in again. Throws `wrong_credentials`,
 * `invalid_field` without a password, `too_many_tries`, and `fresh_sign_in_needed` for a user who has no password.
 */
export async function removeTotp(proof: Proof, ports: SignInPorts): Promise<SignedIn> {
  const { user, browser } = proof
  await requireProof(proof, ports)
  const by = { actor: callerOfUser(user).actor, atMs: ports.clock.now() }
  const changed = await ports.users.change(user.publicId, { hasTotp: false }, by)
  return openSession(changed, 'without one-time codes', browser, ports)
}

async function requireProof({ user, session, password, browser }: Proof, ports: SignInPorts): Promise<void> {
  if (user.hasPassword) {
    const param = 'password'
    if (password === undefined)
      throw new GatewayError('invalid_field', '"password" is missing; it must be your password.', { param })
    return requirePassword(user, password, { browser, param }, ports)
  }
  if (ports.clock.now() < session.createdAtMs + SIGN_IN_FRESH_MS) return
  throw new GatewayError('fresh_sign_in_needed', 'Sign in again, and repeat this within 5 minutes.', {
    shouldRetry: false,
  })
}

async function requirePassword(
  { email, publicId }: User,
  password: string,
  { browser, param }: { readonly browser: Browser; readonly param: string },
  { users, passwords, pace }: SignInPorts,
): Promise<void> {
  // Apart from the tries to sign in, so that others cannot make the user wait.
  const trier = { user: `signed in ${publicId}`, address: browser.address }
  pace.begin(trier)
  const known = await users.credentials(email)
  if (!(await passwords.matches(password, known?.passwordHash ?? null)))
    throw new GatewayError('wrong_credentials', 'This is not your password.', { param, shouldRetry: false })
  pace.succeeded(trier)
}
