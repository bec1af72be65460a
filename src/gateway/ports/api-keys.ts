import type { Account } from '../../domain/accounts/account.ts'
import type { ApiKey, KeyPatch } from '../../domain/accounts/api-key.ts'
import type { Project } from '../../domain/accounts/project.ts'
import type { LimitsPatch } from '../../domain/limits/limits-row.ts'
import type { Editor } from './accounts.ts'
import type { Audit } from './audit.ts'

/** The API keys of accounts. The text of a key is never stored, only its SHA-256. */
export interface ApiKeys {
  /**
   * Creates a key with the default limits of its account and of the gateway, where `limits` does not say otherwise. Throws
   * `invalid_field` if the project was closed or belongs to another account, and for limits of too many models.
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
    /** Replaces the defaults that it names. Null removes one. */
    readonly limits?: LimitsPatch | undefined
    readonly audit: Audit
  }): Promise<ApiKey>

  /** All keys of an account, including revoked ones. */
  list(accountId: number): Promise<readonly ApiKey[]>

  /** The keys with an id, a hash or first characters, including revoked ones, oldest first. Several can begin alike. */
  find(by: KeyName): Promise<readonly ApiKey[]>

  /** Changes a key. The rules are those of `Accounts.updateAccount`. */
  update(publicId: string, patch: KeyPatch, by: Editor): Promise<ApiKey>

  /**
   * The account, the key and its project of a hash; undefined for a key that is unknown or revoked. Unknown keys take no memory and
   * little time, so that a flood of them cannot exhaust the store.
   */
  authenticate(hash: string): Promise<Authenticated | undefined>
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
}
