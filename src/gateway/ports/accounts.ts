import type { Audit } from './audit.ts'
import type { Account, ApiKey } from '../../domain/accounts/account.ts'

/** Accounts and their API keys. The text of a key is never stored, only its SHA-256. */
export interface Accounts {
  /** Throws `already_exists` if the name is taken. Names are unique, so that commands can use them. */
  createAccount(request: {
    readonly publicId: string
    readonly name: string
    readonly sandboxOnly: boolean
    readonly audit: Audit
  }): Promise<Account>

  /** Finds an account by its public id or else by its name. */
  findAccount(idOrName: string): Promise<Account | undefined>

  /** Finds an account by its number, `Account.id`. */
  findAccountById(id: number): Promise<Account | undefined>

  /** The accounts in the order of their creation. Throws `invalid_field` for a cursor that the store did not give. */
  listAccounts(page: AccountPage): Promise<{ readonly accounts: readonly Account[]; readonly next?: string }>

  /**
   * Suspends an account: its keys are refused, on this node at once, on other nodes within 1 s. Running work is
   * settled. Repeating it changes nothing. Throws a RangeError for an id that no account has.
   */
  suspendAccount(publicId: string, audit: Audit): Promise<Account>

  /** Ends a suspension. Repeating it changes nothing. Throws a RangeError for an id that no account has. */
  resumeAccount(publicId: string, audit: Audit): Promise<Account>

  /**
   * Switches the replays of an account, on this node at once, on other nodes within 1 s. Repeating it changes nothing.
   * Throws a RangeError for an id that no account has.
   */
  switchReplays(publicId: string, isOn: boolean, audit: Audit): Promise<Account>

  createKey(request: {
    readonly publicId: string
    readonly accountId: number
    readonly name: string
    /** SHA-256 of the whole key. */
    readonly hash: Uint8Array
    /** The first 12 characters of the key, which lists show. */
    readonly prefix: string
    readonly audit: Audit
  }): Promise<ApiKey>

  /** All keys of an account, including revoked ones. */
  listKeys(accountId: number): Promise<readonly ApiKey[]>

  /**
   * Revokes a key. This node refuses it at once, other nodes within 1 s. Undefined if there is no such key. Repeating
   * it changes nothing.
   */
  revokeKey(publicId: string, audit: Audit): Promise<ApiKey | undefined>

  /**
   * The account and key of a hash; undefined for a key that is unknown or revoked. Unknown keys take no memory and
   * little time, so that a flood of them cannot exhaust the store.
   */
  authenticate(hash: string): Promise<Authenticated | undefined>
}

export type AccountPage = {
  readonly limit: number
  /** The `next` of the page before; opaque. */
  readonly cursor?: string
}

export type Authenticated = { readonly account: Account; readonly apiKey: ApiKey }
