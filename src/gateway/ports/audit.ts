/** Who changed what. It is written in the transaction of the change, so neither exists without the other. */
export type Audit = {
  /** `admin` for the admin key, `startup` for a change by the gateway itself. */
  readonly actor: string
  /** A verb and its object: `model.put`, `key.revoke`, `account.grant`. */
  readonly action: string
  /** The public id or name of the changed object. */
  readonly subject: string
  /** The result of the change if action and subject do not say it: the amount of a grant, the price of a model. No secret. */
  readonly detail?: string | undefined
  readonly atMs: number
}

export interface AuditLog {
  /** Newest first: at most `limit` lines, older than `before` if given. Lines are never changed or deleted. */
  list(page: {
    readonly limit: number
    readonly before?: bigint
  }): Promise<readonly (Audit & { readonly id: bigint })[]>
}
