import { checkText } from '../catalog/rows/fields.ts'
import { modelId } from '../catalog/rows/model-row.ts'
import { checked, problemSentence, report, type Checked } from '../catalog/rows/problem.ts'
import { describe, openRow, placeOf, refuseUnknownFields, type Place, type Row } from '../catalog/rows/row.ts'
import { GatewayError } from '../errors.ts'
import { formatUsd, nanoUsd, parseUsd, type NanoUsd } from '../money.ts'
import { RATE_MAX } from './rate-bucket.ts'
import {
  budgetPeriods,
  isLimiting,
  kindWithModel,
  NO_TERMS,
  patchTerms,
  rateLimits,
  type BudgetPeriod,
  type RateLimit,
  type Scope,
  type ScopeOwner,
  type Terms,
  type TermsPatch,
} from './scope.ts'

/** The fields of a change of limits, in the body of a `PATCH` of an account, a project or a key. */
export const limitFields = ['limits', 'budgets', 'per_model'] as const
const termFields = ['limits', 'budgets'] as const

/** The models for which an account or a key can have its own terms. The usage of each is in memory. */
const MODELS_MAX = 100
/** More than all requests that a node can have open. */
const CONCURRENCY_MAX = 1_000_000
/** A billion dollars. Sums of budgets stay far below what a 64-bit integer can hold. */
export const BUDGET_MAX = nanoUsd(1_000_000_000_000_000_000n)

/** The terms of an account, a project or a key, and its own terms for some models. */
export type LimitTerms = Terms & { readonly perModel: Readonly<Record<string, Terms>> }

export const NO_LIMITS: LimitTerms = { ...NO_TERMS, perModel: {} }

/** A change of limits. Null removes a model's terms, or those of all models. */
export type LimitsPatch = TermsPatch & {
  readonly perModel?: Readonly<Record<string, TermsPatch | null>> | null
}

/** The terms of one scope, as a store keeps them. */
export type ScopeTerms = { readonly scope: Scope; readonly terms: Terms }

/** The limits of an account, a project or a key, from the rows of all scopes of its account. */
export function limitTermsOf(rows: readonly ScopeTerms[], { kind, id }: ScopeOwner): LimitTerms {
  const ofOwner = rows.filter(({ scope }) => scope.id === id)
  const terms = ofOwner.find(({ scope }) => scope.kind === kind)?.terms ?? NO_LIMITS
  const models = ofOwner.filter(({ scope }) => scope.kind === kindWithModel[kind])
  return {
    limits: terms.limits,
    budgets: terms.budgets,
    perModel: Object.fromEntries(models.map(({ scope, terms: ofModel }) => [scope.model, ofModel])),
  }
}

/** The own terms of a model. Its name can be that of a member that every object has. */
export function termsOfModel({ perModel }: Pick<LimitTerms, 'perModel'>, model: string): Terms {
  return Object.hasOwn(perModel, model) ? (perModel[model] ?? NO_TERMS) : NO_TERMS
}

/** Checks a change of limits in the format of the admin API. Null removes a member, and an absent one stays. */
export function decodeLimitsPatch(value: unknown): Checked<LimitsPatch> {
  return checked(problems => {
    const row = openRow(value, { path: [], problems }, `write an object with ${limitFields.join(', ')}`)
    if (row === undefined) return undefined
    refuseUnknownFields(row, 'a change of limits', limitFields)
    return { ...readTerms(row), ...member('perModel', readPerModel(row)) }
  })
}

/** Like `decodeLimitsPatch`, for a `thing` that has no limits for single models, such as a project. */
export function decodeTermsPatch(value: unknown, thing: string): Checked<TermsPatch> {
  return checked(problems => {
    const row = openRow(value, { path: [], problems }, `write an object with ${termFields.join(', ')}`)
    if (row === undefined) return undefined
    refuseUnknownFields(row, thing, termFields)
    return readTerms(row)
  })
}

/** The limits after a change. Throws `invalid_field` if too many models would have their own. */
export function patchLimits(terms: LimitTerms, patch: LimitsPatch): LimitTerms {
  const { perModel: changes = {} } = patch
  const perModel = changes === null ? {} : { ...terms.perModel }
  for (const [model, change] of Object.entries(changes ?? {})) {
    const changed = change === null ? NO_TERMS : patchTerms(termsOfModel({ perModel }, model), change)
    if (isLimiting(changed)) perModel[model] = changed
    else delete perModel[model]
  }
  const count = Object.keys(perModel).length
  if (count > MODELS_MAX)
    throw new GatewayError('invalid_field', `per_model has ${count} models; write at most ${MODELS_MAX}.`, {
      param: 'per_model',
    })
  return { ...patchTerms(terms, patch), perModel }
}

/** Whether two limits allow the same. */
export function isSameLimits(before: LimitTerms, after: LimitTerms): boolean {
  return JSON.stringify(encodeLimits(before)) === JSON.stringify(encodeLimits(after))
}

