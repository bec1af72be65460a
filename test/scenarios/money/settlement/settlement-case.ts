import type { Reply } from '../../../support/upstream.ts'
import type { ScriptedGateway } from '../../gateways/scripted-gateway.ts'

/** One way a JSON request can end, and what the ledger then contains. */
export type SettlementCase = {
  /** The row of docs/settlement.md that this case covers. */
  readonly row: string
  readonly title: string
  readonly model?: string
  readonly request?: Readonly<Record<string, unknown>>
  /** The upstream's reply. `play` is for cases that need more; it returns undefined if the client disconnected. */
  readonly reply?: Reply
  readonly play?: (gateway: ScriptedGateway, ask: Ask) => Promise<Response | undefined>
  /** Default: 10 USD. */
  readonly grant?: string
  readonly key?: string
  /** Status and code of an error reply. Default: status 200. */
  readonly refused?: { readonly status: number; readonly code: string | undefined }
  /** The cost in the header and body of the reply; null if the reply names no cost. */
  readonly costInReply: string | null
  /** The amount charged. Default: the cost in the reply, or 0. */
  readonly charged?: string
  readonly source?: 'reported' | 'estimated'
  readonly isClamped?: boolean
  /** Members of the charged usage. */
  readonly usage?: Readonly<Record<string, number>>
  /** The number of calls to the upstream. Default: 1. */
  readonly asked?: number
}

/** Costs that are computed when the case runs. */
export const AN_ESTIMATE = 'an estimate, at most the worst case'
export const THE_WORST_CASE = 'the worst case'

/** The cost of `chatAnswer`: 10 input tokens at 2 USD and 5 output tokens at 10 USD per million. */
export const USUAL = '0.00007'

export type Ask = (signal?: AbortSignal) => Promise<Response>

/** Adds the common fields to each case. */
export function alike<Common extends Partial<SettlementCase>>(
  common: Common,
  cases: readonly (Omit<SettlementCase, keyof Common> & Partial<SettlementCase>)[],
): readonly SettlementCase[] {
  return cases.map(shape => Object.assign({}, common, shape) as unknown as SettlementCase)
}
