import type { AdmittedRequest } from '../text/admit-text.ts'
import type { Destination } from '../text/resolve-model.ts'
import type { Attempt, AttemptId } from '../ports/attempts.ts'
import type { AttemptResult } from './attempt-result.ts'

/**
 * One call to one upstream and how it ended, with the usage if it answered. Failover and settlement work on these
 * values.
 */
export type AttemptRecord<Result = AttemptResult> = {
  readonly destination: Destination
  /** Its place among the attempts of its request, from 1. */
  readonly number: number
  readonly result: Result
}

/** The row that the books keep of an attempt whose answer the client does not get. */
export function storedAttempt(
  { call, dialect, model, quote }: AdmittedRequest,
  { number, destination }: AttemptRecord<unknown>,
  atMs: number,
): AttemptId & Omit<Attempt, 'state'> {
  const { id, caller } = call
  return {
    requestId: id,
    number,
    provider: destination.provider.id,
    accountId: caller.account.id,
    apiKeyId: caller.apiKey.id,
    route: dialect.route,
    model: model.id,
    tariff: quote.pricing.kind === 'tariff' ? quote.pricing.tariff : null,
    atMs,
  }
}
