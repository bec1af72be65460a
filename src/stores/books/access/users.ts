import type { DayGrants } from '../../../domain/admin/admin-token.ts'
import { userState, type User, type UserPatch } from '../../../domain/admin/user.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { formatUsd } from '../../../domain/money.ts'
import type { Editor } from '../../../gateway/ports/access/accounts.ts'
import type { Credentials, NewUser, UserName, Users } from '../../../gateway/ports/access/users.ts'
import { cursorOf, pageOf, readCursor } from '../cursors.ts'
import { userFrom, type UserRow } from '../rows/user-rows.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import { all, first, run, type StepRunner, type Step } from '../steps.ts'
import { appendAudit } from './audit-log.ts'
import { latestGrants } from './day-grants.ts'

/** The users port of one node. Users are read for each request: people send few, and nothing is stale. */
export class StoredUsers implements Users {
  readonly #stepRunner: StepRunner
  readonly #secretBox: SecretBox

  constructor(parts: { readonly stepRunner: StepRunner; readonly secretBox: SecretBox }) {
    this.#stepRunner = parts.stepRunner
    this.#secretBox = parts.secretBox
  }

  create(request: NewUser): Promise<User> {
    return this.#stepRunner.write('access', () => createUser(request))
  }

  hasAny(): Promise<boolean> {
    return this.#stepRunner.read(hasAnyUser)
  }

  list(page: Parameters<Users['list']>[0]): ReturnType<Users['list']> {
    return this.#stepRunner.read(() => listUsers(page))
  }

  find(by: UserName): Promise<User | undefined> {
    return this.#stepRunner.read(function* () {
      const row = yield* rowBy(by)
      return row && userFrom(row)
    })
  }

  credentials(email: string): Promise<Credentials | undefined> {
    const box = this.#secretBox
    return this.#stepRunner.read(function* () {
      const row = yield* rowBy({ email })
      if (row === undefined) return undefined
      return {
        user: userFrom(row),
        passwordHash: row.password_hash,
        totpSecret: opened(row, 'totp_secret', box),
      }
    })
  }

  change(publicId: string, patch: UserPatch, by: Editor): Promise<User> {
    return this.#stepRunner.write('access', () => changeUser(publicId, patch, by))
  }

  setPassword(publicId: string, passwordHash: string, by: Editor): Promise<User> {
    return this.#stepRunner.write('access', function* () {
      const { id } = yield* rowOf(publicId)
      yield* replacePassword(id, passwordHash)
      yield* appendAudit({ ...by, action: 'user.password', subject: publicId })
      return userFrom(yield* rowOf(publicId))
    })
  }

  proposeTotp(publicId: string, secret: string): Promise<void> {
    const sealed = this.#secretBox.seal(secret, secretOwner(publicId))
    return this.#stepRunner.write('access', () =>
      run('UPDATE users SET totp_pending = ? WHERE public_id = ?', sealed, publicId),
    )
  }

  proposedTotp(publicId: string): Promise<string | undefined> {
    const box = this.#secretBox
    return this.#stepRunner.read(function* () {
      return opened(yield* rowOf(publicId), 'totp_pending', box) ?? undefined
    })
  }

  confirmTotp(publicId: string, confirmed: Parameters<Users['confirmTotp']>[1], by: Editor): Promise<User> {
    const box = this.#secretBox
    return this.#stepRunner.write('access', function* () {
      const row = yield* rowOf(publicId)
      if (opened(row, 'totp_pending', box) !== confirmed.secret)
        throw new GatewayError('not_found', 'Another secret was made meanwhile. Scan the latest code.')
      yield* run(
        'UPDATE users SET totp_secret = totp_pending, totp_pending = NULL, totp_used_step = ? WHERE id = ?',
        confirmed.step,
        row.id,
      )
      yield* appendAudit({ ...by, action: 'user.totp', subject: publicId, detail: 'on' })
      return userFrom(yield* rowOf(publicId))
    })
  }

  useTotpStep(publicId: string, step: number): Promise<boolean> {
    return this.#stepRunner.write('access', function* () {
      const used = yield* first(
        'UPDATE users SET totp_used_step = ? WHERE public_id = ? AND totp_used_step < ? RETURNING id',
        step,
        publicId,
        step,
      )
      return used !== undefined
    })
  }

  linkIdentity(publicId: string, { issuer, subject }: Parameters<Users['linkIdentity']>[1], by: Editor) {
    return this.#stepRunner.write('access', function* () {
      const row = yield* rowOf(publicId)
      const other = yield* rowBy({ identity: { issuer, subject } })
      if (row.oidc_issuer !== null || other !== undefined) return false
      yield* run('UPDATE users SET oidc_issuer = ?, oidc_subject = ? WHERE id = ?', issuer, subject, row.id)
      // The invitation would still set a password.
      yield* endLinks(row.id)
      const detail = JSON.stringify({ issuer, subject })
      yield* appendAudit({ ...by, action: 'user.identity', subject: publicId, detail })
      return true
    })
  }

  latestGrants(id: number): Promise<DayGrants | undefined> {
    return this.#stepRunner.read(() => latestGrants({ of: 'user', id }))
  }
}