/** A change of limits in the format of the admin API, with only the members that it names. */
export function encodeLimitsPatch({ perModel, ...terms }: LimitsPatch): Record<string, unknown> {
  const models = Object.entries(perModel ?? {}).map(
    ([model, own]) => [model, own && encodeTermsPatch(own)] as const,
  )
  return {
    ...encodeTermsPatch(terms),
    ...member('per_model', perModel && Object.fromEntries(models)),
  }
}

/** The limits in the format of the admin API, with null for what is not limited. */
export function encodeLimits({ perModel, ...terms }: LimitTerms): Record<string, unknown> {
  const models = Object.entries(perModel)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([model, own]) => [model, encodeTerms(own)] as const)
  return { ...encodeTerms(terms), per_model: Object.fromEntries(models) }
}

/** The terms of one scope in the format of the admin API, with null for what is not limited. */
export function encodeTerms({ limits, budgets }: Terms): Record<string, unknown> {
  return {
    limits: Object.fromEntries(rateLimits.map(name => [name, limits[name] ?? null])),
    budgets: Object.fromEntries(budgetPeriods.map(name => [name, usdOrNull(budgets[name])])),
  }
}

/** Terms that `encodeTerms` wrote. Throws a RangeError for others: the store is damaged. */
export function decodeTerms(value: unknown): Terms {
  const decoded = decodeLimitsPatch(value)
  if (!decoded.ok) throw new RangeError(decoded.problems.map(problem => problemSentence(problem)).join(' '))
  return patchTerms(NO_TERMS, decoded.value)
}

function encodeTermsPatch({ limits, budgets }: TermsPatch): Record<string, unknown> {
  const amounts = Object.entries(budgets ?? {}).map(
    ([period, amount]) => [period, usdOrNull(amount)] as const,
  )
  return { ...member('limits', limits), ...member('budgets', budgets && Object.fromEntries(amounts)) }
}

function usdOrNull(amount: NanoUsd | null | undefined): string | null {
  return amount === null || amount === undefined ? null : formatUsd(amount)
}

/** The limits and budgets that a row names. */
export function readTerms(row: Row): TermsPatch {
  return {
    ...member('limits', readMembers(row, 'limits', 'the limits', rateLimits, readRate)),
    ...member('budgets', readMembers(row, 'budgets', 'the budgets', budgetPeriods, readBudget)),
  }
}

function readPerModel(row: Row): LimitsPatch['perModel'] {
  const models = openMember(row, 'per_model', 'write an object of models, such as {"gpt-x": {"limits": {}}}')
  if (models === undefined || models === null) return models
  const names = Object.keys(models.values)
  const patches: [string, TermsPatch | null][] = []
  for (const name of names) {
    checkText(name, modelId, placeOf(models, name))
    const own = openMember(models, name, 'write an object with limits and budgets')
    if (own === undefined) continue
    if (own !== null) refuseUnknownFields(own, 'the limits of a model', termFields)
    patches.push([name, own && readTerms(own)])
  }
  return Object.fromEntries(patches)
}

/** The members of a field: null if all are removed, undefined if the field is absent or wrong. */
function readMembers<Name extends string, Value>(
  row: Row,
  field: string,
  thing: string,
  names: readonly Name[],
  read: (value: unknown, name: Name, place: Place) => Value | undefined,
): { readonly [Key in Name]?: Value | null } | null | undefined {
  const members = openMember(row, field, `write an object with ${names.join(', ')}`)
  if (members === undefined || members === null) return members
  refuseUnknownFields(members, thing, names)
  const found: { [Key in Name]?: Value | null } = {}
  for (const name of names) {
    if (!Object.hasOwn(members.values, name)) continue
    const value = members.values[name]
    const valid = value === null ? null : read(value, name, placeOf(members, name))
    if (valid !== undefined) found[name] = valid
  }
  return found
}

function openMember(row: Row, field: string, remedy: string): Row | null | undefined {
  if (!Object.hasOwn(row.values, field)) return undefined
  const value = row.values[field]
  return value === null ? null : openRow(value, placeOf(row, field), remedy)
}

function readRate(value: unknown, name: RateLimit, { path, problems }: Place): number | undefined {
  const max = name === 'concurrent_requests' ? CONCURRENCY_MAX : RATE_MAX
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return value
  const remedy = `write a whole number from 1 to ${max}, or null for no limit`
  report(problems, { path, message: describe(value), remedy })
  return undefined
}

function readBudget(value: unknown, _: BudgetPeriod, { path, problems }: Place): NanoUsd | undefined {
  const amount = typeof value === 'string' ? parseUsd(value) : undefined
  if (amount !== undefined && amount >= 0n && amount <= BUDGET_MAX) return amount
  const remedy = 'write a decimal string of dollars such as "20", at most "1000000000", or null for no budget'
  report(problems, { path, message: describe(value), remedy })
  return undefined
}

function member<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [Key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [Key in Name]?: Value }
}
