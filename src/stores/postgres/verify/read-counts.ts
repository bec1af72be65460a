import { budgetPeriods, type Scope } from '../../../domain/limits/scope.ts'
import { openUsage, type ScopeUsage } from '../../../domain/limits/scope-usage.ts'
import { addUsd } from '../../../domain/money.ts'
import { isOf } from '../../books/limits/account-limits.ts'
import { all, first, type Step } from '../../books/steps.ts'
import type { Finding } from '../../books/verify/findings.ts'
import { findingOfCount, wrongOpenCounts, type WrongCount } from '../../books/verify/rules/limit-rules.ts'
import { openDemands, scopesOfAccount, spentSince, type OpenDemand } from '../limits/limit-usage.ts'
import type { Snapshot } from './snapshot.ts'

/** Compares what limits count with the charges and the open requests and jobs, account by account. */
export class CountsReader {
  readonly #snapshot: Snapshot
  readonly #wrong: number[] = []

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot
  }

  /** The accounts whose counts are to be corrected. */
  get wrong(): readonly number[] {
    return this.#wrong
  }

  async *check(): AsyncGenerator<readonly Finding[]> {
    const { read } = this.#snapshot
    const limited = await read(() =>
      all<Limited>('SELECT DISTINCT account_id FROM limits ORDER BY account_id'),
    )
    if (limited.length === 0) return
    const open = Map.groupBy(await read(() => openDemands(null)), ({ accountId }) => accountId)
    for (const { account_id } of limited) {
      const accountId = Number(account_id)
      const findings = await read(() => findingsOfCounts(accountId, open.get(accountId) ?? []))
      if (findings.length > 0) this.#wrong.push(accountId)
      yield findings
    }
  }
}

type Limited = { account_id: bigint }

function* findingsOfCounts(accountId: number, open: readonly OpenDemand[]): Step<readonly Finding[]> {
  const findings: Finding[] = []
  for (const { scope, usage } of yield* scopesOfAccount(accountId)) {
    const passing = open.filter(({ demand, projectId }) => isOf(scope, demand, () => projectId))
    const actual = openUsage(passing.map(({ demand }) => demand))
    const wrong = [
      ...wrongOpenCounts(scope, usage, actual),
      ...(yield* wrongBudgets(accountId, scope, usage)),
    ]
    if (wrong.length === 0) continue
    const owner = yield* ownerOf(scope)
    findings.push(...wrong.map(one => findingOfCount(accountId, one, owner)))
  }
  return findings
}

function* wrongBudgets(accountId: number, scope: Scope, { spent }: ScopeUsage): Step<readonly WrongCount[]> {
  const wrong: WrongCount[] = []
  for (const period of budgetPeriods) {
    const current = spent[period]
    if (current === undefined) continue
    const { spent: counted, spentBefore, startMs } = current
    const actual = addUsd(yield* spentSince(accountId, scope, startMs), spentBefore)
    if (counted !== actual) wrong.push({ of: 'budget', scope, period, counted, actual })
  }
  return wrong
}

/** The public id of the account, project or key of a scope. */
function* ownerOf({ kind, id }: Scope): Step<string> {
  const table = kind.startsWith('account') ? 'accounts' : kind === 'project' ? 'projects' : 'api_keys'
  const row = yield* first<{ public_id: string }>(`SELECT public_id FROM ${table} WHERE id = ?`, id)
  return row?.public_id ?? `${kind} ${id}`
}
