export type Account = {
  /** The store's integer key; never shown. */
  readonly id: number
  /** `acct_…` */
  readonly publicId: string
  readonly name: string
  /** The demo account of a first start: its keys can call sandbox rows only. */
  readonly sandboxOnly: boolean
  readonly createdAtMs: number
}

export type ApiKey = {
  readonly id: number
  /** `key_…` */
  readonly publicId: string
  readonly accountId: number
  readonly name: string
  /** The first 12 characters of the key, by which it is listed. */
  readonly prefix: string
  readonly createdAtMs: number
  readonly revokedAtMs: number | null
}
