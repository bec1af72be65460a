import { closedAccountError, type Account } from '../../domain/accounts/account.ts'
import { keyRefusal, type Arrival } from '../../domain/accounts/key-access.ts'
import { hasEnded } from '../../domain/accounts/key-secrets.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { StrictestRates } from '../../domain/limits/admission.ts'
import { ZERO } from '../../domain/money.ts'
import type { ApiKeys, Authenticated } from '../ports/access/api-keys.ts'
import type { Clock } from '../ports/clock.ts'
import type { Limited, Limits } from '../ports/ledger/limits.ts'
import type { RefusedBy } from '../ports/requests/request-records.ts'
import { limitError, refusedBy } from './refuse-limits.ts'

/** The hash under which a key is stored. */
export type HashKey = (key: string) => string

export type AdmitCallerPorts = {
  readonly apiKeys: Pick<ApiKeys, 'authenticate' | 'noteUse'>
  readonly hashKey: HashKey
  readonly limits: Pick<Limits, 'recentRefusal'>
  readonly clock: Pick<Clock, 'now'>
}

/** The caller of a request, for its log line. */
export type CallerRecord = RatesRecord & { accountId?: string; apiKeyId?: string; projectId?: string }

/** What is left of the strictest limits of the caller, for the headers of its reply, and which one refused it. */
export type RatesRecord = { rates?: StrictestRates; refusedBy?: RefusedBy }

/** Longer texts are not hashed, because no key is longer. */
const KEY_LENGTH_MAX = 256

/**
 * Admits the holder of an API key, before the body of the request is read. `key` is the key's text; undefined if the
 * request has none. Throws `invalid_api_key`, `secret_ended`, `account_closed`, `account_suspended`, `project_closed`,
 * the errors of `keyRefusal`, or `requests_per_minute` while an earlier refusal holds.
 */
export async function admitCaller(
  { key, ...arrival }: Arrival & { readonly key: string | undefined },
  record: CallerRecord,
  { apiKeys, hashKey, limits, clock }: AdmitCallerPorts,
): Promise<Authenticated> {
  if (key === undefined)
    throw new GatewayError(
      'invalid_api_key',
      'No API key was given. Send it as "Authorization: Bearer <key>", or as "x-api-key: <key>" or "api-key: <key>".',
    )
  const caller = await findCaller(key, { apiKeys, hashKey })
  if (caller === undefined)
    throw new GatewayError('invalid_api_key', 'This API key is unknown or was revoked.')
  record.accountId = caller.account.publicId
  record.apiKeyId = caller.apiKey.publicId
  if (caller.project !== undefined) record.projectId = caller.project.publicId
  const nowMs = clock.now()
  refuseEndedSecret(caller, nowMs)
  refuseAccount(caller.account)
  if (caller.project !== undefined && caller.project.closedAtMs !== null)
    throw new GatewayError(
      'project_closed',
      'The project of this API key was closed. Use a key of another project.',
      { shouldRetry: false },
    )
  const forbidden = keyRefusal(caller.apiKey, arrival, nowMs)
  if (forbidden !== undefined) throw forbidden
  apiKeys.noteUse(caller.apiKey, nowMs)
  const limited = limits.recentRefusal({ accountId: caller.account.id, apiKeyId: caller.apiKey.id })
  if (limited !== undefined) throw readRefused(limited, record)
  return caller
}

function refuseEndedSecret({ secretEnd }: Authenticated, nowMs: number): void {
  if (secretEnd === undefined || !hasEnded(secretEnd, nowMs)) return
  const endedAt = new Date(secretEnd.atMs).toISOString()
  throw new GatewayError(
    'secret_ended',
    `This secret of the API key was rotated out at ${endedAt}. Use the new secret of the key.`,
    { shouldRetry: false },
  )
}

function refuseAccount({ closedAtMs, suspendedAtMs }: Account): void {
  if (closedAtMs !== undefined) throw closedAccountError()
  if (suspendedAtMs !== null)
    throw new GatewayError('account_suspended', 'This account is suspended. Contact support.', {
      shouldRetry: false,
    })
}

/**
 * The account and key of a key's text, whether or not they are in use; undefined for one that is unknown or revoked.
 */
export function findCaller(
  key: string,
  { apiKeys, hashKey }: Pick<AdmitCallerPorts, 'apiKeys' | 'hashKey'>,
): Promise<Authenticated | undefined> {
  return key.length > KEY_LENGTH_MAX ? Promise.resolve(undefined) : apiKeys.authenticate(hashKey(key))
}

/**
 * Admits a request that holds nothing: it counts as a request of the minute of its key. Throws `requests_per_minute`.
 */
export async function admitRead(
  { account, apiKey }: Authenticated,
  record: RatesRecord,
  limits: Pick<Limits, 'countRead'>,
): Promise<void> {
  const counted = await limits.countRead({ accountId: account.id, apiKeyId: apiKey.id })
  if (counted.outcome === 'limited') throw readRefused(counted, record)
  record.rates = counted.rates
}

function readRefused({ refusal, rates }: Limited, record: RatesRecord): GatewayError {
  record.rates = rates
  record.refusedBy = refusedBy(refusal)
  return limitError(refusal, { amount: ZERO })
}
