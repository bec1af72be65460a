import type { Id } from '../../domain/ids.ts'
import { attributionOf, type Attribution, type Tags } from '../../domain/ledger/attribution.ts'
import type { SentText } from '../../protocol/json/parse-json.ts'
import type { TextDialect, TextRequest } from '../../protocol/text-dialect.ts'
import type { Authenticated } from '../ports/access/api-keys.ts'
import type { CallerSignal } from '../ports/caller-signal.ts'
import type { ApiVersion } from '../ports/providers/text-provider.ts'
import type { Conversion } from '../upstreams/destinations.ts'
import type { TextRecord } from './text-record.ts'

/** One request of a customer on a text route. Its body is complete and not yet parsed. */
export type TextCall = {
  readonly id: Id
  readonly caller: Authenticated
  readonly body: SentText
  /** Of its header. Absent if it has none. */
  readonly tags?: Tags
  /**
   * Its `signal` fires when the client disconnects. The signal is made on first use, so read it only where it matters.
   */
  readonly client: { readonly signal: CallerSignal }
  readonly record: TextRecord
  /** The value of its `Idempotency-Key`. Absent if it has none, or on a route without replays. */
  readonly idempotencyKey?: string
  /** Only of a messages request. */
  readonly apiVersion?: ApiVersion
}

/** A call whose body was parsed by its route's dialect. */
export type ParsedTextCall<Dialect extends TextDialect = TextDialect> = {
  readonly call: TextCall
  readonly dialect: Dialect
  readonly request: TextRequest
  /** For upstreams that do not offer the dialect's route. Absent if the request has no other form. */
  readonly conversion?: Conversion
}

/** For whom a request was made: the tags of its header and the user of its body. */
export function attributionOfCall({ call, request }: Pick<ParsedTextCall, 'call' | 'request'>): Attribution {
  const { userId } = request
  return attributionOf({ ...call, ...(userId !== undefined && { userId }) })
}
