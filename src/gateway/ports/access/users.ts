import type { Identity, Session, SignInLink, User, UserPatch } from '../../../domain/admin/user.ts'
import type { DayGrants } from '../../../domain/admin/admin-token.ts'
import type { Editor } from './accounts.ts'
import type { Audit } from './audit.ts'

/** The people who sign in to the console. What they sign in with is stored hashed or encrypted. */
export interface Users {
  /** Throws `already_exists` if a user has the e-mail address. */
  create(request: NewUser): Promise<User>

  /** Whether there is any user, also one who is invited or disabled. */
  hasAny(): Promise<boolean>

  /**
   * The users in the order of their creation, including disabled ones. Throws `invalid_field` for a cursor that the
   * store did not give.
   */
  list(page: {
    readonly limit: number
    /** The `next` of the page before; opaque. */
    readonly cursor?: string
  }): Promise<{ readonly users: readonly User[]; readonly next?: string }>

  find(by: UserName): Promise<User | undefined>

  /** What a user signs in with. Undefined for an unknown e-mail address. */
  credentials(email: string): Promise<Credentials | undefined>

  /**
   * Changes a user. A new role, new limits of grants, and disabling end all sessions of the user. Repeating it changes
   * nothing. Throws `last_owner` if no owner who can sign in would be left, and a RangeError for an unknown id.
   */
  change(publicId: string, patch: UserPatch, by: Editor): Promise<User>

  /** Replaces the password, and ends all sessions and links of the user. Throws a RangeError for an unknown id. */
  setPassword(publicId: string, passwordHash: string, by: Editor): Promise<User>

  /** Keeps a secret of one-time codes, which counts after it was confirmed. */
  proposeTotp(publicId: string, secret: string): Promise<void>

  /** The proposed secret. Undefined if there is none. */
  proposedTotp(publicId: string): Promise<string | undefined>

  /**
   * Makes the proposed secret the one of the user. `step` is the period of the code that confirmed it. Throws
   * `not_found` if the proposed secret is another one by now.
   */
  confirmTotp(
    publicId: string,
    confirmed: { readonly secret: string; readonly step: number },
    by: Editor,
  ): Promise<User>

  /** Uses up the code of a period of time. False if this or a later one was used before. */
  useTotpStep(publicId: string, step: number): Promise<boolean>

  /** Names the person at the OpenID provider. False if the user has an identity, or another user has this one. */
  linkIdentity(publicId: string, identity: Identity, by: Editor): Promise<boolean>

  /** What a user granted on the latest day on which the user granted anything; undefined if there is none. */
  latestGrants(id: number): Promise<DayGrants | undefined>
}

export type NewUser = Pick<User, 'publicId' | 'email' | 'name' | 'role' | 'accountId' | 'grantsPerDay'> & {
  /** Its actor is who invites the user. */
  readonly audit: Audit
}

export type UserName =
  | { readonly publicId: string }
  | { readonly email: string }
  | { readonly identity: Identity }

export type Credentials = {
  readonly user: User
  /** Null until the user has set a password. */
  readonly passwordHash: string | null
  /** The secret of one-time codes; null while they are off. */
  readonly totpSecret: string | null
}

/** The browsers that are signed in. The text of a cookie is never stored, only its SHA-256. */
export interface UserSessions {
  /**
   * Signs a user in. Ends the session that the browser had, and the oldest of too many. Throws `wrong_credentials` if
   * the user was disabled, or changed so that sessions end, since `user` was read.
   */
  open(request: NewSession): Promise<Session>

  /** The session of a cookie, with its user. Undefined if it has ended. */
  find(
    hash: Uint8Array,
    nowMs: number,
  ): Promise<{ readonly session: Session; readonly user: User } | undefined>

  /**
   * Notes that a session was used, with a precision of `USE_NOTED_MS`. Nobody waits for it, and it does not fail: a use
   * that could not be written is written at the next one.
   */
  noteUse(session: Session, atMs: number): void

  /** The sessions of a user that have not ended, latest first. */
  list(userId: number, nowMs: number): Promise<readonly Session[]>

  /** Whether a session of the user, ended or not, is kept that was opened from this address. */
  isKnownAddress(userId: number, address: string): Promise<boolean>

  /** Ends a session of a user. False if it has ended. */
  end(session: { readonly userId: number; readonly publicId: string }, by: Editor): Promise<boolean>

  /** Ends all sessions of a user. Returns how many. */
  endAll(user: Pick<User, 'id' | 'publicId'>, by: Editor): Promise<number>
}

export type NewSession = {
  readonly publicId: string
  readonly user: Pick<User, 'id' | 'publicId' | 'signInVersion'>
  readonly hash: Uint8Array
  readonly address: string
  readonly userAgent: string
  /** The hash of the cookie that the browser had, if it had one. */
  readonly replaces: Uint8Array | undefined
  /** How the user signed in. */
  readonly audit: Audit
}

/** One-time links. The text of a link is never stored, only its SHA-256. */
export interface SignInLinks {
  /** Makes a link. It ends the earlier links of its user. That of the first owner leaves earlier ones valid. */
  create(link: {
    readonly hash: Uint8Array
    readonly kind: SignInLink['kind']
    /** Undefined for the first owner. */
    readonly user: Pick<User, 'id'> | undefined
    readonly createdAtMs: number
    readonly expiresAtMs: number
    readonly audit: Audit | undefined
  }): Promise<void>

  /** Undefined for a link that has expired, was used or replaced, or whose user was disabled. */
  find(hash: Uint8Array, nowMs: number): Promise<SignInLink | undefined>

  /**
   * Uses up a link of a user: sets the password and perhaps the name, and ends all sessions and links of the user.
   * Undefined if the link has ended.
   */
  use(
    hash: Uint8Array,
    set: { readonly passwordHash: string; readonly name: string | undefined },
    at: { readonly nowMs: number },
  ): Promise<User | undefined>

  /** Uses up the link of the first owner: creates the owner. Undefined if the link has ended, or there is a user. */
  useFirst(
    hash: Uint8Array,
    owner: {
      readonly publicId: string
      readonly email: string
      readonly name: string
      readonly passwordHash: string
    },
    at: { readonly nowMs: number },
  ): Promise<User | undefined>
}
