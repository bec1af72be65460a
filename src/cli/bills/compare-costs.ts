import {
  addExactUsd,
  compareMagnitudes,
  subtractExactUsd,
  ZERO_EXACT_USD,
  type ExactUsd,
} from '../../domain/pricing/exact-usd.ts'
import type { BillLine } from './bill.ts'

/** The charges of a model row of the catalog on a day in UTC. */
export type ChargedDay = {
  readonly day: string
  /** The name of the row. */
  readonly row: string
  readonly charges: number
  readonly charged: ExactUsd
  /** The jobs and attempts that no customer paid for, and for which the provider reported a cost. */
  readonly unpaid: number
  /** The sum of the costs that the provider reported for these charges and this unpaid work. */
  readonly providerCost: ExactUsd
  /** The charges for which the provider reported no cost. */
  readonly withoutCost: number
}

/** A row of the catalog, and the models of the provider that serve it. */
export type ServedRow = { readonly row: string; readonly upstreamModels: readonly string[] }

/** A model of the provider on a day: what was charged for it, and what the bill says. */
export type ComparedDay = Compared & {
  readonly day: string
  /** The provider's model, or several that the same rows use. An item of the bill if it names no model. */
  readonly model: string
  readonly rows: readonly string[]
  readonly side: 'both' | 'bill' | 'charges'
}

export type Compared = Sums & {
  /**
   * The bill less what it is compared with: positive if the bill is higher. Null if the files have no amounts at all.
   */
  readonly difference: ExactUsd | null
  /** The recorded costs if the provider reported one for every charge, otherwise the charges. */
  readonly comparedWith: 'provider_cost' | 'charges'
}

type Sums = {
  readonly charges: number
  readonly unpaid: number
  readonly charged: ExactUsd
  readonly providerCost: ExactUsd
  readonly withoutCost: number
  /** Null if the bill has no amount, but perhaps counts. */
  readonly billed: ExactUsd | null
  readonly requests: number | null
  readonly inputTokens: number | null
  readonly outputTokens: number | null
}

const NOTHING: Sums = {
  charges: 0,
  unpaid: 0,
  charged: ZERO_EXACT_USD,
  providerCost: ZERO_EXACT_USD,
  withoutCost: 0,
  billed: null,
  requests: null,
  inputTokens: null,
  outputTokens: null,
}

/** Compares each model and day of a bill with the charges, the largest difference first. */
export function compareCosts(
  bill: Iterable<BillLine>,
  charged: Iterable<ChargedDay>,
  served: readonly ServedRow[],
): { readonly days: readonly ComparedDay[]; readonly totals: Compared } {
  const groups = ModelGroups.of(served)
  const days = new Map<string, Sums & Omit<ComparedDay, keyof Compared>>()
  const add = (day: string, group: Group, sums: Sums, side: 'bill' | 'charges') => {
    const key = `${day} ${group.rows.length > 0} ${group.model}`
    const before = days.get(key)
    const isBoth = before !== undefined && before.side !== side
    days.set(key, { ...added(before ?? NOTHING, sums), ...group, day, side: isBoth ? 'both' : side })
  }
  for (const { day, row, ...sums } of charged) add(day, groups.ofRow(row), { ...NOTHING, ...sums }, 'charges')
  for (const { day, models, item, amount: billed, ...counts } of bill) {
    const group = groups.ofModels(models) ?? { model: models[0] ?? item, rows: [] }
    add(day, group, { ...NOTHING, billed, ...counts }, 'bill')
  }
  const totals = [...days.values()].reduce<Sums>(added, NOTHING)
  const hasAmounts = totals.billed !== null
  const compared = Array.from(days.values(), sums => ({ ...sums, ...differenceOf(sums, hasAmounts) }))
  return {
    days: compared.sort(byDifference),
    totals: { ...totals, ...differenceOf(totals, hasAmounts) },
  }
}

function differenceOf(
  { charges, unpaid, charged, providerCost, withoutCost, billed }: Sums,
  hasAmounts: boolean,
): Pick<Compared, 'difference' | 'comparedWith'> {
  const hasCosts = charges + unpaid > 0 && withoutCost === 0
  const ours = hasCosts ? providerCost : charged
  return {
    difference: hasAmounts ? subtractExactUsd(billed ?? ZERO_EXACT_USD, ours) : null,
    comparedWith: hasCosts ? 'provider_cost' : 'charges',
  }
}

