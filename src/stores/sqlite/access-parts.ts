import type { Database } from 'bun:sqlite'
import type { Authenticated } from '../../gateway/ports/access/api-keys.ts'
import { accountEvents } from '../books/access/changes.ts'
import { presentedKeys, type KeptKeys } from '../books/access/kept-keys.ts'
import type { MailRecipients } from '../books/events/mail-recipients.ts'
import { limitChanges, type LimitUsage } from '../books/access/limit-changes.ts'
import type { UsageSource } from '../books/access/project-usage.ts'
import { afterCommit, atOnce } from '../books/steps.ts'
import type { StepDriver } from './commits/step-runner.ts'
import type { HoldOwner } from './ledger/hold-owner.ts'
import type { LedgerSteps } from './ledger/ledger.ts'
import { areCostsAdded, isUsageRebuilt } from './usage-days.ts'

type Parts = {
  readonly database: Database
  readonly stepDriver: StepDriver
  readonly steps: LedgerSteps
  readonly keptKeys: KeptKeys
  readonly mailRecipients: MailRecipients
  readonly owner: HoldOwner
}

/** The collaborators of the steps of accounts, keys and projects in SQLite. */
export function accessParts(parts: Parts) {
  const { database, keptKeys, steps } = parts
  return {
    forgetKeys: () => afterCommit(() => keptKeys.forget()),
    changeLimits: limitChanges(limitUsage(parts)),
    countRequests: (accountId: number) => atOnce(() => steps.booksOfAccounts.of(accountId).textHolds),
    accountEvents: accountEvents({ ...parts, ...steps }),
    usageSource: usageSource(database),
    authenticate: async (hash: string) => keptKeys.find(hash) ?? readKey(parts, hash),
  }
}

export function usageSource(database: Database): UsageSource {
  return {
    isComplete: () => atOnce(() => isUsageRebuilt(database) && areCostsAdded(database)),
    pause: () => new Promise(setImmediate),
  }
}

function limitUsage({ database, owner, steps: { limits, booksOfAccounts } }: Parts): LimitUsage {
  return {
    isComplete: () => atOnce(() => isUsageRebuilt(database)),
    recount: accountId => atOnce(() => limits.termsChanged(booksOfAccounts.of(accountId), owner.nowMs())),
  }
}

function readKey({ stepDriver, keptKeys }: Parts, hash: string): Authenticated | undefined {
  const [found] = stepDriver.run(presentedKeys([Buffer.from(hash, 'base64')]))
  if (found !== undefined) keptKeys.keep(hash, found.authenticated, keptKeys.generation)
  return found?.authenticated
}
