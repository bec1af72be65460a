import type { Id } from '../../domain/ids.ts'
import type { SentText } from '../../protocol/json/parse-json.ts'
import type { TextDialect, TextRequest } from '../../protocol/text-dialect.ts'
import type { Authenticated } from '../ports/accounts.ts'
import type { CallerSignal } from '../ports/caller-signal.ts'
import type { TextTrace } from './text-trace.ts'

/** One request of a customer on a text route. Its body is complete and not yet parsed. */
export type TextCall = {
  readonly id: Id
  readonly caller: Authenticated
  readonly body: SentText
  /**
   * Its `signal` fires when the client disconnects. The signal is made on first use, so read it only where it matters.
   */
  readonly client: { readonly signal: CallerSignal }
  readonly trace: TextTrace
}

/** A call whose body was parsed by its route's dialect. */
export type ParsedCall<Dialect extends TextDialect = TextDialect> = {
  readonly call: TextCall
  readonly dialect: Dialect
  readonly request: TextRequest
}
