import type { Database, Statement } from 'bun:sqlite'
import {
  NO_KEY_DEFAULTS,
  patchKeyDefaults,
  readKeyDefaults,
  writeKeyDefaults,
  type NewKeyDefaults,
  type NewKeyDefaultsPatch,
} from '../../../domain/accounts/key-defaults.ts'
import type { KeyDefaults } from '../../../gateway/ports/key-defaults.ts'
import type { SqliteAuditLog } from '../audit-log.ts'
import { ClosedAccounts } from '../closed-accounts.ts'
import type { GroupCommit } from '../group-commit.ts'
import type { AuditedChange } from './limits.ts'

/** The row of the gateway. Those of accounts have the ids of accounts, which begin with 1. */
const GATEWAY = 0

/** The subject of the audit lines of the gateway's defaults. */
const GATEWAY_SUBJECT = 'gateway'

/** Defaults of this text have no row. */
const NONE = writeKeyDefaults(NO_KEY_DEFAULTS)

/** The table `key_defaults`. All nodes of a store share it. */
export class KeyDefaultRows {
  readonly #sql: ReturnType<typeof statements>
  readonly #closedAccounts: ClosedAccounts

  constructor({ database }: { readonly database: Database }) {
    this.#sql = statements(database)
    this.#closedAccounts = new ClosedAccounts(database)
  }

  of(accountId: number): NewKeyDefaults {
    const row = this.#sql.select.get(accountId)
    return row === null ? NO_KEY_DEFAULTS : readKeyDefaults(row.terms)
  }

  /** Inside a step: what a new key of an account may use, if its creator says nothing else. */
  ofNewKey(accountId: number): NewKeyDefaults {
    return patchKeyDefaults(this.of(GATEWAY), this.of(accountId))
  }

  /**
   * Inside a step: returns the audit line if the patch changes the defaults, with the new ones as its detail. Throws
   * `already_closed` for a closed account.
   */
  change(
    accountId: number,
    patch: NewKeyDefaultsPatch | undefined,
    line: AuditedChange,
  ): readonly AuditedChange[] {
    if (patch === undefined) return []
    this.#closedAccounts.refuse(accountId, 'defaults for new keys')
    const before = this.of(accountId)
    const after = writeKeyDefaults(patchKeyDefaults(before, patch))
    if (after === writeKeyDefaults(before)) return []
    if (after === NONE) this.#sql.remove.run(accountId)
    else this.#sql.upsert.run(accountId, after)
    return [{ ...line, detail: after }]
  }
}

/** `KeyDefaults` of one node. */
export function createKeyDefaults(parts: {
  readonly keyDefaults: KeyDefaultRows
  readonly auditLog: SqliteAuditLog
  readonly groupCommit: GroupCommit
}): KeyDefaults {
  const { keyDefaults, auditLog, groupCommit } = parts
  return {
    of: async accountId => keyDefaults.of(accountId ?? GATEWAY),
    change: (patch, by) =>
      groupCommit.run(() => {
        const line = { action: 'gateway.key_defaults', subject: GATEWAY_SUBJECT }
        for (const change of keyDefaults.change(GATEWAY, patch, line)) auditLog.append({ ...change, ...by })
        return keyDefaults.of(GATEWAY)
      }),
  }
}

function statements(database: Database) {
  return {
    select: database.prepare<{ terms: string }, [number]>(
      'SELECT terms FROM key_defaults WHERE account_id = ?',
    ),
    upsert: database.prepare(
      `INSERT INTO key_defaults (account_id, terms) VALUES (?, ?)
        ON CONFLICT (account_id) DO UPDATE SET terms = excluded.terms`,
    ),
    remove: database.prepare('DELETE FROM key_defaults WHERE account_id = ?'),
  } satisfies Record<string, Statement>
}
