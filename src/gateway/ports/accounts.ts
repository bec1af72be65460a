import type { Audit } from './audit.ts'
import type { Account, ApiKey } from '../../domain/accounts/account.ts'

/** Accounts and their keys. A key's text is never stored, only its SHA-256. */
export interface Accounts {
  /** Throws `already_exists` for a name that is taken: names are unique, so that commands can use them. */
  createAccount(request: {
    readonly publicId: string
    readonly name: string
    readonly sandboxOnly: boolean
    readonly audit: Audit
  }): Promise<Account>

  /** By its public id, or else by its name. */
  findAccount(idOrName: string): Promise<Account | undefined>

  /** In the order of their creation. */
  listAccounts(page: { readonly limit: number; readonly afterId?: number }): Promise<readonly Account[]>

  createKey(request: {
    readonly publicId: string
    readonly accountId: number
    readonly name: string
    /** SHA-256 of the whole key. */
    readonly hash: Uint8Array
    /** The key's first 12 characters, by which it is listed. */
    readonly prefix: string
    readonly audit: Audit
  }): Promise<ApiKey>

  /** All keys of an account, revoked ones too. */
  listKeys(accountId: number): Promise<readonly ApiKey[]>

  /** Revokes at once and for ever; the next request with it is refused. Undefined where there is no such key. Repeating it changes nothing. */
  revokeKey(publicId: string, audit: Audit): Promise<ApiKey | undefined>

  /**
   * The account and key of a hash, for a key that is not revoked. Synchronous where it is cached, so that the hot path
   * pays nothing; a miss is bounded in what it costs (a flood of bad keys must not exhaust the store).
   */
  authenticate(hash: string): Authenticated | undefined | Promise<Authenticated | undefined>
}

export type Authenticated = { readonly account: Account; readonly apiKey: ApiKey }
