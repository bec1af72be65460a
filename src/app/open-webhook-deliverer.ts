import { createHmac } from 'node:crypto'
import type { Config } from '../config/config.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import type { HttpClient } from '../http1/client/http-client.ts'
import { systemResolver } from '../providers/fetch-untrusted/address-guard.ts'
import { untrustedPost } from '../providers/fetch-untrusted/post-untrusted.ts'
import { WebhookDeliverer } from '../reconciler/deliver-webhooks.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import type { Node } from './open-node.ts'
import { version } from './version.ts'

/** Makes what delivers the messages of webhooks. It does nothing until it is started. */
export function openWebhookDeliverer({
  node,
  clock,
  log,
  sockets,
  config,
}: {
  readonly node: Node
  readonly clock: Clock
  readonly log: Log
  /** The client over sockets, whether or not there is a proxy: only it connects to the address that was checked. */
  readonly sockets: HttpClient
  readonly config: Config
}): WebhookDeliverer {
  return new WebhookDeliverer({
    queue: node.webhookQueue,
    leases: node.leases,
    clock,
    post: untrustedPost({ http: sockets, resolve: systemResolver, clock, version }),
    hmac: (key, text) => createHmac('sha256', key).update(text).digest(),
    allowsPrivate: config.mayWebhooksBePrivate,
    onFailed: error => log.error('a webhook message could not be delivered', errorFields(error)),
  })
}
