import { isOperatorStaff, userState, type Session, type User } from '../../../domain/admin/user.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { formatId, type Id } from '../../../domain/ids.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OneTimeCodes, Passwords } from '../../ports/access/sign-in.ts'
import type { Users, UserSessions } from '../../ports/access/users.ts'
import { auditOf, callerOfUser, type AdminCaller } from '../operator.ts'
import type { SignInPace, Trier } from './sign-in-pace.ts'

export type SessionPorts = {
  readonly userSessions: UserSessions
  readonly newId: () => Id
  /** Cryptographically secure random bytes. */
  readonly randomBytes: (count: number) => Uint8Array
  readonly sha256: (text: string) => Uint8Array
  readonly clock: Clock
}

export type SignInPorts = SessionPorts & {
  readonly users: Users
  readonly passwords: Passwords
  readonly oneTimeCodes: OneTimeCodes
  readonly pace: SignInPace
}

/** The browser of a person, as far as the gateway knows it. */
export type Browser = {
  readonly address: string
  readonly userAgent: string
  /** The text of its cookie, which may have ended. */
  readonly cookie: string | undefined
}

/** A new session. `text` is the text of its cookie, which is returned only here. */
export type SignedIn = { readonly user: User; readonly session: Session; readonly text: string }

/**
 * Signs a person in with an e-mail address, a password and, if the user has switched them on, a one-time code. An
 * unknown address, a wrong password and a disabled user get the same answer after the same work. Throws
 * `wrong_credentials`, `code_needed`, `too_many_tries`, and `unavailable` if too many people sign in at once.
 */
export async function signIn(
  asked: { readonly email: string; readonly password: string; readonly code: string | undefined },
  browser: Browser,
  ports: SignInPorts,
): Promise<SignedIn> {
  const email = asked.email.trim().toLowerCase()
  const known = await ports.users.credentials(email)
  const trier = await trierOf(email, known?.user, browser, ports)
  ports.pace.begin(trier)
  const isRight = await ports.passwords.matches(asked.password, known?.passwordHash ?? null)
  if (known === undefined || !isRight || userState(known.user) !== 'active')
    throw new GatewayError('wrong_credentials', 'The e-mail address or the password is wrong.', {
      shouldRetry: false,
    })
  const { user, totpSecret } = known
  if (totpSecret !== null) await requireCode(asked.code, { user, totpSecret, trier }, ports)
  ports.pace.succeeded(trier)
  return openSession(
    user,
    totpSecret === null ? 'with a password' : 'with a password and a code',
    browser,
    ports,
  )
}

/**
 * Tries from an address at which the user signed in before are counted apart, so that nobody else's tries can make the
 * user wait there.
 */
async function trierOf(
  email: string,
  user: User | undefined,
  { address }: Browser,
  { userSessions }: SignInPorts,
): Promise<Trier> {
  // Id 0 is no user's, so an unknown address takes as long.
  const isKnown = await userSessions.isKnownAddress(user?.id ?? 0, address)
  return { user: isKnown ? `${email} ${address}` : email, address }
}

/** Throws unless the code is right, and was not used before. */
export async function requireCode(
  code: string | undefined,
  of: { readonly user: User; readonly totpSecret: string; readonly trier: Trier },
  { users, oneTimeCodes, pace, clock }: Pick<SignInPorts, 'users' | 'oneTimeCodes' | 'pace' | 'clock'>,
): Promise<void> {
  if (code === undefined || code.trim() === '') {
    // The password is right, so the question for the code is no failed try. Wrong codes before it still count.
    pace.undo(of.trier)
    throw new GatewayError('code_needed', 'Enter the code of your authenticator app.', {
      param: 'code',
      shouldRetry: false,
    })
  }
  const step = oneTimeCodes.stepOf(code, of.totpSecret, clock.now())
  if (step !== undefined && (await users.useTotpStep(of.user.publicId, step))) return
  throw new GatewayError(
    'wrong_credentials',
    'The code is wrong, or was used before. Wait for the next one.',
    {
      param: 'code',
      shouldRetry: false,
    },
  )
}

const SESSION_BYTES = 32
const USER_AGENT_CHARS_MAX = 200

/** Opens a session with a new cookie, and ends the one that the browser had. */
export async function openSession(
  user: User,
  how: string,
  { address, userAgent, cookie }: Browser,
  { userSessions, newId, randomBytes, sha256, clock }: SessionPorts,
): Promise<SignedIn> {
  const text = secretText(randomBytes(SESSION_BYTES))
  const change = {
    actor: callerOfUser(user).actor,
    action: 'user.sign_in',
    subject: user.publicId,
    detail: how,
  }
  const session = await userSessions.open({
    publicId: formatId('ses', newId()),
    user,
    hash: sha256(text),
    address,
    userAgent: userAgent.slice(0, USER_AGENT_CHARS_MAX),
    replaces: cookie === undefined ? undefined : sha256(cookie),
    audit: auditOf(change, clock),
  })
  return { user, session, text }
}

/** The session of a cookie, with its user as a caller of the admin API. */
export type AdmittedSession = {
  readonly user: User
  readonly session: Session
  readonly caller: AdminCaller
}

/** Admits a signed-in browser, and notes the use of its session. Throws `not_signed_in`. */
export async function admitSession(
  cookie: string | undefined,
  { userSessions, sha256, clock }: Pick<SessionPorts, 'userSessions' | 'sha256' | 'clock'>,
): Promise<AdmittedSession> {
  const nowMs = clock.now()
  const found = cookie === undefined ? undefined : await userSessions.find(sha256(cookie), nowMs)
  if (found === undefined || found.user.disabledAtMs !== null)
    throw new GatewayError(
      'not_signed_in',
      'You are not signed in, or your session has ended. Sign in again.',
      {
        shouldRetry: false,
      },
    )
  userSessions.noteUse(found.session, nowMs)
  return { ...found, caller: callerOfUser(found.user) }
}

/** Throws `role_not_allowed` for the people of customers: the admin API is for those of the operator. */
export function requireStaff(user: User): void {
  if (isOperatorStaff(user)) return
  throw new GatewayError('role_not_allowed', 'Only the people of the operator may use the admin API.', {
    shouldRetry: false,
  })
}

/**
 * The token that the console sends with each change. It is derived from the cookie, which scripts cannot read, so it
 * needs no place in the store and changes with the cookie.
 */
export function csrfToken(cookie: string, { sha256 }: Pick<SessionPorts, 'sha256'>): string {
  return secretText(sha256(`csrf ${cookie}`))
}

/** Bytes as text for cookies and links. */
export function secretText(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: 'base64url', omitPadding: true })
}
