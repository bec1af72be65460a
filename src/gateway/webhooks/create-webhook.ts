import type { Account } from '../../domain/accounts/account.ts'
import { GatewayError } from '../../domain/errors.ts'
import { formatId, type Id } from '../../domain/ids.ts'
import { eventTypes, type EventType } from '../../domain/webhooks/event.ts'
import type { Webhook } from '../../domain/webhooks/webhook.ts'
import type { Clock } from '../ports/clock.ts'
import type { Webhooks } from '../ports/events/webhooks.ts'
import { SECRET_BYTES, secretText } from './sign-message.ts'
import type { Actor } from '../admin/operator.ts'

/** How long the old secret signs after a rotation, unless the operator says otherwise. */
export const OLD_SECRET_MS = 24 * 3_600_000
const URL_CHARS_MAX = 2000
const ALL: readonly EventType[] = Object.keys(eventTypes) as EventType[]

type SecretPorts = {
  readonly webhooks: Webhooks
  readonly clock: Clock
  /** Cryptographically secure random bytes. */
  readonly randomBytes: (count: number) => Uint8Array
}

/**
 * Creates a webhook of an account, or of the operator. `secret` is returned only here and after a rotation. Throws
 * `invalid_field` for an address or an event that it may not have, and what `Webhooks.create` throws.
 */
export async function createWebhook(
  request: {
    readonly account: Account | undefined
    readonly url: string
    readonly events: readonly EventType[] | undefined
    readonly note: string
    readonly actor: Actor
  },
  ports: SecretPorts & { readonly newId: () => Id; readonly allowsPrivate: boolean },
): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
  const { account, note, actor } = request
  const secret = secretText(ports.randomBytes(SECRET_BYTES))
  const owner = { accountId: account?.id }
  const webhook = await ports.webhooks.create({
    ...owner,
    publicId: formatId('whk', ports.newId()),
    url: checkedUrl(request.url, owner, ports),
    events: checkedEvents(request.events, owner),
    note,
    secret,
    by: { actor, atMs: ports.clock.now() },
  })
  return { webhook, secret }
}

/** Gives a webhook another secret. The one before it signs too for `overlapMs`. */
export async function rotateWebhook(
  {
    webhook,
    overlapMs,
    actor,
  }: { readonly webhook: Webhook; readonly overlapMs: number; readonly actor: Actor },
  { webhooks, clock, randomBytes }: SecretPorts,
): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
  const atMs = clock.now()
  const secret = secretText(randomBytes(SECRET_BYTES))
  const rotated = { secret, oldEndsAtMs: atMs + overlapMs }
  return { webhook: await webhooks.rotate(webhook.publicId, rotated, { actor, atMs }), secret }
}

/**
 * The address in its usual form. Whether its host is public is checked before each message, because its address can
 * change.
 */
export function checkedUrl(
  text: string,
  { accountId }: Pick<Webhook, 'accountId'>,
  { allowsPrivate }: { readonly allowsPrivate: boolean },
): string {
  const url = text.length > URL_CHARS_MAX ? null : URL.parse(text)
  const isHttpAllowed = allowsPrivate && accountId === undefined
  if (url?.protocol !== 'https:' && !(isHttpAllowed && url?.protocol === 'http:'))
    throw wrong('url', `must be an https:// address of at most ${URL_CHARS_MAX} characters`)
  if (url.username !== '' || url.password !== '')
    throw wrong('url', 'must not have a user name or a password; the signature of each message is the proof')
  url.hash = ''
  return url.href
}

/** Each event once, in the usual order. Undefined means all that the owner may have. */
export function checkedEvents(
  events: readonly EventType[] | undefined,
  { accountId }: Pick<Webhook, 'accountId'>,
): readonly EventType[] {
  const allowed = ALL.filter(type => accountId === undefined || eventTypes[type].about === 'account')
  if (events === undefined) return allowed
  const stray = events.find(type => !allowed.includes(type))
  if (stray !== undefined)
    throw wrong(
      'events',
      `must not have "${stray}" for a webhook of an account, because it is about the gateway`,
    )
  if (events.length === 0) throw wrong('events', 'must have at least one event')
  return allowed.filter(type => events.includes(type))
}

function wrong(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_field', `"${param}" ${problem}.`, { param })
}
