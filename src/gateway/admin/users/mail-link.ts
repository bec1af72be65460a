import { userState, type User } from '../../../domain/admin/user.ts'
import { formatId, type Id } from '../../../domain/ids.ts'
import type { Mailer } from '../../ports/events/mail.ts'
import type { Users } from '../../ports/access/users.ts'
import { callerOfUser } from '../operator.ts'
import { makeUserLink, type LinkPorts, type NewLink } from './links.ts'
import type { SignInPace } from './sign-in-pace.ts'

export type MailLinkPorts = Pick<LinkPorts, 'clock'> & {
  readonly newId: () => Id
  /** Undefined without `TOLLGATE_SMTP_URL`. */
  readonly mailer: Mailer | undefined
}

/**
 * Mails a link to its user. It is not queued, because its text must not be stored. Resolves with whether the mail
 * server took it; false without one.
 */
export async function mailLink(
  user: User,
  { url, expiresAtMs }: NewLink,
  { mailer, newId, clock }: MailLinkPorts,
): Promise<boolean> {
  if (mailer === undefined) return false
  const isInvited = userState(user) === 'invited'
  const lines = [
    isInvited
      ? 'You were invited to the console of an AI gateway.'
      : 'Here is a link to set a new password for the console.',
    `Open this link to set your password. It works once, until ${new Date(expiresAtMs).toISOString()}:`,
    url,
    isInvited
      ? 'If you did not expect it, ignore this mail.'
      : 'If you did not ask for it, ignore this mail: your password stays as it is.',
  ]
  const mail = {
    id: formatId('msg', newId()),
    to: user.email,
    subject: isInvited ? 'Your invitation to the console' : 'A new password for the console',
    text: `${lines.join('\n\n')}\n`,
    atMs: clock.now(),
  }
  const { outcome } = await mailer.send(mail, new AbortController().signal)
  return outcome === 'sent'
}

/**
 * Mails a link to whoever has forgotten a password. The caller learns nothing about which users there are: neither from
 * the answer nor, as the work goes on after it, from the time. Throws `too_many_tries`.
 */
export function requestReset(
  { email, address }: { readonly email: string; readonly address: string },
  ports: LinkPorts &
    MailLinkPorts & {
      readonly users: Users
      readonly pace: SignInPace
      readonly onFailed: (error: unknown) => void
    },
): void {
  const asked = email.trim().toLowerCase()
  ports.pace.begin({ user: `reset ${asked}`, address })
  void sendReset(asked, ports).catch(ports.onFailed)
}

async function sendReset(
  email: string,
  ports: LinkPorts & MailLinkPorts & { readonly users: Users },
): Promise<void> {
  const user = await ports.users.find({ email })
  if (user === undefined || user.disabledAtMs !== null || ports.mailer === undefined) return
  // A password would be a way around the OpenID provider.
  if (user.identity !== null && !user.hasPassword) return
  await mailLink(user, await makeUserLink(user, callerOfUser(user).actor, ports), ports)
}
