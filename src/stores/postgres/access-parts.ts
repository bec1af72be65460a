import { accountEvents } from '../books/access/changes.ts'
import type { KeptKeys } from '../books/access/kept-keys.ts'
import { limitChanges, type LimitUsage } from '../books/access/limit-changes.ts'
import type { UsageSource } from '../books/access/project-usage.ts'
import { atOnce, first, type Engine, type Step } from '../books/steps.ts'
import { forgetKeys, type KeyLookups } from './key-lookups.ts'

/** What the steps of accounts, keys and projects ask of the rest of a PostgreSQL store. */
export function accessParts(
  parts: {
    readonly engine: Engine
    readonly kept: KeptKeys
    readonly keyLookups: KeyLookups
  } & Parameters<typeof accountEvents>[0],
) {
  const { engine, kept, keyLookups } = parts
  return {
    engine,
    forgetKeys: () => forgetKeys(kept),
    changeLimits: limitChanges(limitUsage),
    countRequests,
    accountEvents: accountEvents(parts),
    usageSource,
    authenticate: (hash: string) => keyLookups.find(hash),
  }
}

/** The upgrade that adds up earlier charges belongs to SQLite. */
const isComplete = () => atOnce(() => true)

export const usageSource: UsageSource = { isComplete, pause: async () => undefined }

const limitUsage: LimitUsage = {
  isComplete,
  // Usage under limits is not counted yet.
  recount: () => atOnce(() => undefined),
}

/** An expired hold counts until its request ends. */
function* countRequests(accountId: number): Step<number> {
  const row = yield* first<{ open: bigint }>(
    'SELECT count(*) AS open FROM text_holds WHERE account_id = ?',
    accountId,
  )
  return Number(row?.open ?? 0n)
}
