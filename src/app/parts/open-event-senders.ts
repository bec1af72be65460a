import { createHmac } from 'node:crypto'
import type { Config } from '../../config/config.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { Mailer } from '../../gateway/ports/events/mail.ts'
import { isSilent } from '../../gateway/ports/nodes/nodes.ts'
import type { HttpClient } from '../../http1/client/http-client.ts'
import { systemResolver } from '../../providers/fetch-untrusted/address-guard.ts'
import { untrustedPost } from '../../providers/fetch-untrusted/post-untrusted.ts'
import { webhookDeliveries } from '../../reconciler/deliver-webhooks.ts'
import type { DeliveryTurns } from '../../reconciler/delivery-turns.ts'
import { mailDeliveries } from '../../reconciler/send-mails.ts'
import { smtpMailer } from '../../smtp/smtp-mailer.ts'
import { errorFields, type Log } from '../../telemetry/log.ts'
import type { Node } from '../node/node.ts'
import { version } from '../version.ts'

/** Makes what delivers the messages of webhooks. It does nothing until it is started. */
export function openWebhookDeliveries({
  node,
  ownClock,
  log,
  sockets,
  config,
}: {
  readonly node: Node
  /** Of this machine. */
  readonly ownClock: Clock
  readonly log: Log
  /** The client over sockets, whether or not there is a proxy: only it connects to the address that was checked. */
  readonly sockets: HttpClient
  readonly config: Config
}): DeliveryTurns {
  const { clock } = node
  return webhookDeliveries({
    queue: node.webhookQueue,
    leases: node.leases,
    clock,
    ownClock,
    post: untrustedPost({ http: sockets, resolve: systemResolver, clock, version }),
    hmac: (key, text) => createHmac('sha256', key).update(text).digest(),
    allowsPrivate: config.mayWebhooksBePrivate,
    onFailed: error => log.error('a webhook message could not be delivered', errorFields(error)),
  })
}

/** The mail server of the settings. Undefined if there is none. Nothing connects before the first mail. */
export function openMailer({ smtp, mailFrom }: Config, clock: Clock): Mailer | undefined {
  return smtp === undefined || mailFrom === undefined
    ? undefined
    : smtpMailer(smtp, { from: mailFrom, clock })
}

/** Makes what sends the mails about events. It does nothing until it is started. */
export function openMailDeliveries(parts: {
  readonly node: Node
  readonly mailer: Mailer | undefined
  readonly log: Log
  readonly config: Config
}): DeliveryTurns {
  const { node, mailer, log, config } = parts
  return mailDeliveries({
    mail: node.mail,
    queue: node.mailQueue,
    leases: node.leases,
    clock: node.clock,
    mailer,
    settings: {
      isOn: mailer !== undefined,
      operators: config.alertEmails,
      perAddress: config.mailsPerAddress,
      perDay: config.mailsPerDay,
    },
    onFailed: error => log.error('a mail could not be sent', errorFields(error)),
    onRefused: problem => log.warn('the mail server did not take a mail', { problem }),
    isAlone: async () => {
      const nodes = await node.nodes.list()
      return nodes.filter(each => !isSilent(each, node.clock.now())).length <= 1
    },
    onLeftToOthers: () =>
      log.warn('other gateways send mails, and this one does not', {
        remedy: 'Set TOLLGATE_SMTP_URL, TOLLGATE_MAIL_FROM and TOLLGATE_ALERT_EMAILS alike on all gateways.',
      }),
  })
}
