import type { AdminToken, DayGrants } from '../../../domain/admin/admin-token.ts'
import { GatewayError } from '../../../domain/errors.ts'
import type { Editor } from '../../../gateway/ports/access/accounts.ts'
import type {
  AdminTokenName,
  AdminTokens,
  NewAdminToken,
} from '../../../gateway/ports/access/admin-tokens.ts'
import { adminTokensTable } from '../rows/access-tables.ts'
import { adminTokenFrom, adminTokenRow, type AdminTokenRow } from '../rows/admin-token-rows.ts'
import { cursorOf, pageOf, readCursor } from '../cursors.ts'
import { all, insert, run, type StepRunner, type Step } from '../steps.ts'
import { dayOf } from '../usage/usage-days.ts'
import { appendAudit } from './audit-log.ts'
import { latestGrants } from './day-grants.ts'

/** The admin tokens port of one node. Tokens are read for each request: operators send few, and nothing is stale. */
export class StoredAdminTokens implements AdminTokens {
  readonly #stepRunner: StepRunner
  /** The tokens whose use is being written. */
  readonly #noting = new Set<number>()

  constructor(stepRunner: StepRunner) {
    this.#stepRunner = stepRunner
  }

  create(request: NewAdminToken): Promise<AdminToken> {
    return this.#stepRunner.write('access', () => createToken(request))
  }

  list(page: Parameters<AdminTokens['list']>[0]): ReturnType<AdminTokens['list']> {
    return this.#stepRunner.read(() => listTokens(page))
  }

  find(by: AdminTokenName): Promise<readonly AdminToken[]> {
    return this.#stepRunner.read(function* () {
      return (yield* rowsBy(by)).map(adminTokenFrom)
    })
  }

  revoke(publicId: string, by: Editor): Promise<AdminToken> {
    return this.#stepRunner.write('access', () => revokeToken(publicId, by))
  }

  noteUse({ id, lastUsedDay }: Pick<AdminToken, 'id' | 'lastUsedDay'>, atMs: number): void {
    const day = dayOf(atMs)
    if (this.#noting.has(id) || (lastUsedDay !== null && lastUsedDay >= day)) return
    void this.#writeUse(id, day)
  }

  async #writeUse(id: number, day: number): Promise<void> {
    this.#noting.add(id)
    try {
      await this.#stepRunner.write('access', () => writeUse(id, day))
    } catch {
      // The next use writes the day.
    } finally {
      this.#noting.delete(id)
    }
  }

  latestGrants(id: number): Promise<DayGrants | undefined> {
    return this.#stepRunner.read(() => latestGrants({ of: 'token', id }))
  }
}

function* createToken(request: NewAdminToken): Step<AdminToken> {
  const { publicId, name, audit } = request
  if ((yield* rowsBy({ name })).some(({ revoked_at_ms: revokedAtMs }) => revokedAtMs === null))
    throw new GatewayError('already_exists', `There is already an admin token with the name "${name}".`, {
      param: 'name',
    })
  if ((yield* insert(adminTokensTable, adminTokenRow(request))) === null)
    throw new Error(`The admin token ${publicId} is in use.`)
  yield* appendAudit(audit)
  return yield* tokenById(publicId)
}

function* listTokens({ limit, cursor }: Parameters<AdminTokens['list']>[0]) {
  const after = cursor === undefined ? 0n : readCursor(cursor).value
  const rows = yield* all<AdminTokenRow>(
    'SELECT * FROM admin_tokens WHERE id > ? ORDER BY id LIMIT ?',
    after,
    limit + 1,
  )
  const { shown, ...next } = pageOf(rows, limit, ({ id }) => cursorOf(id))
  return { tokens: shown.map(adminTokenFrom), ...next }
}

function* revokeToken(publicId: string, { actor, atMs }: Editor): Step<AdminToken> {
  const token = yield* tokenById(publicId)
  if (token.revokedAtMs !== null) return token
  yield* run('UPDATE admin_tokens SET revoked_at_ms = ? WHERE public_id = ?', atMs, publicId)
  yield* appendAudit({ actor, action: 'token.revoke', subject: publicId, atMs })
  return { ...token, revokedAtMs: atMs }
}

function writeUse(id: number, day: number): Step<void> {
  return run(
    'UPDATE admin_tokens SET last_used_day = ? WHERE id = ? AND (last_used_day IS NULL OR last_used_day < ?)',
    day,
    id,
    day,
  )
}

function rowsBy(by: AdminTokenName): Step<readonly AdminTokenRow[]> {
  if ('publicId' in by) return tokensWhere('public_id = ?', by.publicId)
  if ('hash' in by) return tokensWhere('hash = ?', by.hash)
  return 'prefix' in by
    ? tokensWhere('prefix = ? ORDER BY id DESC', by.prefix)
    : tokensWhere('name = ? ORDER BY id DESC', by.name)
}

function tokensWhere(condition: string, value: string | Uint8Array): Step<readonly AdminTokenRow[]> {
  return all(`SELECT * FROM admin_tokens WHERE ${condition}`, value)
}

function* tokenById(publicId: string): Step<AdminToken> {
  const [row] = yield* rowsBy({ publicId })
  if (row === undefined) throw new RangeError(`There is no admin token ${publicId}.`)
  return adminTokenFrom(row)
}
