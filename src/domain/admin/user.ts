import type { NanoUsd } from '../money.ts'
import type { AdminRights, AdminScope } from './admin-token.ts'

/**
 * What a user may do: everything; everything but users, admin tokens and providers; read, and give grants up to an
 * amount a day; or read. The admin API's table of routes has the roles of each method.
 */
export const roles = ['owner', 'operator', 'support', 'viewer'] as const
export type Role = (typeof roles)[number]

/** A person who signs in to the console. */
export type User = {
  /** The store's integer key. */
  readonly id: number
  /** `usr_…` */
  readonly publicId: string
  /** In lower case. Unique. */
  readonly email: string
  readonly name: string
  readonly role: Role
  /** The account of a customer. Null for the people of the operator. */
  readonly accountId: number | null
  /** The most that the grants of one day in UTC may add up to. Null unless the role is `support`. */
  readonly grantsPerDay: NanoUsd | null
  readonly hasPassword: boolean
  /** Whether signing in with a password needs a one-time code too. */
  readonly hasTotp: boolean
  /** Who the user is at the OpenID provider. Null until the first sign-in there. */
  readonly identity: Identity | null
  /** Counts the changes that end all sessions. */
  readonly signInVersion: number
  /** Who invited the user, as in the audit log. */
  readonly createdBy: string
  readonly createdAtMs: number
  readonly signedInAtMs: number | null
  readonly disabledAtMs: number | null
}

/** A person at an OpenID provider. */
export type Identity = { readonly issuer: string; readonly subject: string }

/** What can be changed of a user. */
export type UserPatch = {
  readonly name?: string
  readonly role?: Role
  readonly grantsPerDay?: NanoUsd | null
  readonly isDisabled?: boolean
  /** Switches one-time codes off, for a user who has lost the device. */
  readonly hasTotp?: false
}

/** An invited user has not signed in yet, and cannot without the link of the invitation or the OpenID provider. */
export function userState({
  disabledAtMs,
  hasPassword,
  identity,
}: Pick<User, 'disabledAtMs' | 'hasPassword' | 'identity'>): 'invited' | 'active' | 'disabled' {
  if (disabledAtMs !== null) return 'disabled'
  return hasPassword || identity !== null ? 'active' : 'invited'
}

/** Whether the user may use the admin API. The people of customers may not, whatever their role. */
export function isOperatorStaff({ accountId }: Pick<User, 'accountId'>): boolean {
  return accountId === null
}

const scopesOf = {
  owner: ['all'],
  operator: ['all'],
  support: ['read', 'grants'],
  viewer: ['read'],
} as const satisfies Record<Role, readonly AdminScope[]>

/** The rights of a role as those of a token. The roles in the table of routes narrow them further. */
export function rightsOf({ role, grantsPerDay }: Pick<User, 'role' | 'grantsPerDay'>): AdminRights {
  return { scopes: scopesOf[role], grantsPerDay, expiresAtMs: null }
}

/** A browser that is signed in. */
export type Session = {
  /** `ses_…` */
  readonly publicId: string
  readonly address: string
  readonly userAgent: string
  readonly createdAtMs: number
  /** With a precision of `USE_NOTED_MS`. */
  readonly usedAtMs: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** A session ends when nobody has used it for this long. */
const SESSION_IDLE_MS = 12 * HOUR_MS
/** A session ends this long after its sign-in, however often it is used. */
export const SESSION_MS = 30 * DAY_MS
/** For so long, a sign-in proves who uses the browser. */
export const SIGN_IN_FRESH_MS = 5 * MINUTE_MS
/** How often the use of a session is written. */
export const USE_NOTED_MS = 5 * MINUTE_MS
/** More sessions of one user end the oldest ones. */
export const SESSIONS_MAX = 50

/** When a session ends if it is not used again. */
export function sessionEndsAtMs({
  createdAtMs,
  usedAtMs,
}: Pick<Session, 'createdAtMs' | 'usedAtMs'>): number {
  return Math.min(usedAtMs + SESSION_IDLE_MS, createdAtMs + SESSION_MS)
}

/** A one-time link: for the first owner of a new gateway, for a user who was invited, or for a new password. */
export type SignInLink =
  | { readonly kind: 'first'; readonly expiresAtMs: number }
  | { readonly kind: 'invitation' | 'reset'; readonly user: User; readonly expiresAtMs: number }

export const linkMs = {
  first: DAY_MS,
  invitation: 7 * DAY_MS,
  // By e-mail, so it is shorter.
  reset: HOUR_MS * 24,
} as const satisfies Record<SignInLink['kind'], number>
