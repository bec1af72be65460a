import type { SettingDescription } from '../../config/config.ts'
import type { Id } from '../../domain/ids.ts'
import type { ProbeProvider } from '../../gateway/admin/doctor.ts'
import type { Accounts } from '../../gateway/ports/accounts.ts'
import type { AuditLog } from '../../gateway/ports/audit.ts'
import type { CatalogStore } from '../../gateway/ports/catalog.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { Ledger } from '../../gateway/ports/ledger.ts'
import type { Moderator } from '../../gateway/ports/moderator.ts'
import type { Reconcile } from '../../gateway/ports/reconcile.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { jsonReply, type WholeReply } from '../request-context.ts'

/** None of the admin API's answers is made as it is read. */
export type Reply = WholeReply

/** All that the admin API works on. */
export type AdminPorts = {
  readonly accounts: Accounts
  readonly ledger: Ledger
  readonly reconcile: Reconcile
  readonly catalog: CatalogStore
  readonly auditLog: AuditLog
  readonly clock: Clock
  readonly newId: () => Id
  /** Unguessable bytes. */
  readonly randomBytes: (count: number) => Uint8Array
  readonly sha256: (text: string) => Uint8Array
  readonly isSandboxOn: boolean
  readonly probeProvider: ProbeProvider
  /** Undefined where moderation is off. */
  readonly moderator: Moderator | undefined
  /** The settings in force, for `doctor`. */
  readonly settings: () => readonly SettingDescription[]
}

/** One trusted request, with the parts of its path by their names in the route table. */
export type AdminCall = {
  readonly request: IncomingRequest
  readonly query: URLSearchParams
  readonly params: Readonly<Record<string, string>>
}

/** Answers one request of one path. Throws a GatewayError for what is refused. */
export type AdminHandler = (call: AdminCall, ports: AdminPorts) => Promise<Reply> | Reply

/** A reply of status 200. Balances and audit lines are not for caches. */
export function reply(body: unknown): Reply {
  return jsonReply(200, body, { 'cache-control': 'no-store' })
}
