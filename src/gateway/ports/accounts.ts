import type { Account, AccountPatch, ApiKey, KeyPatch } from '../../domain/accounts/account.ts'
import type { Audit } from './audit.ts'

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
   * Changes an account in one step, on this node at once, on other nodes within 1 s. Each part of the patch that changes
   * something gets its audit line; repeating a patch changes nothing. A budget counts what was spent before it was set.
   * Throws a RangeError for an id that no account has, `invalid_field` for limits of too many models, and `unavailable`
   * for a budget while an upgrade adds up earlier charges. Then nothing of the patch is done.
   */
  updateAccount(publicId: string, patch: AccountPatch, by: Editor): Promise<Account>

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

  /** The keys with an id, a hash or first characters, including revoked ones, oldest first. Several can begin alike. */
  findKeys(by: KeyName): Promise<readonly ApiKey[]>

  /** Changes a key. The rules are those of `updateAccount`. */
  updateKey(publicId: string, patch: KeyPatch, by: Editor): Promise<ApiKey>

  /**
   * The account and key of a hash; undefined for a key that is unknown or revoked. Unknown keys take no memory and
   * little time, so that a flood of them cannot exhaust the store.
   */
  authenticate(hash: string): Promise<Authenticated | undefined>
}

/** How a key can be found: by its id, the SHA-256 of its text, or its first 12 characters. */
export type KeyName =
  | { readonly publicId: string }
  | { readonly hash: Uint8Array }
  | { readonly prefix: string }

/** Who makes a change, and when. */
export type Editor = Pick<Audit, 'actor' | 'atMs'>

export type AccountPage = {
  readonly limit: number
  /** The `next` of the page before; opaque. */
  readonly cursor?: string
}

export type Authenticated = { readonly account: Account; readonly apiKey: ApiKey }
