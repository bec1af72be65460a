import { userState, type User } from '../../../domain/admin/user.ts'
import { GatewayError } from '../../../domain/errors.ts'
import type { OpenIdAttempt, OpenIdPerson, OpenIdProvider } from '../../ports/access/sign-in.ts'
import { callerOfUser } from '../operator.ts'
import { openSession, secretText, type Browser, type SignedIn, type SignInPorts } from './sign-in.ts'

type OpenIdPorts = Pick<
  SignInPorts,
  'users' | 'userSessions' | 'newId' | 'randomBytes' | 'sha256' | 'clock'
> & {
  readonly provider: OpenIdProvider
  readonly redirectUri: string
}

const SECRET_BYTES = 32

/**
 * Starts a sign-in at the provider. `secret` is for a cookie of the browser: state, nonce and code verifier are derived
 * from it, so that only this browser can finish, and the gateway stores nothing for people who never come back.
 */
export async function startOpenId(
  ports: OpenIdPorts,
): Promise<{ readonly secret: string; readonly url: string }> {
  const secret = secretText(ports.randomBytes(SECRET_BYTES))
  return { secret, url: await ports.provider.authorizationUrl(attemptOf(secret, ports)) }
}

/**
 * Finishes a sign-in at the provider. A person is known by the issuer and the subject. The first sign-in of an invited
 * user finds the user by the e-mail address, if the provider has verified it. It creates no user. Throws
 * `sign_in_failed`.
 */
export async function finishOpenId(
  { secret, returnedTo }: { readonly secret: string | undefined; readonly returnedTo: URL },
  browser: Browser,
  ports: OpenIdPorts,
): Promise<SignedIn> {
  if (secret === undefined)
    throw failed('not_started', 'It was started in another browser, or too long ago. Try again.')
  const person = await ports.provider.person(attemptOf(secret, ports), returnedTo)
  const user = (await ports.users.find({ identity: person.identity })) ?? (await linkedUser(person, ports))
  if (userState(user) !== 'active') throw failed('disabled', 'This user is disabled.')
  return openSession(user, `with ${ports.provider.name}`, browser, ports)
}

function attemptOf(secret: string, { sha256, redirectUri }: OpenIdPorts): OpenIdAttempt {
  const derived = (use: string) => secretText(sha256(`${use} ${secret}`))
  return { redirectUri, state: derived('state'), nonce: derived('nonce'), codeVerifier: derived('verifier') }
}

/** Users who have a password are not found by an address: their account at the provider could be somebody else's. */
async function linkedUser(
  { identity, verifiedEmail }: OpenIdPerson,
  { users, clock }: OpenIdPorts,
): Promise<User> {
  const user = verifiedEmail === undefined ? undefined : await users.find({ email: verifiedEmail })
  if (user === undefined || userState(user) !== 'invited')
    throw failed(
      'not_invited',
      'Nobody with your verified e-mail address was invited. Ask an owner for an invitation.',
    )
  const by = { actor: callerOfUser(user).actor, atMs: clock.now() }
  if (!(await users.linkIdentity(user.publicId, identity, by))) throw failed('other', 'Try again.')
  return { ...user, identity }
}

/** Why a sign-in at the provider was refused, for the page. Texts of the provider are never shown. */
type Reason = 'not_started' | 'not_invited' | 'disabled' | 'other'

function failed(reason: Reason, help: string): GatewayError {
  return new GatewayError('sign_in_failed', `The sign-in at the provider did not succeed. ${help}`, {
    shouldRetry: false,
    extensions: { reason },
  })
}

/** The reason of a refused sign-in. `other` if the provider, or its answer, is the reason. */
export function reasonOf(refusal: GatewayError): Reason {
  return (refusal.extras.extensions?.['reason'] as Reason | undefined) ?? 'other'
}
