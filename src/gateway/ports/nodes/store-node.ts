import type { Id } from '../../../domain/ids.ts'
import type { Accounts } from '../access/accounts.ts'
import type { AdminTokens } from '../access/admin-tokens.ts'
import type { CommitChains } from '../ledger/anchor.ts'
import type { ApiKeys } from '../access/api-keys.ts'
import type { Alerts } from '../events/alerts.ts'
import type { Attempts } from '../ledger/attempts.ts'
import type { AuditLog } from '../access/audit.ts'
import type { CatalogStore } from '../catalog.ts'
import type { Jobs } from '../media/jobs.ts'
import type { KeyDefaults } from '../access/key-defaults.ts'
import type { Leases } from './leases.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Limits } from '../ledger/limits.ts'
import type { Mail, MailQueue } from '../events/mail.ts'
import type { Projects } from '../access/projects.ts'
import type { SignInLinks, Users, UserSessions } from '../access/users.ts'
import type { BookedItems } from '../ledger/booked-items.ts'
import type { WebhookQueue, Webhooks } from '../events/webhooks.ts'

/**
 * The ports of one node over a store that several nodes may share. Each node has its own ids and queue of writes, and
 * owns the holds it places.
 */
export interface StoreNode {
  readonly name: string
  /** A new id. Ids of all nodes are different, and those of one node grow. */
  readonly newId: () => Id
  readonly ledger: Ledger
  readonly accounts: Accounts
  readonly apiKeys: ApiKeys
  readonly adminTokens: AdminTokens
  readonly users: Users
  readonly userSessions: UserSessions
  readonly signInLinks: SignInLinks
  readonly projects: Projects
  readonly keyDefaults: KeyDefaults
  readonly attempts: Attempts
  readonly jobs: Jobs
  readonly catalog: CatalogStore
  readonly auditLog: AuditLog
  readonly commitChains: CommitChains
  readonly leases: Leases
  readonly limits: Limits
  readonly bookedItems: BookedItems
  readonly alerts: Alerts
  readonly webhooks: Webhooks
  readonly webhookQueue: WebhookQueue
  readonly mail: Mail
  readonly mailQueue: MailQueue
  /**
   * Does the work that an upgrade of the store left for later, in short turns while the node serves. Resolves when
   * nothing is left. Repeating it continues.
   */
  finishUpgrade(): Promise<void>
  /**
   * Commits the waiting steps and frees the text holds of this node. Later writes are refused with `unavailable`, and
   * the listeners of the node get no more events. Repeating it changes nothing.
   */
  close(): void | Promise<void>
}
