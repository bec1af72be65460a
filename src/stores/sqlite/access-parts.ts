import type { Database } from 'bun:sqlite'
import { addUsd } from '../../domain/money.ts'
import type { Authenticated } from '../../gateway/ports/api-keys.ts'
import { accountEvents, type AccountContents } from '../books/access/changes.ts'
import { presentedKeys, type KeptKeys } from '../books/access/kept-keys.ts'
import type { MailRecipients } from '../books/events/mail-recipients.ts'
import { limitChanges, type LimitUsage } from '../books/access/limit-changes.ts'
import type { UsageSource } from '../books/access/project-usage.ts'
import { afterCommit, all, atOnce } from '../books/steps.ts'
import type { StepRunner } from './engine.ts'
import type { HoldOwner } from './hold-owner.ts'
import type { LedgerSteps } from './ledger.ts'
import { areCostsAdded, isUsageRebuilt } from './usage-days.ts'

type Parts = {
  readonly database: Database
  readonly stepRunner: StepRunner
  readonly steps: LedgerSteps
  readonly keptKeys: KeptKeys
  readonly mailRecipients: MailRecipients
  readonly owner: HoldOwner
}

/** What the steps of accounts, keys and projects ask of the rest of a SQLite store. */
export function accessParts(parts: Parts) {
  const { database, keptKeys } = parts
  return {
    forgetKeys: () => afterCommit(() => keptKeys.forget()),
    changeLimits: limitChanges(limitUsage(parts)),
    accountContents: accountContents(parts),
    accountEvents: accountEvents({ ...parts, ...parts.steps }),
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
    lock: accountId => atOnce(() => void booksOfAccounts.of(accountId)),
    recount: accountId => atOnce(() => limits.termsChanged(booksOfAccounts.of(accountId), owner.nowMs())),
  }
}

function accountContents({ steps: { booksOfAccounts } }: Parts): AccountContents {
  return {
    *of(accountId) {
      const [holds] = yield* all<{ open: bigint }>(
        "SELECT count(*) AS open FROM holds WHERE account_id = ? AND state = 'open'",
        accountId,
      )
      const books = booksOfAccounts.of(accountId)
      return {
        available: books.free,
        held: addUsd(books.heldText, books.current.balances['held.media']),
        openRequests: books.textHolds,
        openJobs: Number(holds?.open ?? 0n),
      }
    },
    close: accountId => atOnce(() => void (booksOfAccounts.of(accountId).stage().isClosed = true)),
  }
}

function readKey({ stepRunner, keptKeys }: Parts, hash: string): Authenticated | undefined {
  const [found] = stepRunner.run(presentedKeys([Buffer.from(hash, 'base64')]))
  if (found !== undefined) keptKeys.keep(hash, found.authenticated, keptKeys.generation)
  return found?.authenticated
}