function byDifference(left: ComparedDay, right: ComparedDay): number {
  const order =
    left.difference === null || right.difference === null
      ? 0
      : compareMagnitudes(right.difference, left.difference)
  if (order !== 0) return order
  return left.day < right.day ? -1 : left.day > right.day ? 1 : left.model < right.model ? -1 : 1
}

function added(left: Sums, right: Sums): Sums {
  return {
    charges: left.charges + right.charges,
    unpaid: left.unpaid + right.unpaid,
    charged: addExactUsd(left.charged, right.charged),
    providerCost: addExactUsd(left.providerCost, right.providerCost),
    withoutCost: left.withoutCost + right.withoutCost,
    billed: addedIfAny(left.billed, right.billed, addExactUsd),
    requests: addedIfAny(left.requests, right.requests, addNumbers),
    inputTokens: addedIfAny(left.inputTokens, right.inputTokens, addNumbers),
    outputTokens: addedIfAny(left.outputTokens, right.outputTokens, addNumbers),
  }
}

function addedIfAny<Value>(
  left: Value | null,
  right: Value | null,
  add: (left: Value, right: Value) => Value,
): Value | null {
  if (left === null) return right
  return right === null ? left : add(left, right)
}

function addNumbers(left: number, right: number): number {
  return left + right
}

type Group = { readonly model: string; readonly rows: readonly string[] }

/**
 * The rows of the catalog by the provider's models that serve them. Rows that share a model are one group, because the
 * bill does not tell them apart, and so are the models of one row.
 */
class ModelGroups {
  readonly #byRow = new Map<string, Group>()
  readonly #byModel = new Map<string, Group>()
  /** Null for a form that several models have. */
  readonly #byForm = new Map<string, Group | null>()

  static of(served: readonly ServedRow[]): ModelGroups {
    const groups = new ModelGroups()
    for (const { rows, models } of connected(served)) groups.#add({ model: models.join(' + '), rows }, models)
    return groups
  }

  #add(group: Group, models: readonly string[]): void {
    for (const row of group.rows) this.#byRow.set(row, group)
    for (const model of models) {
      this.#byModel.set(model, group)
      const form = formOf(model)
      const other = this.#byForm.get(form)
      this.#byForm.set(form, other === undefined || other === group ? group : null)
    }
  }

  /** A row that is not in the catalog any more is known by its own name. */
  ofRow(row: string): Group {
    const known = this.#byRow.get(row)
    if (known !== undefined) return known
    const group = { model: row, rows: [row] }
    this.#byRow.set(row, group)
    if (!this.#byModel.has(row)) this.#byModel.set(row, group)
    return group
  }

  /** The group of a model that has one of these names; undefined if there is none. */
  ofModels(names: readonly string[]): Group | undefined {
    const exact = names.find(name => this.#byModel.has(name))
    if (exact !== undefined) return this.#byModel.get(exact)
    return names.map(name => this.#byForm.get(formOf(name))).find(group => group !== undefined) ?? undefined
  }
}

/** Joins the rows that share a model. */
function connected(
  served: readonly ServedRow[],
): readonly { readonly rows: readonly string[]; readonly models: readonly string[] }[] {
  let groups: { rows: Set<string>; models: Set<string> }[] = []
  for (const { row, upstreamModels } of served) {
    const models = new Set(upstreamModels)
    const joined = { rows: new Set([row]), models }
    const isJoined = (group: typeof joined) => !group.models.isDisjointFrom(models)
    const rest = groups.filter(group => !isJoined(group))
    for (const group of groups.filter(isJoined)) {
      for (const other of group.rows) joined.rows.add(other)
      for (const model of group.models) joined.models.add(model)
    }
    groups = [...rest, joined]
  }
  return groups.map(({ rows, models }) => ({ rows: [...rows].sort(), models: [...models].sort() }))
}

const DATE = /-(?:\d{4}-\d{2}-\d{2}|\d{8})$/

/**
 * The form of a model's name that does not depend on how a bill writes it: `claude-3-7-sonnet-20250219` and `Claude
 * Sonnet 3.7` have the same one, and so have `gpt-4o` and `gpt-4o-2024-08-06`.
 */
function formOf(name: string): string {
  const words = name
    .toLowerCase()
    .replaceAll(/[\s._]+/g, '-')
    .replace(/-latest$/, '')
    .replace(DATE, '')
  return words.split('-').sort().join('-')
}
