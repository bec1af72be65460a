import type { Account } from '../../../domain/accounts/account.ts'
import type { ApiKey, KeyPatch } from '../../../domain/accounts/api-key.ts'
import type { Project } from '../../../domain/accounts/project.ts'
import type { SecretEnd } from '../../../domain/accounts/key-secrets.ts'
import type { KeySettingsPatch } from '../../../domain/accounts/key-settings.ts'
import type { LimitsPatch } from '../../../domain/limits/limits-row.ts'
import type { Editor } from './accounts.ts'
import type { Audit } from './audit.ts'

/** The API keys of accounts. The texts of their secrets are never stored, only the SHA-256 of each. */
export interface ApiKeys {
  /**
   * Creates a key with its settings and limits in one step, so that it is never without them. Those that the request
   * does not name are the defaults of its account or of the gateway. Throws `invalid_field` if the project was closed
   * or belongs to another account, and for limits of too many models. Then there is no key.
   */
  create(request: {
    readonly publicId: string
    readonly accountId: number
    /** `Project.id`; absent for a key without a project. */
    readonly projectId?: number | undefined
    readonly name: string
    /** SHA-256 of the whole key. */
    readonly hash: Uint8Array
    /** The first 12 characters of the key, which lists show. */
    readonly prefix: string
    /** Like `limits`. */
    readonly settings?: KeySettingsPatch
    /** Replaces the defaults that it names. Null removes one. */
    readonly limits?: LimitsPatch | undefined
    readonly audit: Audit
  }): Promise<ApiKey>

  /** All keys of an account, including revoked ones. */
  list(accountId: number): Promise<readonly ApiKey[]>

  /**
   * One page of the keys of all accounts, including revoked ones, newest first. Throws `invalid_field` for a cursor
   * that the store did not give.
   */
  listAll(page: KeyPage): Promise<{ readonly keys: readonly OwnedKey[]; readonly next?: string }>

  /**
   * The keys with an id, or with a secret of this hash or these first characters; also revoked keys and ended secrets.
   * Oldest first. Several can begin alike.
   */
  find(by: KeyName): Promise<readonly ApiKey[]>

  /** Changes a key. The rules are those of `Accounts.updateAccount`. */
  update(publicId: string, patch: KeyPatch, by: Editor): Promise<ApiKey>

  /**
   * Adds a secret to a key, which becomes its current one, and sets the end of the one before it, in one step: on this
   * node at once, on other nodes within 1 s. Of two rotations at once, one is refused. Throws what `rotateSecret`
   * throws, `already_closed` for a key of a closed account, and a RangeError for an id that no key has.
   */
  rotate(
    publicId: string,
    secret: {
      /** SHA-256 of its whole text. */
      readonly hash: Uint8Array
      readonly prefix: string
      /** When the secret before it ends; at once, if that is not after the time of the step. */
      readonly oldEndsAtMs: number
    },
    by: Editor,
  ): Promise<ApiKey>

  /**
   * Ends the secret with these first characters at once, in one step. Repeating it changes nothing. Throws what
   * `revokeSecret` throws, and a RangeError for an id that no key has.
   */
  revokeSecret(publicId: string, prefix: string, by: Editor): Promise<ApiKey>

  /**
   * The account, the key and the project of a secret; undefined for one that is unknown or whose key is revoked. A key
   * that is disabled or expired is known. Unknown secrets take no memory and little time, so that a flood of them
   * cannot exhaust the store.
   */
  authenticate(hash: string): Promise<Authenticated | undefined>

  /**
   * Remembers that a key was used on the day of this time, for `writeUses`. Returns at once. A day that is not later
   * than the one that is stored changes nothing.
   */
  noteUse(key: ApiKey, atMs: number): void

  /**
   * Writes the days that `noteUse` remembered on this node, at most once for each key and day. Closing the node writes
   * them too. If it fails, a later call writes them.
   */
  writeUses(): Promise<void>
}

export type KeyPage = {
  readonly limit: number
  /**
   * Only keys with this part in their name or in the name of their account, in upper or lower case, in their id, or in
   * their first characters.
   */
  readonly search?: string
  /** The `next` of the page before; opaque. */
  readonly cursor?: string
}

/** A key with its owners. */
export type OwnedKey = {
  readonly key: ApiKey
  /** Null if the account was deleted from the database by hand. */
  readonly account: Pick<Account, 'publicId' | 'name'> | null
  /** The public id of its project. Null for a key without one. */
  readonly project: string | null
}

/** How a key can be found: by its id, the SHA-256 of its text, or its first 12 characters. */
export type KeyName =
  | { readonly publicId: string }
  | { readonly hash: Uint8Array }
  | { readonly prefix: string }

export type Authenticated = {
  readonly account: Account
  readonly apiKey: ApiKey
  /** Absent for a key without one. */
  readonly project?: Project
  /** When the presented secret ends, or ended; absent if it has no end. */
  readonly secretEnd?: SecretEnd
}
