import { idSource } from '../../domain/ids.ts'
import type { StoreNode } from '../../gateway/ports/nodes/store-node.ts'
import { StoredAccounts } from './access/accounts.ts'
import { StoredAdminTokens } from './access/admin-tokens.ts'
import { StoredApiKeys } from './access/api-keys.ts'
import { createAuditLog } from './access/audit-log.ts'
import { createKeyDefaults } from './access/key-defaults.ts'
import { StoredProjects } from './access/projects.ts'
import { StoredSignInLinks } from './access/sign-in-links.ts'
import { StoredUserSessions } from './access/user-sessions.ts'
import { StoredUsers } from './access/users.ts'
import { StoredAlerts } from './events/alerts.ts'
import type { Events } from './events/events.ts'
import type { MailRecipients } from './events/mail-recipients.ts'
import { StoredMail } from './events/mails.ts'
import type { Receivers } from './events/receivers.ts'
import { StoredWebhookQueue } from './events/webhook-queue.ts'
import { StoredWebhooks } from './events/webhooks.ts'
import { createJobs } from './jobs/jobs.ts'
import { createAttempts } from './ledger/attempts.ts'
import type { ChargeEffects } from './ledger/charges.ts'
import type { SecretBox } from './secrets/secret-box.ts'
import { createBookedItems } from './usage/booked-items.ts'

/** The steps of accounts, keys and projects that a store runs in its own way. */
type AccessParts = ConstructorParameters<typeof StoredAccounts>[0] &
  ConstructorParameters<typeof StoredApiKeys>[0] &
  ConstructorParameters<typeof StoredProjects>[0]

type NodeParts = Parameters<typeof createJobs>[0] & {
  readonly access: Omit<AccessParts, 'stepRunner'>
  readonly ids: Parameters<typeof idSource>[0]
  readonly chargeEffects: ChargeEffects
  readonly receivers: Receivers
  readonly events: Events
  readonly mailRecipients: MailRecipients
  readonly secretBox: SecretBox
  /** The expression of the index `api_keys_by_expiry`, which reads JSON as its database does. */
  readonly keyExpiry: string
}

/** The ports of a node that are the same steps in both stores. */
export function nodePorts(parts: NodeParts) {
  const { stepRunner } = parts
  const access = { ...parts.access, stepRunner }
  const mail = new StoredMail(parts)
  return {
    newId: idSource(parts.ids),
    accounts: new StoredAccounts(access),
    apiKeys: new StoredApiKeys(access),
    projects: new StoredProjects(access),
    keyDefaults: createKeyDefaults(stepRunner),
    adminTokens: new StoredAdminTokens(stepRunner),
    auditLog: createAuditLog(stepRunner),
    users: new StoredUsers(parts),
    userSessions: new StoredUserSessions(stepRunner),
    signInLinks: new StoredSignInLinks(stepRunner),
    attempts: createAttempts(parts),
    jobs: createJobs(parts),
    bookedItems: createBookedItems(stepRunner),
    alerts: new StoredAlerts(parts),
    webhooks: new StoredWebhooks(parts),
    webhookQueue: new StoredWebhookQueue(parts),
    mail,
    mailQueue: mail,
  } satisfies Partial<StoreNode>
}
