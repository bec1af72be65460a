import type { TimeRange } from '../ledger/ledger-reports.ts'

/** A line of the audit log. It is written in the same transaction as the change that it records. */
export type Audit = {
  /** `admin` for the admin key, `startup` for changes that the gateway makes by itself when it starts. */
  readonly actor: string
  /** An object and what was done to it: `model.put`, `key.revoke`, `account.grant`. */
  readonly action: string
  /** The public id or name of what changed. */
  readonly subject: string
  /** Details that action and subject do not have: the amount of a grant, the price of a model. Never a secret. */
  readonly detail?: string | undefined
  readonly atMs: number
}

export interface AuditLog {
  /** Writes a separate line, for a change outside of the store or a decision of the operator. */
  record(audit: Audit): Promise<void>

  /** Whether there is a line with this action. */
  has(action: string): Promise<boolean>

  /**
   * At most `limit` lines that meet the filter, newest first, after the line with the cursor `before`. Lines are never
   * changed or deleted. Throws `invalid_field` for a text that is not a cursor.
   */
  list(
    page: { readonly limit: number; readonly before?: string } & AuditFilter,
  ): Promise<readonly AuditLine[]>
}

/** All of its conditions must be met. */
export type AuditFilter = {
  /** A part of the actor. The case of ASCII letters does not matter. */
  readonly actor?: string
  /** An action such as `key.create`, or what actions are about, such as `key`. */
  readonly action?: string
  /** A part of the subject, like `actor`. */
  readonly subject?: string
  readonly between?: TimeRange
}

export type AuditLine = Audit & {
  readonly id: bigint
  /** Where the line is in the list; opaque. */
  readonly cursor: string
}
