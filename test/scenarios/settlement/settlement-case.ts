import type { Reply } from '../../support/upstream.ts'
import type { ScriptedGateway } from '../scripted-gateway.ts'

/** One way a JSON request can end, and what the books say afterwards. */
export type SettlementCase = {
  /** The row of docs/settlement.md that it shows. */
  readonly row: string
  readonly title: string
  readonly model?: string
  readonly request?: Readonly<Record<string, unknown>>
  /** What the upstream says; `play` where it takes more than that. Undefined where nobody was left to read the reply. */
  readonly reply?: Reply
  readonly play?: (gateway: ScriptedGateway, ask: Ask) => Promise<Response | undefined>
  /** Ten dollars unless told otherwise. */
  readonly grant?: string
  readonly key?: string
  /** 200 unless told otherwise, and then with this code. */
  readonly refused?: { readonly status: number; readonly code: string | undefined }
  /** The cost that the reply names, in its header and in its body; null where it names none. */
  readonly told: string | null
  /** As told, or nothing, unless told otherwise. */
  readonly charged?: string
  readonly source?: 'reported' | 'estimated'
  readonly isClamped?: boolean
  /** Members of the usage in the books. */
  readonly usage?: Readonly<Record<string, number>>
  /** How often the upstream was asked: once unless told otherwise. */
  readonly asked?: number
}

/** Costs that a case cannot know beforehand. */
export const AN_ESTIMATE = 'an estimate, at most the worst case'
export const THE_WORST_CASE = 'the worst case'

/** At two dollars a million in and ten out, the cost of the ten tokens in and five out of `chatAnswer`. */
export const USUAL = '0.00007'

export type Ask = (signal?: AbortSignal) => Promise<Response>

/** Cases that have much in common. */
export function alike<Common extends Partial<SettlementCase>>(
  common: Common,
  cases: readonly (Omit<SettlementCase, keyof Common> & Partial<SettlementCase>)[],
): readonly SettlementCase[] {
  return cases.map(shape => Object.assign({}, common, shape) as unknown as SettlementCase)
}
