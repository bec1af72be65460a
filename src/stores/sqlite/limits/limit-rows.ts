import type { Database, Statement } from 'bun:sqlite'
import type { ScopeTerms } from '../../../domain/limits/limits-row.ts'
import type { Scope } from '../../../domain/limits/scope.ts'
import { nanoUsd, type NanoUsd } from '../../../domain/money.ts'
import { scopeTerms } from '../../books/access/limit-changes.ts'
import { dayOf } from '../../books/usage/usage-days.ts'
import type { StepDriver } from '../commits/step-runner.ts'
import { columnsOfScope, type ScopedDemand } from '../../books/limits/account-limits.ts'

/** The projects of keys that are kept, at about 50 bytes each. */
const PROJECTS_KEPT_MAX = 100_000

/** The table `limits`, and the sums that budgets are compared with. */
export class LimitRows {
  readonly #stepDriver: StepDriver
  readonly #sql: ReturnType<typeof statements>
  /** By the id of a key; null for a key without a project. */
  readonly #projects = new Map<number, number | null>()

  constructor(parts: { readonly database: Database; readonly stepDriver: StepDriver }) {
    this.#stepDriver = parts.stepDriver
    this.#sql = statements(parts.database)
  }

  /** Throws `books_inconsistent` if one cannot be read. */
  ofAccount(accountId: number): readonly ScopeTerms[] {
    return this.#stepDriver.run(scopeTerms(accountId))
  }

  /** The spend of a scope since the start of a day. Charges that were credited back do not count. */
  spentSince(accountId: number, scope: Scope, startMs: number): NanoUsd {
    const { first = null, last = null } = this.#sql.days.get() ?? {}
    if (first === null || last === null) return nanoUsd(0n)
    const { apiKeyId, projectId, model } = columnsOfScope(scope)
    let spent = 0n
    // Day by day, because the table begins with the day: each is one short read of an index.
    for (let day = Math.max(Number(first), dayOf(startMs)); day <= Number(last); day += 1)
      spent += this.#sql.spent.get(day, accountId, apiKeyId, model, projectId)?.spent ?? 0n
    return nanoUsd(spent)
  }

  /** The project of a key; undefined if it has none. It never changes. */
  projectOf(apiKeyId: number): number | undefined {
    const known = this.#projects.get(apiKeyId)
    if (known !== undefined) return known ?? undefined
    const row = this.#sql.project.get(apiKeyId)
    if (row === null) return undefined
    const projectId = row.project_id === null ? null : Number(row.project_id)
    if (this.#projects.size >= PROJECTS_KEPT_MAX) this.#projects.clear()
    this.#projects.set(apiKeyId, projectId)
    return projectId ?? undefined
  }

  /** The demands of the open jobs of an account. */
  openJobs(accountId: number): readonly ScopedDemand[] {
    return this.#sql.openJobs.all(accountId).map(({ api_key_id, model, amount }) => ({
      kind: 'media',
      tokens: 0,
      amount: nanoUsd(amount),
      apiKeyId: Number(api_key_id),
      model,
    }))
  }
}

type OpenJobRow = { api_key_id: bigint; model: string; amount: bigint }

function statements(database: Database) {
  return {
    days: database.prepare<{ first: bigint | null; last: bigint | null }, []>(
      'SELECT (SELECT min(day) FROM usage_days) AS first, (SELECT max(day) FROM usage_days) AS last',
    ),
    project: database.prepare<{ project_id: bigint | null }, [number]>(
      'SELECT project_id FROM api_keys WHERE id = ?',
    ),
    spent: database.prepare<{ spent: bigint }, [number, number, number | null, string | null, number | null]>(
      `SELECT ifnull(sum(cost - compensated), 0) AS spent FROM usage_days
        WHERE day = ?1 AND account_id = ?2 AND (?3 IS NULL OR api_key_id = ?3) AND (?4 IS NULL OR model = ?4)
          AND (?5 IS NULL OR api_key_id IN (SELECT id FROM api_keys WHERE project_id = ?5))`,
    ),
    // A job has the id of its hold.
    openJobs: database.prepare<OpenJobRow, [number]>(
      `SELECT jobs.api_key_id, jobs.model, holds.amount FROM holds
        JOIN jobs ON jobs.id_key = holds.id_key AND jobs.id_tail = holds.id_tail
        WHERE holds.account_id = ? AND holds.state = 'open'`,
    ),
  } satisfies Record<string, Statement>
}
