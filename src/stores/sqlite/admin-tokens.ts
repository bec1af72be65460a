import type { Database, Statement } from 'bun:sqlite'
import type { AdminToken, DayGrants } from '../../domain/admin/admin-token.ts'
import { GatewayError } from '../../domain/errors.ts'
import { nanoUsd } from '../../domain/money.ts'
import type { Editor } from '../../gateway/ports/accounts.ts'
import type { AdminTokenName, AdminTokens, NewAdminToken } from '../../gateway/ports/admin-tokens.ts'
import { adminTokenFrom, adminTokenRow, type AdminTokenRow } from '../books/admin-token-rows.ts'
import { cursorOf, readCursor } from '../books/cursors.ts'
import { dayOf } from '../books/usage-days.ts'
import type { SqliteAuditLog } from './audit-log.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Tables } from './hashed-table.ts'

type Parts = {
  readonly database: Database
  readonly groupCommit: GroupCommit
  readonly auditLog: SqliteAuditLog
  readonly tables: Tables
}

/** The admin tokens port of one node. Tokens are read for each request: operators send few, and nothing is stale. */
export class SqliteAdminTokens implements AdminTokens {
  readonly #parts: Parts
  readonly #sql: ReturnType<typeof statements>
  readonly #grantsOf: (id: number) => DayGrants | undefined
  /** The tokens whose use is being written. */
  readonly #noting = new Set<number>()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#sql = statements(parts.database)
    this.#grantsOf = grantsOfTokens(parts.database)
  }

  create(request: NewAdminToken): Promise<AdminToken> {
    const { groupCommit, auditLog, tables } = this.#parts
    const { publicId, name, audit } = request
    return groupCommit.run(() => {
      if (this.#sql.byName.all(name).some(({ revoked_at_ms }) => revoked_at_ms === null))
        throw new GatewayError('already_exists', `There is already an admin token with the name "${name}".`, {
          param: 'name',
        })
      if (tables.adminTokens.insert(adminTokenRow(request)) === null)
        throw new Error(`The admin token ${publicId} is in use.`)
      auditLog.append(audit)
      return adminTokenFrom(this.#row(publicId))
    })
  }

  async list({
    limit,
    cursor,
  }: Parameters<AdminTokens['list']>[0]): Promise<{ tokens: readonly AdminToken[]; next?: string }> {
    const after = cursor === undefined ? 0n : readCursor(cursor).value
    const rows = this.#sql.after.all(after, limit + 1)
    const shown = rows.slice(0, limit)
    const last = shown.at(-1)
    const hasMore = rows.length > limit && last !== undefined
    return { tokens: shown.map(adminTokenFrom), ...(hasMore ? { next: cursorOf(last.id) } : {}) }
  }

  async find(by: AdminTokenName): Promise<readonly AdminToken[]> {
    return this.#rows(by).map(adminTokenFrom)
  }

  revoke(publicId: string, { actor, atMs }: Editor): Promise<AdminToken> {
    return this.#parts.groupCommit.run(() => {
      const token = adminTokenFrom(this.#row(publicId))
      if (token.revokedAtMs !== null) return token
      this.#sql.revoke.run(atMs, publicId)
      this.#parts.auditLog.append({ actor, action: 'token.revoke', subject: publicId, atMs })
      return { ...token, revokedAtMs: atMs }
    })
  }

  noteUse({ id, lastUsedDay }: Pick<AdminToken, 'id' | 'lastUsedDay'>, atMs: number): void {
    const day = dayOf(atMs)
    if (this.#noting.has(id) || (lastUsedDay !== null && lastUsedDay >= day)) return
    void this.#writeUse(id, day)
  }

  async #writeUse(id: number, day: number): Promise<void> {
    this.#noting.add(id)
    try {
      await this.#parts.groupCommit.run(() => this.#sql.use.run(day, id))
    } catch {
      // The next use writes the day.
    } finally {
      this.#noting.delete(id)
    }
  }

  async latestGrants(id: number): Promise<DayGrants | undefined> {
    return this.#grantsOf(id)
  }

  #rows(by: AdminTokenName): readonly AdminTokenRow[] {
    if ('publicId' in by) return this.#sql.byPublicId.all(by.publicId)
    if ('hash' in by) return this.#sql.byHash.all(by.hash)
    return 'prefix' in by ? this.#sql.byPrefix.all(by.prefix) : this.#sql.byName.all(by.name)
  }

  #row(publicId: string): AdminTokenRow {
    const row = this.#sql.byPublicId.get(publicId)
    if (row === null) throw new RangeError(`There is no admin token ${publicId}.`)
    return row
  }
}

/**
 * What each token granted on the latest day on which it granted anything. The credits themselves are added up, so that
 * no count beside them can differ from them.
 */
export function grantsOfTokens(database: Database): (tokenId: number) => DayGrants | undefined {
  const select = database.prepare<{ day: bigint; granted: bigint }, [number]>(
    `SELECT token_day AS day, sum(amount) AS granted FROM credits WHERE token_id = ?
      GROUP BY token_day ORDER BY token_day DESC LIMIT 1`,
  )
  return tokenId => {
    const row = select.get(tokenId)
    return row === null ? undefined : { day: Number(row.day), granted: nanoUsd(row.granted) }
  }
}

function statements(database: Database) {
  const tokens = 'SELECT * FROM admin_tokens WHERE'
  return {
    byPublicId: database.prepare<AdminTokenRow, [string]>(`${tokens} public_id = ?`),
    byHash: database.prepare<AdminTokenRow, [Uint8Array]>(`${tokens} hash = ?`),
    byPrefix: database.prepare<AdminTokenRow, [string]>(`${tokens} prefix = ? ORDER BY id DESC`),
    byName: database.prepare<AdminTokenRow, [string]>(`${tokens} name = ? ORDER BY id DESC`),
    after: database.prepare<AdminTokenRow, [bigint, number]>(`${tokens} id > ? ORDER BY id LIMIT ?`),
    revoke: database.prepare('UPDATE admin_tokens SET revoked_at_ms = ? WHERE public_id = ?'),
    use: database.prepare('UPDATE admin_tokens SET last_used_day = ? WHERE id = ?'),
  } satisfies Record<string, Statement>
}
