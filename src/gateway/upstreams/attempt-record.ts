import type { AdmittedRequest } from '../text/admit-text.ts'
import type { Attempt, AttemptId } from '../ports/attempts.ts'

/** What is recorded of one attempt of a job, whatever becomes of it. `number` is its place among them, from 1. */
export function attemptOf(
  { call, dialect, model, quote }: AdmittedRequest,
  attempt: { readonly number: number; readonly provider: string; readonly atMs: number },
): AttemptId & Omit<Attempt, 'state'> {
  const { id, caller } = call
  return {
    ...attempt,
    requestId: id,
    accountId: caller.account.id,
    apiKeyId: caller.apiKey.id,
    route: dialect.route,
    model: model.id,
    tariff: quote.pricing.kind === 'tariff' ? quote.pricing.tariff : null,
  }
}
