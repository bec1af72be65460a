import type { SettingDescription } from '../../config/config.ts'
import type { Callable } from '../../domain/catalog/catalog.ts'
import type { Id } from '../../domain/ids.ts'
import type { Job } from '../../domain/jobs/job.ts'
import type { ProbeProvider } from '../../gateway/admin/doctor.ts'
import type { AdminCaller } from '../../gateway/admin/operator.ts'
import type { MailPorts } from '../../gateway/admin/send-test-mail.ts'
import type { IdleStreams } from '../../gateway/text/idle-streams.ts'
import type { DamagedResults } from '../../gateway/media/damaged-results.ts'
import type { JobExplanation } from '../../gateway/media/explain-job.ts'
import type { Anchoring } from '../../gateway/admin/verify-books.ts'
import type { Accounts } from '../../gateway/ports/accounts.ts'
import type { AdminTokens } from '../../gateway/ports/admin-tokens.ts'
import type { ApiKeys } from '../../gateway/ports/api-keys.ts'
import type { AuditLog } from '../../gateway/ports/audit.ts'
import type { Blobs, ResultStore } from '../../gateway/ports/blobs.ts'
import type { SharedCache } from '../../gateway/ports/shared-cache.ts'
import type { Backups } from '../../gateway/ports/backups.ts'
import type { CatalogStore } from '../../gateway/ports/catalog.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { Jobs } from '../../gateway/ports/jobs.ts'
import type { KeyDefaults } from '../../gateway/ports/key-defaults.ts'
import type { Ledger } from '../../gateway/ports/ledger.ts'
import type { Limits } from '../../gateway/ports/limits.ts'
import type { Mail } from '../../gateway/ports/mail.ts'
import type { Moderator } from '../../gateway/ports/moderator.ts'
import type { Projects } from '../../gateway/ports/projects.ts'
import type { Reconcile } from '../../gateway/ports/reconcile.ts'
import type { RequestRecords } from '../../gateway/ports/request-records.ts'
import type { BookedItems } from '../../gateway/ports/booked-items.ts'
import type { Webhooks } from '../../gateway/ports/webhooks.ts'
import type { RefusedFields } from '../../gateway/upstreams/refused-fields.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { jsonReply, type BufferedReply } from '../request-context.ts'

/** The ports of the admin API. */
export type AdminPorts = {
  readonly accounts: Accounts
  readonly apiKeys: ApiKeys
  readonly projects: Projects
  readonly keyDefaults: KeyDefaults
  readonly adminTokens: AdminTokens
  readonly ledger: Ledger
  readonly anchor: Anchoring
  readonly jobs: Jobs
  readonly blobs: Blobs
  readonly damagedResults: DamagedResults
  /** Undefined if results are on the disk. */
  readonly resultStore: ResultStore | undefined
  /** Undefined if answers are kept in memory only. */
  readonly sharedCache: SharedCache | undefined
  readonly explainJob: (job: Job) => JobExplanation
  readonly reconcile: Reconcile
  readonly catalog: CatalogStore
  readonly auditLog: AuditLog
  readonly backups: Backups
  readonly limits: Limits
  readonly records: RequestRecords
  /** How long records are kept. Undefined if none are. */
  readonly recordsKeptDays: number | undefined
  readonly bookedItems: BookedItems
  readonly webhooks: Webhooks
  /** Whether webhooks of the operator may be in private networks. */
  readonly webhooksMayBePrivate: boolean
  readonly mail: Mail
  readonly mailer: MailPorts['mailer']
  readonly alertEmails: MailPorts['alertEmails']
  readonly clock: Clock
  readonly newId: () => Id
  /** Cryptographically secure random bytes. */
  readonly randomBytes: (count: number) => Uint8Array
  readonly sha256: (text: string) => Uint8Array
  readonly isSandboxOn: boolean
  /** Whether a provider makes images or videos. */
  readonly serves: Callable['serves']
  readonly probeProvider: ProbeProvider
  readonly idleStreams: IdleStreams
  readonly refusedFields: RefusedFields
  /** Whether this process has a value for an environment variable. */
  readonly isVariableSet: (variable: string) => boolean
  /** Undefined if moderation is off. */
  readonly moderator: Moderator | undefined
  /** The settings in effect, for `doctor`. */
  readonly describedSettings: () => readonly SettingDescription[]
}

export type AdminRequest = Pick<IncomingRequest, 'method' | 'path' | 'query' | 'header' | 'text' | 'signal'>

/** An authorized request with its caller, and with the parameters of its path by their names in the route table. */
export type AdminCall = AdminCaller & {
  readonly request: AdminRequest
  readonly query: URLSearchParams
  readonly params: Readonly<Record<string, string>>
}

/** Handles a request. Rejects with a `GatewayError` to refuse it. */
export type AdminHandler = (call: AdminCall, ports: AdminPorts) => Promise<BufferedReply>

/** A reply with status 200. It must not be cached, because it can have balances or audit rows. */
export function adminReply(body: unknown): BufferedReply {
  return jsonReply(200, body, { 'cache-control': 'no-store' })
}
