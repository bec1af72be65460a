import type { Provider } from '../../domain/catalog/provider.ts'
import type { ApiVersion, ProviderOutcome } from '../../gateway/ports/providers/text-provider.ts'
import { isJsonObject, findJsonObject } from '../../protocol/json/parse-json.ts'
import { keyHeader } from '../http/address.ts'

/** The version of the API for requests without one. */
const DEFAULT_VERSION = '2023-06-01'

const VERSION = /^[\w.-]{1,64}$/
const BETA = /^[\x21-\x2b\x2d-\x7e]{1,128}$/
/** More than any client sends. A longer header would be refused by servers. */
const BETAS_MAX = 64

/** The headers of every request to a provider, without those of a single request. */
export function anthropicHeaders(
  secret: string | undefined,
  { apiKeyHeader = 'x-api-key' }: Pick<Provider, 'apiKeyHeader'>,
): Readonly<Record<string, string>> {
  const version = { 'anthropic-version': DEFAULT_VERSION }
  return secret === undefined ? version : { ...version, ...keyHeader(apiKeyHeader, secret) }
}

/**
 * The headers of a single request, besides those of the provider. The body is written for this version and these betas.
 */
type RequestVersion = { readonly version?: string; readonly betas?: string }

/**
 * The client's version, and the client's betas that the provider's row allows; all of them if the row lists none. Names
 * that cannot be in a header are left out.
 */
export function requestVersion(
  { version, betas }: ApiVersion,
  allowed: readonly string[] | undefined,
): RequestVersion {
  const names = new Set<string>()
  for (const part of betas?.split(',') ?? []) {
    const beta = part.trim()
    if (names.size < BETAS_MAX && BETA.test(beta) && (allowed?.includes(beta) ?? true)) names.add(beta)
  }
  return {
    ...(version !== null && VERSION.test(version) && { version }),
    ...(names.size > 0 && { betas: [...names].join(',') }),
  }
}

/** The start of the error message for an operator without credit, which comes with the status 400. */
const NO_CREDIT = 'Your credit balance is too low'
const PAYMENT_REQUIRED = 402

/** The outcome with status 402 if the operator has no credit: a client must not be told to change its request. */
export function withCreditStatus<Outcome extends ProviderOutcome>(outcome: Outcome): Outcome {
  if (outcome.outcome !== 'answered' || outcome.status !== 400 || !outcome.body.includes(NO_CREDIT))
    return outcome
  const error = findJsonObject(outcome.body)?.['error']
  const message = isJsonObject(error) ? error['message'] : undefined
  const isUnpaid = typeof message === 'string' && message.startsWith(NO_CREDIT)
  return isUnpaid ? { ...outcome, status: PAYMENT_REQUIRED } : outcome
}
