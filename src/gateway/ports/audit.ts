/** Who changed what. Written in the transaction of the change, so that neither is without the other. */
export type Audit = {
  /** `admin` for the admin key, `startup` for what the gateway does by itself. */
  readonly actor: string
  /** A verb and its object: `model.put`, `key.revoke`, `account.grant`. */
  readonly action: string
  /** The public id or name of what changed. */
  readonly subject: string
  /** What the change came to, where action and subject do not say it: the amount of a grant, the price of a model. No secret. */
  readonly detail?: string | undefined
  readonly atMs: number
}

export interface AuditLog {
  /** Newest first: at most `limit`, older than `before` where given. Lines are never changed or deleted. */
  list(page: {
    readonly limit: number
    readonly before?: bigint
  }): Promise<readonly (Audit & { readonly id: bigint })[]>
}
