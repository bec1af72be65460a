import type { SettingDescription } from '../../config/config.ts'
import type { Callable } from '../../domain/catalog/catalog.ts'
import type { Id } from '../../domain/ids.ts'
import type { Job } from '../../domain/jobs/job.ts'
import type { DoctorPorts, ProbeProvider } from '../../gateway/admin/operating/doctor.ts'
import type { MailPorts } from '../../gateway/admin/operating/send-test-mail.ts'
import type { BooksGuard } from '../../gateway/books/books-guard.ts'
import type { SharedChecks } from '../../gateway/books/shared-checks.ts'
import type { Anchoring, OperatorChecks } from '../../gateway/admin/operating/verify-books.ts'
import type { BooksState, OverviewPorts } from '../../gateway/admin/reports/overview.ts'
import type { ResultPorts } from '../../gateway/media/files/open-result.ts'
import type { JobExplanation } from '../../gateway/media/explain-job.ts'
import type { Accounts } from '../../gateway/ports/access/accounts.ts'
import type { AdminTokens } from '../../gateway/ports/access/admin-tokens.ts'
import type { ApiKeys } from '../../gateway/ports/access/api-keys.ts'
import type { AuditLog } from '../../gateway/ports/access/audit.ts'
import type { Backups } from '../../gateway/ports/backups.ts'
import type { Blobs } from '../../gateway/ports/media/blobs.ts'
import type { BookedItems } from '../../gateway/ports/ledger/booked-items.ts'
import type { CatalogStore } from '../../gateway/ports/catalog.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { Jobs } from '../../gateway/ports/media/jobs.ts'
import type { KeyDefaults } from '../../gateway/ports/access/key-defaults.ts'
import type { Ledger } from '../../gateway/ports/ledger/ledger.ts'
import type { Limits } from '../../gateway/ports/ledger/limits.ts'
import type { Mail } from '../../gateway/ports/events/mail.ts'
import type { Nodes } from '../../gateway/ports/nodes/nodes.ts'
import type { Projects } from '../../gateway/ports/access/projects.ts'
import type { Reconcile } from '../../gateway/ports/ledger/reconcile.ts'
import type { RequestRecords } from '../../gateway/ports/requests/request-records.ts'
import type { LinkPorts } from '../../gateway/admin/users/links.ts'
import type { SignInLinks, Users, UserSessions } from '../../gateway/ports/access/users.ts'
import type { CircuitBreakers } from '../../gateway/upstreams/upstream-health.ts'
import type { Webhooks } from '../../gateway/ports/events/webhooks.ts'

/** The ports of the admin API. Each handler takes those of its folder. */
export type AdminPorts = AccountPorts & CatalogPorts & ReportPorts & OperatingPorts

/** For `accounts/`: accounts, projects and keys, and the money of accounts. */
export type AccountPorts = SecretPorts & {
  readonly accounts: Accounts
  readonly apiKeys: ApiKeys
  readonly projects: Projects
  readonly keyDefaults: KeyDefaults
  readonly limits: Limits
  readonly ledger: Ledger
  readonly catalog: CatalogStore
  readonly auditLog: AuditLog
  readonly clock: Clock
}

/** For `catalog/`: providers, models and price lists. */
export type CatalogPorts = {
  readonly catalog: CatalogStore
  readonly clock: Clock
  readonly isSandboxOn: boolean
  /** Whether a provider makes images or videos. */
  readonly serves: Callable['serves']
  /** Whether this process has a value for an environment variable. */
  readonly isVariableSet: (variable: string) => boolean
  readonly auditLog: AuditLog
  readonly probeProvider: ProbeProvider
  readonly circuitBreakers: Pick<CircuitBreakers, 'states' | 'recentFailures'>
}

/** For `reports/`: what was used, and what it cost. */
export type ReportPorts = Pick<SecretPorts, 'sha256'> &
  OverviewPorts &
  ResultPorts & {
    readonly accounts: Accounts
    readonly apiKeys: ApiKeys
    readonly projects: Projects
    readonly ledger: Ledger
    readonly jobs: Jobs
    readonly explainJob: (job: Job) => JobExplanation
    readonly records: RequestRecords
    /** How long records are kept. Undefined if none are. */
    readonly recordsKeptDays: number | undefined
    readonly bookedItems: BookedItems
    readonly circuitBreakers: Pick<CircuitBreakers, 'open' | 'states' | 'recentFailures'>
    readonly booksState: () => BooksState
    readonly clock: Clock
  }

/** For `operating/`: admin tokens, users, webhooks and mails, checks and upkeep. */
export type OperatingPorts = SecretPorts &
  DoctorPorts & {
    readonly accounts: Accounts
    readonly adminTokens: AdminTokens
    readonly users: Users
    readonly userSessions: UserSessions
    readonly signInLinks: SignInLinks
    readonly linkUrl: LinkPorts['linkUrl']
    readonly ledger: Ledger
    readonly blobs: Blobs
    readonly anchor: Anchoring
    readonly guard: BooksGuard
    /** The checks of the books that all nodes share. Undefined for one node. */
    readonly sharedChecks: SharedChecks | undefined
    readonly operatorChecks: Pick<OperatorChecks, 'check' | 'running' | 'last'>
    readonly backups: Backups
    readonly nodes: Nodes
    readonly reconcile: Reconcile
    readonly webhooks: Webhooks
    /** Whether webhooks of the operator may be in private networks. */
    readonly webhooksMayBePrivate: boolean
    readonly mail: Mail
    readonly alertEmails: MailPorts['alertEmails']
    /** The settings in effect. */
    readonly describedSettings: () => readonly SettingDescription[]
  }

/** For new ids and the secrets of keys, tokens and webhooks. */
type SecretPorts = {
  readonly newId: () => Id
  /** Cryptographically secure random bytes. */
  readonly randomBytes: (count: number) => Uint8Array
  readonly sha256: (text: string) => Uint8Array
}
