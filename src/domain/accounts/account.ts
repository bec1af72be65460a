export type Account = {
  /** The store's integer key. Never shown to clients. */
  readonly id: number
  /** `acct_…` */
  readonly publicId: string
  readonly name: string
  /** The demo account of a first start. Its keys can only call sandbox models. */
  readonly sandboxOnly: boolean
  readonly createdAtMs: number
  /** Null unless the operator suspended it: its keys are then refused. */
  readonly suspendedAtMs: number | null
  /** False if identical requests of its keys never share an answer. */
  readonly replays?: false
}

export type ApiKey = {
  readonly id: number
  /** `key_…` */
  readonly publicId: string
  readonly accountId: number
  readonly name: string
  /** The first 12 characters of the key, for lists. */
  readonly prefix: string
  readonly createdAtMs: number
  readonly revokedAtMs: number | null
}