/** Inside a step: whether there is any user. */
export function* hasAnyUser(): Step<boolean> {
  return (yield* first('SELECT id FROM users LIMIT 1')) !== undefined
}

/** Inside a step: creates a user, without a password. */
export function* createUser({ audit, ...user }: NewUser): Step<User> {
  const { publicId, email, name, role, accountId, grantsPerDay } = user
  if ((yield* rowBy({ email })) !== undefined)
    throw new GatewayError('already_exists', `There is already a user with the e-mail address ${email}.`, {
      param: 'email',
    })
  yield* run(
    `INSERT INTO users (public_id, email, name, role, account_id, grants_per_day, created_by, created_at_ms)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    publicId,
    email,
    name,
    role,
    accountId,
    grantsPerDay,
    audit.actor,
    audit.atMs,
  )
  yield* appendAudit(audit)
  return userFrom(yield* rowOf(publicId))
}

/** Inside a step: replaces the password, and ends the sessions and links of the user. */
export function* replacePassword(userId: bigint, passwordHash: string): Step<void> {
  yield* run('UPDATE users SET password_hash = ? WHERE id = ?', passwordHash, userId)
  yield* endLinks(userId)
  yield* endSessions(userId)
}

/** Inside a step: ends the links that were sent to a user. */
export function* endLinks(userId: bigint | number): Step<void> {
  yield* run('DELETE FROM user_links WHERE user_id = ?', userId)
}

function* endSessions(userId: bigint): Step<void> {
  yield* run('UPDATE users SET sign_in_version = sign_in_version + 1 WHERE id = ?', userId)
  yield* run('DELETE FROM user_sessions WHERE user_id = ?', userId)
}

function* listUsers({ limit, cursor }: Parameters<Users['list']>[0]) {
  const after = cursor === undefined ? 0n : readCursor(cursor).value
  const rows = yield* all<UserRow>('SELECT * FROM users WHERE id > ? ORDER BY id LIMIT ?', after, limit + 1)
  const { shown, ...next } = pageOf(rows, limit, ({ id }) => cursorOf(id))
  return { users: shown.map(userFrom), ...next }
}

function* changeUser(publicId: string, patch: UserPatch, by: Editor): Step<User> {
  const row = yield* rowOf(publicId)
  const before = userFrom(row)
  const { name = before.name, role = before.role, grantsPerDay = before.grantsPerDay } = patch
  const isDisabled = patch.isDisabled ?? before.disabledAtMs !== null
  const disabledAtMs = isDisabled ? (before.disabledAtMs ?? by.atMs) : null
  const after = {
    ...before,
    name,
    role,
    grantsPerDay,
    disabledAtMs,
    hasTotp: patch.hasTotp ?? before.hasTotp,
  }
  const changes = changesOf(before, after)
  if (changes.length === 0) return before
  if (isActiveOwner(before) && !isActiveOwner(after)) yield* refuseLastOwner(before)
  yield* run(
    'UPDATE users SET name = ?, role = ?, grants_per_day = ?, disabled_at_ms = ? WHERE id = ?',
    name,
    role,
    grantsPerDay,
    disabledAtMs,
    row.id,
  )
  if (!after.hasTotp)
    yield* run('UPDATE users SET totp_secret = NULL, totp_pending = NULL WHERE id = ?', row.id)
  if (changes.some(({ endsSessions }) => endsSessions)) yield* endSessions(row.id)
  if (isDisabled) yield* endLinks(row.id)
  const detail = changes.map(({ words }) => words).join(', ')
  yield* appendAudit({ ...by, action: 'user.change', subject: publicId, detail })
  return userFrom(yield* rowOf(publicId))
}

/** The change in words, for the audit log. */
function changesOf(
  before: User,
  after: User,
): readonly { readonly words: string; readonly endsSessions: boolean }[] {
  const grants = ({ grantsPerDay }: User) => (grantsPerDay === null ? 'none' : formatUsd(grantsPerDay))
  return [
    { words: 'name', isChanged: before.name !== after.name, endsSessions: false },
    {
      words: `role ${before.role} -> ${after.role}`,
      isChanged: before.role !== after.role,
      endsSessions: true,
    },
    {
      words: `grants_per_day_usd ${grants(before)} -> ${grants(after)}`,
      isChanged: before.grantsPerDay !== after.grantsPerDay,
      endsSessions: true,
    },
    {
      words: after.disabledAtMs === null ? 'enabled' : 'disabled',
      isChanged: before.disabledAtMs !== after.disabledAtMs,
      endsSessions: true,
    },
    { words: 'one-time codes off', isChanged: before.hasTotp !== after.hasTotp, endsSessions: true },
  ].filter(({ isChanged }) => isChanged)
}

function isActiveOwner(user: User): boolean {
  return user.role === 'owner' && userState(user) === 'active'
}

/** Inside the turn `access`, so that two owners who demote each other do not both succeed. */
function* refuseLastOwner({ id, email }: User): Step<void> {
  const others = yield* all<UserRow>("SELECT * FROM users WHERE role = 'owner' AND id <> ?", id)
  if (others.map(userFrom).some(isActiveOwner)) return
  throw new GatewayError(
    'last_owner',
    `${email} is the only owner who can sign in. Make another user an owner first.`,
    { shouldRetry: false },
  )
}

function rowBy(by: UserName): Step<UserRow | undefined> {
  if ('publicId' in by) return first('SELECT * FROM users WHERE public_id = ?', by.publicId)
  if ('email' in by) return first('SELECT * FROM users WHERE email = ?', by.email)
  const { issuer, subject } = by.identity
  return first('SELECT * FROM users WHERE oidc_issuer = ? AND oidc_subject = ?', issuer, subject)
}

function* rowOf(publicId: string): Step<UserRow> {
  const row = yield* rowBy({ publicId })
  if (row === undefined) throw new RangeError(`There is no user ${publicId}.`)
  return row
}

/** The secret of a user is bound to this text, so that it cannot be moved to another user. */
function secretOwner(publicId: string): string {
  return `totp:${publicId}`
}

/** Null if there is none. Throws if it cannot be decrypted, because signing in without a code must not be possible. */
function opened(row: UserRow, column: 'totp_secret' | 'totp_pending', box: SecretBox): string | null {
  const sealed = row[column]
  if (sealed === null) return null
  const secret = box.open(sealed, secretOwner(row.public_id))
  if (secret === undefined)
    throw new Error(`The secret of the one-time codes of ${row.public_id} cannot be decrypted.`)
  return secret
}
