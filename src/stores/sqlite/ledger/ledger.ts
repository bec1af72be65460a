import { BalanceAlerts } from '../../books/events/balance-alerts.ts'
import type { Events } from '../../books/events/events.ts'
import { JobAlerts } from '../../books/events/job-alerts.ts'
import type { TextHoldTerms } from '../../books/ledger/holds.ts'
import type { Database } from 'bun:sqlite'
import { sumsIn } from '../../../domain/ledger/books.ts'
import { addUsd, nanoUsd } from '../../../domain/money.ts'
import type { Balance, Ledger } from '../../../gateway/ports/ledger/ledger.ts'
import type { Limited } from '../../../gateway/ports/ledger/limits.ts'
import { ledgerOf, type HoldLedger } from '../../books/ledger/ledger.ts'
import { createMoneySteps } from '../../books/ledger/money-steps.ts'
import type { StepRunner } from '../../books/steps.ts'
import type { ReadSchedule } from '../../books/usage/charge-chain.ts'
import { createLedgerReports } from '../../books/usage/ledger-reports.ts'
import type { AccountBooks, BooksOfAccounts } from './account-books.ts'
import { createChargeEffects } from './charge-effects.ts'
import type { StepDriver } from '../commits/step-runner.ts'
import { usageSource } from '../access-parts.ts'
import { chargePlaces } from './charge-places.ts'
import type { FreedHints, HintBroadcast } from './freed-hints.ts'
import type { GroupCommit } from '../commits/group-commit.ts'
import type { HoldOwner } from './hold-owner.ts'
import type { Tariffs } from './tariffs.ts'
import { LimitSteps } from '../limits/limit-steps.ts'
import { OpenTextHolds, TextHolds } from './text-holds.ts'
import type { Transactions } from '../commits/transactions.ts'
import { verifyBooks } from '../verify/verify.ts'

/**
 * The steps of the ledger, which all nodes of a store share. A step runs inside a transaction and is synchronous; a
 * port method is one step or several in one transaction.
 */
export type LedgerSteps = ReturnType<typeof createLedgerSteps>

export function createLedgerSteps(parts: {
  readonly database: Database
  readonly transactions: Transactions
  readonly stepDriver: StepDriver
  readonly hints: HintBroadcast
  readonly booksOfAccounts: BooksOfAccounts
  readonly tariffs: Tariffs
  readonly events: Events
}) {
  const { hints, booksOfAccounts, events } = parts
  const balanceAlerts = new BalanceAlerts(events)
  const textHolds = new OpenTextHolds()
  const limits = new LimitSteps({ ...parts, textHolds, hints })
  const chargeEffects = createChargeEffects({ ...parts, limits })
  const money = createMoneySteps({
    balanceAlerts,
    chargeEffects,
    events,
  })
  return {
    hints,
    booksOfAccounts,
    balanceAlerts,
    jobAlerts: new JobAlerts(events),
    limits,
    chargeEffects,
    ...money,
    text: new TextHolds({ ...parts, ...money, limits, textHolds }),
  }
}

/** Named, because other indexes of jobs look as good and have all of the failed ones. */
const FAILED_JOBS = { from: 'jobs INDEXED BY jobs_not_sold', at: 'ifnull(loss_at_ms, changed_at_ms)' }

type NodeParts = {
  readonly database: Database
  readonly steps: LedgerSteps
  readonly stepDriver: StepDriver
  readonly groupCommit: GroupCommit
  readonly stepRunner: StepRunner
  readonly owner: HoldOwner
  readonly freedHints: FreedHints
}

/** The ledger of one node. */
export function createLedger(parts: NodeParts): Ledger {
  const { database, stepRunner, owner, steps } = parts
  const mediaHeld = database.prepare<{ held: bigint }, []>(
    "SELECT ifnull(sum(amount), 0) AS held FROM holds WHERE state = 'open'",
  )
  return ledgerOf({
    stepRunner,
    money: steps,
    text: textLedger(parts),
    owner,
    onFreed: listener => parts.freedHints.listen(listener),
    heldNow: async () => ({ text: steps.text.held(), media: nanoUsd(mediaHeld.get()?.held ?? 0n) }),
    balance: async accountId => balanceOf(steps.booksOfAccounts.of(accountId)),
    reports: createLedgerReports({
      failedJobs: FAILED_JOBS,
      stepRunner,
      chargePlaces,
      schedule: readSchedule(),
      usageSource: usageSource(database),
    }),
    verify: (blobs, onPart) =>
      verifyBooks(database, {
        ...parts,
        blobs,
        onPart,
        live: { ...steps, nowMs: () => owner.nowMs() },
      }),
  })
}

/** Text holds are in memory, and those of all nodes are together. */
function textLedger(parts: NodeParts): HoldLedger {
  const { owner, groupCommit } = parts
  const { text } = parts.steps
  return {
    async place(hold) {
      const outcome = text.place(hold, owner)
      return outcome.outcome === 'limited' ? toldRefusal(hold, outcome, parts) : outcome
    },
    capture: (hold, charge) => text.capture(hold, charge, groupCommit),
    release: (hold, atMs) => text.release(hold, atMs, groupCommit),
    renew: async () => text.renew(owner),
    expired: async limit => text.expired(owner.monotonicMs(), limit),
    expire: async (holds, atMs) =>
      holds.filter(hold => text.expire(hold, { monotonicMs: owner.monotonicMs(), atMs })).length,
  }
}

/** Each piece of a read gets its own turn of the event loop: several reads delay requests no longer than one. */
function readSchedule(): ReadSchedule {
  let last: Promise<void> = Promise.resolve()
  return { next: () => (last = last.then(() => new Promise(resolve => setImmediate(resolve)))) }
}

/** A refused request commits nothing, so the first refusal of a budget is told in a step of its own. */
async function toldRefusal(
  { accountId }: TextHoldTerms,
  limited: Limited,
  { steps: { booksOfAccounts, limits }, groupCommit, owner }: NodeParts,
): Promise<Limited> {
  const books = booksOfAccounts.of(accountId)
  const { refusal } = limited
  if (limits.isNews(books, refusal, owner.nowMs()))
    await groupCommit.run(() => limits.tellRefusal(books, refusal, owner.nowMs()))
  return limited
}

function balanceOf({ free, heldText, committed: { balances, bookedLosses } }: AccountBooks): Balance {
  return {
    available: free,
    held: { text: addUsd(balances['held.text'], heldText), media: balances['held.media'] },
    ...sumsIn(balances, bookedLosses),
  }
}
