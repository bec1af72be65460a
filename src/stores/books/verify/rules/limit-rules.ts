import {
  decodeLimitsPatch,
  decodeTerms,
  isSameLimits,
  limitTermsOf,
  NO_LIMITS,
  patchLimits,
  type LimitTerms,
  type ScopeTerms,
} from '../../../../domain/limits/limits-row.ts'
import type { BudgetPeriod, Scope, ScopeKind, ScopeOwner } from '../../../../domain/limits/scope.ts'
import type { ScopeUsage } from '../../../../domain/limits/scope-usage.ts'
import type { HoldKind } from '../../../../domain/ledger/books.ts'
import { describeUsd, type NanoUsd } from '../../../../domain/money.ts'
import { findingOf, type Finding } from '../findings.ts'

/** The ending of the actions that change limits: `account.limits`, `project.limits`, `key.limits`. */
export const LIMITS_ACTION = '.limits'

export type LimitLine = { id: bigint; subject: string; detail: string | null }

/** An account with everything that can have limits of it. */
export type LimitedAccount = {
  readonly id: bigint
  readonly owners: readonly LimitedOwner[]
  readonly rows: readonly StoredLimits[]
}

/** An account, a project or a key. */
export type LimitedOwner = { kind: ScopeOwner['kind']; id: bigint; public_id: string }

/** A row of the table `limits`. */
export type StoredLimits = { kind: ScopeKind; scope_id: bigint; model: string; terms: string }

/**
 * The limits that each account, project and key must have, from their changes in the audit log, in order. The step that
 * changes the limits writes the line, and commit hashes cover it.
 */
export class LimitLines {
  readonly #terms = new Map<string, LimitTerms>()

  /** Adds a line, in the order of the log. */
  add({ subject, detail }: LimitLine): void {
    const patch = decodeLimitsPatch(jsonOf(detail))
    // The check of the commits names a line that was edited.
    if (patch.ok) this.#terms.set(subject, patchLimits(this.of(subject), patch.value))
  }

  of(publicId: string): LimitTerms {
    return this.#terms.get(publicId) ?? NO_LIMITS
  }
}

/** A count that differs from the charges of a period, or from the requests and jobs that are open. */
export type WrongCount = { readonly scope: Scope } & (
  | {
      readonly of: 'budget'
      readonly period: BudgetPeriod
      readonly counted: NanoUsd
      readonly actual: NanoUsd
    }
  | {
      readonly of: 'reserve'
      readonly kind: HoldKind
      readonly counted: NanoUsd
      readonly actual: NanoUsd
    }
  | { readonly of: 'open requests'; readonly counted: number; readonly actual: number }
)

type OpenUsage = Pick<ScopeUsage, 'running' | 'reserved'>

/** Compares what a scope has counted as open with what is open. */
export function wrongOpenCounts(scope: Scope, counted: OpenUsage, actual: OpenUsage): readonly WrongCount[] {
  const reserves = (['text', 'media'] as const).flatMap((kind): readonly WrongCount[] => {
    const [inUse, open] = [counted.reserved[kind], actual.reserved[kind]]
    return inUse === open ? [] : [{ of: 'reserve', scope, kind, counted: inUse, actual: open }]
  })
  if (counted.running === actual.running) return reserves
  const wrong = { of: 'open requests', scope, counted: counted.running, actual: actual.running } as const
  return [wrong, ...reserves]
}

/**
 * The books are right, and the count was corrected when it was found. So it stops nothing, and the next check
 * does not find it. `owner` is the public id of the account, project or key.
 */
export function findingOfCount(accountId: number, wrong: WrongCount, owner: string): Finding {
  const { kind, model } = wrong.scope
  const of = kind.startsWith('account') ? '' : ` of ${owner}`
  const where = `${of}${model === '' ? '' : ` for model "${model}"`}`
  return {
    ...findingOf(accountId, `${countText(wrong, where)}. The count was corrected`),
    key: [`${keyOf(wrong)} ${owner} ${model}`],
    stopsNothing: true,
  }
}

function countText(wrong: WrongCount, where: string): string {
  switch (wrong.of) {
    case 'budget':
      return `its ${wrong.period} budget${where} counted ${describeUsd(wrong.counted)}, but the charges are ${describeUsd(wrong.actual)}`
    case 'reserve':
      return `its reserve for ${wrong.kind}${where} counted ${describeUsd(wrong.counted)}, but the open holds are ${describeUsd(wrong.actual)}`
    case 'open requests':
      return `its count of open requests and jobs${where} is ${wrong.counted}, but ${wrong.actual} are open`
  }
}

/** Identifies a wrong count, apart from its scope. */
function keyOf(wrong: WrongCount): string {
  if (wrong.of === 'budget') return `budget ${wrong.period}`
  return wrong.of === 'reserve' ? `reserve ${wrong.kind}` : wrong.of
}

/** `lines` has all lines that were written before the rows were read. */
export function findingsOfLimits(
  { id, owners, rows }: LimitedAccount,
  lines: LimitLines,
): readonly Finding[] {
  const read = rows.map(readRow)
  const findings: Finding[] = []
  if (read.includes(undefined)) findings.push(findingOf(id, 'its limits cannot be read'))
  const readable = read.filter(row => row !== undefined)
  const isOwned = ({ scope }: ScopeTerms) =>
    owners.some(owner => Number(owner.id) === scope.id && scope.kind.startsWith(owner.kind))
  if (!readable.every(isOwned))
    findings.push(findingOf(id, 'it has limits of a key or project that is not its own'))
  for (const { kind, id: ownerId, public_id: publicId } of owners) {
    const stored = limitTermsOf(readable, { kind, id: Number(ownerId) })
    if (isSameLimits(stored, lines.of(publicId))) continue
    findings.push(findingOf(id, `${limitsOf[kind](publicId)} not those that the audit log says`))
  }
  return findings
}

const limitsOf = {
  account: () => 'its limits are',
  project: (publicId: string) => `the limits of project ${publicId} are`,
  key: (publicId: string) => `the limits of API key ${publicId} are`,
} as const satisfies Record<ScopeOwner['kind'], (publicId: string) => string>

function readRow({ kind, scope_id: id, model, terms }: StoredLimits): ScopeTerms | undefined {
  try {
    return { scope: { kind, id: Number(id), model }, terms: decodeTerms(jsonOf(terms)) }
  } catch {
    return undefined
  }
}

/** Undefined if it is not JSON. */
function jsonOf(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}
