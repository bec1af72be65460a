import type { AdminRights, AdminToken, DayGrants } from '../../../domain/admin/admin-token.ts'
import type { Editor } from './accounts.ts'
import type { Audit } from './audit.ts'

/** The tokens of the admin API. The text of a token is never stored, only its SHA-256. */
export interface AdminTokens {
  /** Throws `already_exists` if a token that is not revoked has the name. */
  create(request: NewAdminToken): Promise<AdminToken>

  /**
   * The tokens in the order of their creation, including expired and revoked ones. Throws `invalid_field` for a cursor
   * that the store did not give.
   */
  list(page: {
    readonly limit: number
    /** The `next` of the page before; opaque. */
    readonly cursor?: string
  }): Promise<{ readonly tokens: readonly AdminToken[]; readonly next?: string }>

  /**
   * The tokens with an id, a hash, first characters or a name, including expired and revoked ones, latest first.
   * Unknown tokens take no memory and little time, so that a flood of them cannot exhaust the store.
   */
  find(by: AdminTokenName): Promise<readonly AdminToken[]>

  /** Refuses a token from the next request on. Repeating it changes nothing. Throws a RangeError for an unknown id. */
  revoke(publicId: string, by: Editor): Promise<AdminToken>

  /**
   * Notes that a token was used, with a precision of one day: only the first use of a day is written, and nobody waits
   * for it. It does not fail. A day that could not be written is written at the next use.
   */
  noteUse(token: Pick<AdminToken, 'id' | 'lastUsedDay'>, atMs: number): void

  /** What a token granted on the latest day on which it granted anything; undefined if it never did. */
  latestGrants(id: number): Promise<DayGrants | undefined>
}

export type NewAdminToken = AdminRights & {
  readonly publicId: string
  readonly name: string
  /** SHA-256 of the whole token. */
  readonly hash: Uint8Array
  readonly prefix: string
  /** Its actor is the creator of the token. */
  readonly audit: Audit
}

/** How a token can be found. Only one token of a name is not revoked. */
export type AdminTokenName =
  | { readonly publicId: string }
  | { readonly hash: Uint8Array }
  | { readonly prefix: string }
  | { readonly name: string }
