import { passwordProblem } from '../../../domain/admin/password.ts'
import { linkMs, type SignInLink, type User } from '../../../domain/admin/user.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { formatId } from '../../../domain/ids.ts'
import { isMailAddress, MAIL_ADDRESS } from '../../../domain/mail/mail-address.ts'
import type { SignInLinks } from '../../ports/access/users.ts'
import { checkedName } from '../accounts/create-account.ts'
import { auditOf, type Actor } from '../operator.ts'
import {
  openSession,
  requireCode,
  secretText,
  type Browser,
  type SessionPorts,
  type SignedIn,
  type SignInPorts,
} from './sign-in.ts'

export type LinkPorts = Pick<SessionPorts, 'randomBytes' | 'sha256' | 'clock'> & {
  readonly signInLinks: SignInLinks
  /** The address of the page for the text of a link. */
  readonly linkUrl: (text: string) => string
}

/** A new link. Its text is returned only here. */
export type NewLink = { readonly url: string; readonly text: string; readonly expiresAtMs: number }

const LINK_BYTES = 32

/** Makes the link with which the first owner of a gateway without users signs in. Earlier ones stay valid. */
export function makeFirstLink(ports: LinkPorts): Promise<NewLink> {
  return makeLink({ kind: 'first' }, ports)
}

/**
 * Makes a link with which a user sets a password: an invitation if the user has not signed in yet. It replaces earlier
 * links of the user. The password stays valid until the link is used. Throws `invalid_field` for a disabled user.
 */
export async function makeUserLink(user: User, actor: Actor, ports: LinkPorts): Promise<NewLink> {
  if (user.disabledAtMs !== null)
    throw new GatewayError('invalid_field', `${user.email} is disabled. Enable the user first.`, {
      param: 'user',
    })
  const kind = user.hasPassword || user.identity !== null ? 'reset' : 'invitation'
  return makeLink({ kind, user, actor }, ports)
}

type LinkOf =
  | { readonly kind: 'first' }
  | { readonly kind: 'invitation' | 'reset'; readonly user: User; readonly actor: Actor }

async function makeLink(
  of: LinkOf,
  { signInLinks, linkUrl, randomBytes, sha256, clock }: LinkPorts,
): Promise<NewLink> {
  const text = secretText(randomBytes(LINK_BYTES))
  const createdAtMs = clock.now()
  const expiresAtMs = createdAtMs + linkMs[of.kind]
  const change =
    of.kind === 'first'
      ? undefined
      : { actor: of.actor, action: 'user.link', subject: of.user.publicId, detail: of.kind }
  await signInLinks.create({
    hash: sha256(text),
    kind: of.kind,
    user: of.kind === 'first' ? undefined : of.user,
    createdAtMs,
    expiresAtMs,
    audit: change && auditOf(change, clock),
  })
  return { url: linkUrl(text), text, expiresAtMs }
}

/** What a link is for. Throws `link_ended`. */
export async function readLink(
  text: string,
  { signInLinks, sha256, clock }: Pick<LinkPorts, 'signInLinks' | 'sha256' | 'clock'>,
): Promise<SignInLink> {
  return (await signInLinks.find(sha256(text), clock.now())) ?? ended()
}

/** What a person enters on the page of a link. The first owner also enters an e-mail address. */
export type LinkForm = {
  readonly text: string
  readonly email: string | undefined
  readonly name: string | undefined
  readonly password: string
  /** A one-time code, if the user has switched them on: a link by e-mail does not replace the phone. */
  readonly code: string | undefined
}

/**
 * Uses a link once: sets the password, ends all sessions of the user, and signs in. Throws `link_ended`,
 * `invalid_field`, `code_needed` and `wrong_credentials`; the link then stays valid.
 */
export async function useLink(
  form: LinkForm,
  browser: Browser,
  ports: SignInPorts & Pick<LinkPorts, 'signInLinks'>,
): Promise<SignedIn> {
  const link = await readLink(form.text, ports)
  const hash = ports.sha256(form.text)
  const at = { nowMs: ports.clock.now() }
  if (link.kind === 'first') {
    const email = checkedEmail(form.email)
    const name = checkedUserName(form.name ?? email)
    const passwordHash = await ports.passwords.hash(checkedPassword(form.password, email))
    const publicId = formatId('usr', ports.newId())
    const owner = await ports.signInLinks.useFirst(hash, { publicId, email, name, passwordHash }, at)
    return openSession(owner ?? ended(), 'by the first link', browser, ports)
  }
  const { email, publicId } = link.user
  const name = form.name === undefined ? undefined : checkedUserName(form.name)
  const password = checkedPassword(form.password, email)
  const totpSecret = (await ports.users.credentials(email))?.totpSecret ?? null
  if (totpSecret !== null) {
    const trier = { user: `link ${publicId}`, address: browser.address }
    ports.pace.begin(trier)
    await requireCode(form.code, { user: link.user, totpSecret, trier }, ports)
    ports.pace.succeeded(trier)
  }
  const passwordHash = await ports.passwords.hash(password)
  const user = await ports.signInLinks.use(hash, { passwordHash, name }, at)
  return openSession(user ?? ended(), 'by a link', browser, ports)
}

function ended(): never {
  throw new GatewayError(
    'link_ended',
    'This link was used, has expired, or was replaced by a later one. Ask for a new one.',
    { shouldRetry: false },
  )
}

/** An e-mail address in lower case. Throws `invalid_field`. */
export function checkedEmail(text: string | undefined): string {
  const email = text?.trim().toLowerCase() ?? ''
  if (!isMailAddress(email)) throw wrong('email', `must be ${MAIL_ADDRESS}`)
  return email
}

/** The name of a person, which is shown. Throws `invalid_field`. */
export function checkedUserName(text: string): string {
  return checkedName(text)
}

/** Throws `invalid_field` for a password that is easy to guess. */
export function checkedPassword(password: string, email: string, param = 'password'): string {
  const problem = passwordProblem(password, email)
  if (problem !== undefined) throw wrong(param, problem)
  return password
}

function wrong(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_field', `"${param}" ${problem}.`, { param })
}
