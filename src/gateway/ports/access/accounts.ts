import type { Account, AccountPatch } from '../../../domain/accounts/account.ts'
import type { Audit } from './audit.ts'

/** The accounts of customers. */
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
   * Changes an account in one step, on this node at once, on other nodes within 1 s. Each part of the patch that
   * changes something gets its audit line; repeating a patch changes nothing. A budget counts what was spent before it
   * was set. Throws `already_exists` for a name of another account, a RangeError for an id that no account has,
   * `invalid_field` for limits of too many models and for an unknown price list, `already_closed` for limits and
   * defaults of a closed account, and `unavailable` for a budget while an upgrade adds up earlier charges. Then nothing
   * of the patch is done.
   */
  updateAccount(publicId: string, patch: AccountPatch, by: Editor): Promise<Account>

  /**
   * Closes an account for good, in one step: on this node at once, on other nodes within 1 s. Its keys are refused, and
   * it takes no credits, refunds, holds or keys. Its books stay. Repeating it changes nothing. Throws
   * `account_not_empty` if the account has money, owes money or has running work, and a RangeError for an id that no
   * account has.
   */
  closeAccount(publicId: string, by: Editor): Promise<Account>
}

/** Who makes a change, and when. */
export type Editor = Pick<Audit, 'actor' | 'atMs'>

export type AccountPage = {
  readonly limit: number
  /** Only accounts with this part in their name, in upper or lower case, or in their id. */
  readonly search?: string
  /** The `next` of the page before; opaque. */
  readonly cursor?: string
}
