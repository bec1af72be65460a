import { accountEvents } from '../books/access/changes.ts'
import { limitChanges } from '../books/access/limit-changes.ts'
import type { UsageSource } from '../books/access/project-usage.ts'
import { atOnce, first, type StepRunner, type Step } from '../books/steps.ts'
import { forgetOnAllNodes, type Kept, type KeyLookups } from './key-lookups.ts'
import { limitUsage } from './limits/limit-usage.ts'

/** The collaborators of the steps of accounts, keys and projects in PostgreSQL. */
export function accessParts(
  parts: {
    readonly stepRunner: StepRunner
    readonly kept: Kept
    readonly keyLookups: KeyLookups
    /** Replaces the clock of the database, for tests. */
    readonly nowMs?: () => number
  } & Parameters<typeof accountEvents>[0],
) {
  const { stepRunner, kept, keyLookups, nowMs } = parts
  const usage = limitUsage(nowMs ?? (() => null))
  return {
    stepRunner,
    forgetKeys: () => forgetOnAllNodes(kept),
    changeLimits: limitChanges({
      ...usage,
      *recount(accountId) {
        yield* usage.recount(accountId)
        yield* forgetOnAllNodes(kept)
      },
    }),
    countRequests,
    accountEvents: accountEvents(parts),
    usageSource,
    authenticate: (hash: string) => keyLookups.find(hash),
  }
}

export const usageSource: UsageSource = {
  // The upgrade that adds up earlier charges belongs to SQLite.
  isComplete: () => atOnce(() => true),
  pause: async () => undefined,
}

/** An expired hold counts until its request ends. */
function* countRequests(accountId: number): Step<number> {
  const row = yield* first<{ open: bigint }>(
    'SELECT count(*) AS open FROM text_holds WHERE account_id = ?',
    accountId,
  )
  return Number(row?.open ?? 0n)
}
