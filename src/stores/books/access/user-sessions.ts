import {
  SESSIONS_MAX,
  sessionEndsAtMs,
  USE_NOTED_MS,
  type Session,
  type User,
} from '../../../domain/admin/user.ts'
import { GatewayError } from '../../../domain/errors.ts'
import type { Editor } from '../../../gateway/ports/access/accounts.ts'
import type { NewSession, UserSessions } from '../../../gateway/ports/access/users.ts'
import { sessionFrom, userFrom, type SessionRow, type UserRow } from '../rows/user-rows.ts'
import { all, first, run, type StepRunner, type Step } from '../steps.ts'
import { appendAudit } from './audit-log.ts'
import { endLinks } from './users.ts'

/** The sessions of one node. They are read for each request, so an ended one is refused at once on every node. */
export class StoredUserSessions implements UserSessions {
  readonly #stepRunner: StepRunner
  /** The sessions whose use is being written. */
  readonly #noting = new Set<string>()

  constructor(stepRunner: StepRunner) {
    this.#stepRunner = stepRunner
  }

  open(request: NewSession): Promise<Session> {
    return this.#stepRunner.write('access', () => openSession(request))
  }

  find(hash: Uint8Array, nowMs: number): ReturnType<UserSessions['find']> {
    return this.#stepRunner.read(function* () {
      const row = yield* first<SessionRow>('SELECT * FROM user_sessions WHERE hash = ?', hash)
      if (row === undefined || isOver(row, nowMs)) return undefined
      const user = yield* first<UserRow>('SELECT * FROM users WHERE id = ?', row.user_id)
      return user && { session: sessionFrom(row), user: userFrom(user) }
    })
  }

  noteUse({ publicId, usedAtMs }: Session, atMs: number): void {
    if (this.#noting.has(publicId) || atMs < usedAtMs + USE_NOTED_MS) return
    void this.#writeUse(publicId, atMs)
  }

  async #writeUse(publicId: string, atMs: number): Promise<void> {
    this.#noting.add(publicId)
    try {
      await this.#stepRunner.write('access', () => writeUse(publicId, atMs))
    } catch {
      // The next use writes the time.
    } finally {
      this.#noting.delete(publicId)
    }
  }

  list(userId: number, nowMs: number): Promise<readonly Session[]> {
    return this.#stepRunner.read(function* () {
      const rows = yield* sessionsOf(userId)
      return rows.filter(row => !isOver(row, nowMs)).map(sessionFrom)
    })
  }

  isKnownAddress(userId: number, address: string): Promise<boolean> {
    return this.#stepRunner.read(function* () {
      const sql = 'SELECT id FROM user_sessions WHERE user_id = ? AND address = ? LIMIT 1'
      return (yield* first(sql, userId, address)) !== undefined
    })
  }

  end({ userId, publicId }: Parameters<UserSessions['end']>[0], by: Editor): Promise<boolean> {
    return this.#stepRunner.write('access', function* () {
      const sql = 'DELETE FROM user_sessions WHERE user_id = ? AND public_id = ? RETURNING id'
      const ended = yield* first(sql, userId, publicId)
      if (ended !== undefined) yield* appendAudit({ ...by, action: 'session.end', subject: publicId })
      return ended !== undefined
    })
  }

  endAll({ id, publicId }: Pick<User, 'id' | 'publicId'>, by: Editor): Promise<number> {
    return this.#stepRunner.write('access', function* () {
      const ended = yield* all('DELETE FROM user_sessions WHERE user_id = ? RETURNING id', id)
      yield* endLinks(id)
      if (ended.length > 0)
        yield* appendAudit({
          ...by,
          action: 'user.sign_out',
          subject: publicId,
          detail: `${ended.length} sessions`,
        })
      return ended.length
    })
  }
}

function* openSession(request: NewSession): Step<Session> {
  const { publicId, user, hash, address, userAgent, replaces, audit } = request
  const current = yield* first<UserRow>('SELECT * FROM users WHERE id = ?', user.id)
  const isSame = current?.disabled_at_ms === null && Number(current.sign_in_version) === user.signInVersion
  if (!isSame) throw new GatewayError('wrong_credentials', 'The user was changed meanwhile. Sign in again.')
  if (replaces !== undefined) yield* run('DELETE FROM user_sessions WHERE hash = ?', replaces)
  yield* endOldest(user.id)
  yield* run(
    `INSERT INTO user_sessions (public_id, user_id, hash, address, user_agent, created_at_ms, used_at_ms)
      VALUES (?, ?, ?, ?, ?, ?, ?)`,
    publicId,
    user.id,
    hash,
    address,
    userAgent,
    audit.atMs,
    audit.atMs,
  )
  yield* run('UPDATE users SET signed_in_at_ms = ? WHERE id = ?', audit.atMs, user.id)
  yield* appendAudit(audit)
  return { publicId, address, userAgent, createdAtMs: audit.atMs, usedAtMs: audit.atMs }
}

/** Leaves room for one more session. Ended sessions stay until then, because they name known addresses. */
function* endOldest(userId: number): Step<void> {
  for (const { id } of (yield* sessionsOf(userId)).slice(SESSIONS_MAX - 1))
    yield* run('DELETE FROM user_sessions WHERE id = ?', id)
}

function sessionsOf(userId: number): Step<readonly SessionRow[]> {
  return all('SELECT * FROM user_sessions WHERE user_id = ? ORDER BY id DESC', userId)
}

function writeUse(publicId: string, atMs: number): Step<void> {
  const sql = 'UPDATE user_sessions SET used_at_ms = ? WHERE public_id = ? AND used_at_ms < ?'
  return run(sql, atMs, publicId, atMs)
}

function isOver(row: SessionRow, nowMs: number): boolean {
  return nowMs >= sessionEndsAtMs(sessionFrom(row))
}
