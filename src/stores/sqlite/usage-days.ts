import type { Database, Statement } from 'bun:sqlite'
import { UsageDayTable } from './ledger/charge-effects.ts'
import type { GroupCommit } from './commits/group-commit.ts'
import {
  dayOf,
  IS_COMPENSATED,
  sumsOfRow,
  UsageDaySums,
  type ChargeMeasures,
  type OperatorMeasures,
  type UsageGroup,
} from '../books/usage/usage-days.ts'

/** The charges that are moved in one transaction. It takes a few milliseconds, and all other work waits for it. */
const CHARGES_A_TURN = 256

/**
 * Moves the sums of the charges of earlier versions from `usage_days_by_account` to `usage_days`, latest first. The
 * sums of an account are right at any moment, and those of a key or a model when all charges are moved. Charges that an
 * earlier version wrote into `usage_days` have no costs of providers there: it adds these first.
 */
export class UsageRebuild {
  readonly #database: Database
  readonly #days: UsageDayTable
  readonly #groupCommit: GroupCommit
  readonly #sql: ReturnType<typeof statements>

  constructor(parts: { readonly database: Database; readonly groupCommit: GroupCommit }) {
    this.#database = parts.database
    this.#days = new UsageDayTable(parts.database)
    this.#groupCommit = parts.groupCommit
    this.#sql = statements(parts.database)
  }

  /** Moves all charges, in turns that other work comes between. Repeating it, also after a crash, continues. */
  async run(): Promise<void> {
    while (!areCostsAdded(this.#database)) await this.#groupCommit.run(() => this.#addCosts())
    while (!isUsageRebuilt(this.#database)) await this.#groupCommit.run(() => this.#turn())
  }

  /** Inside a step. */
  #addCosts(): void {
    const { costs, chargesBetween, addCosts, setCostsTo } = this.#sql
    const { costs_after: after, costs_to: to } = costs.get() ?? { costs_after: 0n, costs_to: 0n }
    const rows = chargesBetween.all(to, after, CHARGES_A_TURN)
    const sums = new UsageDaySums()
    for (const row of rows) sums.addSums(groupOf(row), row.id, sumsOfRow(row))
    for (const { group, providerCost, chargesWithoutCost } of sums.all) {
      const { day, accountId, apiKeyId, model, provider } = group
      addCosts.run(providerCost, chargesWithoutCost, day, accountId, apiKeyId, model, provider)
    }
    setCostsTo.run(rows.length < CHARGES_A_TURN ? after : (rows.at(-1)?.id ?? 1n) - 1n)
  }

  /** Inside a step. */
  #turn(): void {
    const { chargesTo, charges, subtract, removeEmpty, setChargesTo } = this.#sql
    const rows = charges.all(chargesTo.get()?.charges_to ?? 0n, CHARGES_A_TURN)
    const sums = new UsageDaySums()
    for (const row of rows) {
      const added = sumsOfRow(row)
      const group = groupOf(row)
      const { day, accountId } = group
      sums.addSums(group, row.id, added)
      const { inputTokens, outputTokens, images, durationMs, cost } = added
      subtract.run(inputTokens, outputTokens, images, durationMs, cost, day, accountId)
      removeEmpty.run(day, accountId)
    }
    this.#days.add(sums)
    setChargesTo.run(rows.length < CHARGES_A_TURN ? 0n : (rows.at(-1)?.id ?? 1n) - 1n)
  }
}

/** Whether `usage_days` has all charges. */
export function isUsageRebuilt(database: Database): boolean {
  const row = database.query<{ charges_to: bigint }, []>('SELECT charges_to FROM usage_rebuild').get()
  return row?.charges_to === 0n
}

/** Whether the rows of `usage_days` have the costs of all of their charges. */
export function areCostsAdded(database: Database): boolean {
  const row = database
    .query<{ is_done: bigint }, []>('SELECT costs_to <= costs_after AS is_done FROM usage_rebuild')
    .get()
  return row?.is_done === 1n
}

function groupOf(row: EarlierCharge): UsageGroup {
  return {
    day: dayOf(Number(row.at_ms)),
    accountId: Number(row.account_id),
    apiKeyId: Number(row.api_key_id),
    model: row.model,
    provider: row.provider,
  }
}

type EarlierCharge = ChargeMeasures &
  OperatorMeasures & {
    id: bigint
    account_id: bigint
    api_key_id: bigint
    model: string
    provider: string
    at_ms: bigint
  }

function statements(database: Database) {
  return {
    chargesTo: database.prepare<{ charges_to: bigint }, []>('SELECT charges_to FROM usage_rebuild'),
    charges: database.prepare<EarlierCharge, [bigint, number]>(
      `SELECT *, ${IS_COMPENSATED} FROM charges WHERE id <= ? ORDER BY id DESC LIMIT ?`,
    ),
    subtract: database.prepare(
      `UPDATE usage_days_by_account SET charges = charges - 1, input_tokens = input_tokens - ?,
        output_tokens = output_tokens - ?, images = images - ?, duration_ms = duration_ms - ?, cost = cost - ?
        WHERE day = ? AND account_id = ?`,
    ),
    removeEmpty: database.prepare(
      'DELETE FROM usage_days_by_account WHERE day = ? AND account_id = ? AND charges = 0',
    ),
    costs: database.prepare<{ costs_after: bigint; costs_to: bigint }, []>(
      'SELECT costs_after, costs_to FROM usage_rebuild',
    ),
    chargesBetween: database.prepare<EarlierCharge, [bigint, bigint, number]>(
      `SELECT *, 0 AS is_compensated FROM charges WHERE id <= ? AND id > ? ORDER BY id DESC LIMIT ?`,
    ),
    addCosts: database.prepare(
      `UPDATE usage_days SET provider_cost = provider_cost + ?, charges_without_cost = charges_without_cost + ?
        WHERE day = ? AND account_id = ? AND api_key_id = ? AND model = ? AND provider = ?`,
    ),
    setCostsTo: database.prepare('UPDATE usage_rebuild SET costs_to = ?'),
    setChargesTo: database.prepare('UPDATE usage_rebuild SET charges_to = ?'),
  } satisfies Record<string, Statement>
}
