import type { Session } from '../../domain/admin/user.ts'
import {
  changePassword,
  confirmTotp,
  proposeTotp,
  removeTotp,
} from '../../gateway/admin/users/own-sign-in.ts'
import { requestReset } from '../../gateway/admin/users/mail-link.ts'
import { GatewayError } from '../../domain/errors.ts'
import { optionalTextField, textField } from '../admin/body.ts'
import { sessionRow } from '../admin/operating/users.ts'
import type { BufferedReply } from '../request-context.ts'
import { consoleReply, signedInReply, type ConsolePorts, type OpenCall, type SessionCall } from './calls.ts'
import { endedSessionCookie } from './cookies.ts'
import { isSecure } from './own-site.ts'

// What people change of how they sign in.

/** Where the user is signed in, latest first. */
export async function listSessions(
  { user, session }: SessionCall,
  { userSessions, clock }: ConsolePorts,
): Promise<BufferedReply> {
  const sessions = await userSessions.list(user.id, clock.now())
  const rowOf = (one: Session) => ({ ...sessionRow(one), current: one.publicId === session.publicId })
  return consoleReply({ data: sessions.map(rowOf) })
}

/** Signs the user out everywhere, in this browser too. Links that were sent to the user end too. */
export async function deleteSessions(
  { request, user, caller }: SessionCall,
  { userSessions, clock, site }: ConsolePorts,
): Promise<BufferedReply> {
  await userSessions.endAll(user, { actor: caller.actor, atMs: clock.now() })
  return { status: 204, headers: {}, cookies: [endedSessionCookie(isSecure(request, site))], body: null }
}

/** Ends one of the user's own sessions. */
export async function deleteSessionById(
  { request, user, caller }: SessionCall,
  { userSessions, clock }: ConsolePorts,
): Promise<BufferedReply> {
  const publicId = request.path.slice(request.path.lastIndexOf('/') + 1)
  const by = { actor: caller.actor, atMs: clock.now() }
  if (await userSessions.end({ userId: user.id, publicId }, by)) return consoleReply({ id: publicId })
  throw new GatewayError('not_found', 'You have no such session, or it has ended.')
}

export async function postPassword(
  { request, user, browser, fields }: SessionCall,
  ports: ConsolePorts,
): Promise<BufferedReply> {
  const form = await fields(['current', 'new'])
  const current = textField(form, 'current', 'your password')
  const next = textField(form, 'new', 'a new password')
  return signedInReply(await changePassword(user, { current, next }, browser, ports), request, ports)
}

/** A secret for an authenticator app. Codes are on after `PUT totp`. */
export async function postTotp(call: SessionCall, ports: ConsolePorts): Promise<BufferedReply> {
  return consoleReply(await proposeTotp(await proofOf(call), ports.product, ports))
}

export async function putTotp({ user, fields }: SessionCall, ports: ConsolePorts): Promise<BufferedReply> {
  const code = textField(await fields(['code']), 'code', 'a one-time code')
  const { hasTotp } = await confirmTotp(user, code, ports)
  return consoleReply({ has_totp: hasTotp })
}

export async function deleteTotp(call: SessionCall, ports: ConsolePorts): Promise<BufferedReply> {
  return signedInReply(await removeTotp(await proofOf(call), ports), call.request, ports)
}

async function proofOf({ user, session, browser, fields }: SessionCall) {
  const password = optionalTextField(await fields(['password']), 'password', 'your password')
  return { user, session, browser, password }
}

/** Mails a link, if the user exists and mails are sent. The reply is the same if not. */
export async function postReset({ browser, fields }: OpenCall, ports: ConsolePorts): Promise<BufferedReply> {
  const email = textField(await fields(['email']), 'email', 'an e-mail address')
  requestReset({ email, address: browser.address }, ports)
  return consoleReply({})
}
