import { BalanceAlerts } from '../../books/events/balance-alerts.ts'
import type { Events } from '../../books/events/events.ts'
import { JobAlerts } from '../../books/events/job-alerts.ts'
import type { TextHoldTerms } from '../../books/ledger/holds.ts'
import type { Database } from 'bun:sqlite'
import { sumsIn } from '../../../domain/ledger/books.ts'
import { addUsd, nanoUsd } from '../../../domain/money.ts'
import type { Balance, HoldOutcome, Ledger } from '../../../gateway/ports/ledger.ts'
import type { Limited } from '../../../gateway/ports/limits.ts'
import { createMoneySteps } from '../../books/ledger/money-steps.ts'
import type { Engine } from '../../books/steps.ts'
import { createLedgerReports } from '../../books/usage/ledger-reports.ts'
import type { AccountBooks, BooksOfAccounts } from './account-books.ts'
import { createBesideCharges } from './beside-charges.ts'
import type { StepRunner } from '../commits/engine.ts'
import { usageSource } from '../access-parts.ts'
import { chargePlaces } from './charge-places.ts'
import { ReadTurns } from '../read-turns.ts'
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
  readonly stepRunner: StepRunner
  readonly hints: HintBroadcast
  readonly booksOfAccounts: BooksOfAccounts
  readonly tariffs: Tariffs
  readonly events: Events
}) {
  const { hints, booksOfAccounts, events } = parts
  const balanceAlerts = new BalanceAlerts(events)
  const textHolds = new OpenTextHolds()
  const limits = new LimitSteps({ ...parts, textHolds, hints })
  const besideCharges = createBesideCharges({ ...parts, limits })
  const money = createMoneySteps({
    balanceAlerts,
    besideCharges,
    events,
  })
  return {
    hints,
    booksOfAccounts,
    balanceAlerts,
    jobAlerts: new JobAlerts(events),
    limits,
    besideCharges,
    ...money,
    text: new TextHolds({ ...parts, ...money, limits, textHolds }),
  }
}

/** Named, because other indexes of jobs look as good and have all of the failed ones. */
const FAILED_JOBS = { from: 'jobs INDEXED BY jobs_not_sold', at: 'ifnull(loss_at_ms, changed_at_ms)' }

/** The ledger of one node. Text holds are in memory, media holds are rows. */
export function createLedger(parts: {
  readonly database: Database
  readonly steps: LedgerSteps
  readonly stepRunner: StepRunner
  readonly groupCommit: GroupCommit
  readonly engine: Engine
  readonly owner: HoldOwner
  readonly freedHints: FreedHints
}): Ledger {
  const { database, engine, groupCommit, owner } = parts
  const { text, media, credits, corrections, compensations, booksOfAccounts } = parts.steps
  const mediaHeld = database.prepare<{ held: bigint }, []>(
    "SELECT ifnull(sum(amount), 0) AS held FROM holds WHERE state = 'open'",
  )

  const placeText = (hold: TextHoldTerms): HoldOutcome | Promise<HoldOutcome> => {
    const outcome = text.place(hold, owner)
    return outcome.outcome === 'limited' ? toldRefusal(hold, outcome, parts) : outcome
  }
  const placeMedia = ({ atMs, ...hold }: Parameters<Ledger['placeHold']>[0]) =>
    engine.write('books', () => media.place(hold, owner, atMs))

  return {
    credit: request => engine.write('books', () => credits.credit(request)),
    debit: request => engine.write('books', () => corrections.debit(request)),
    refund: request => engine.write('books', () => corrections.refund(request)),
    placeHold: request => (request.kind === 'text' ? Promise.try(placeText, request) : placeMedia(request)),
    captureHold: (hold, charge) =>
      hold.kind === 'text'
        ? text.capture(hold, charge, groupCommit)
        : engine.write('books', () => media.capture(hold, charge)),
    releaseHold: (hold, atMs) =>
      hold.kind === 'text'
        ? text.release(hold, atMs, groupCommit)
        : engine.write('books', () => media.release(hold, atMs)),
    renewHolds() {
      text.renew(owner)
      return engine.write('books', () => media.renew(owner))
    },
    async expiredHolds(limit) {
      const expired = text.expired(owner.monotonicMs(), limit)
      const ofMedia = await engine.read(() => media.expired(owner.nowMs(), limit - expired.length))
      return [...expired, ...ofMedia]
    },
    expireHold: async (hold, atMs) =>
      hold.kind === 'text'
        ? text.expire(hold, { monotonicMs: owner.monotonicMs(), atMs })
        : engine.write('books', () => media.expire(hold, { nowMs: owner.nowMs(), atMs })),
    compensate: (attempt, atMs) => engine.write('books', () => compensations.compensate(attempt, atMs)),
    onFreed: listener => parts.freedHints.listen(listener),
    heldNow: async () => ({ text: text.held(), media: nanoUsd(mediaHeld.get()?.held ?? 0n) }),
    balance: async accountId => balanceOf(booksOfAccounts.of(accountId)),
    ...createLedgerReports({
      failedJobs: FAILED_JOBS,
      engine,
      chargePlaces,
      turns: new ReadTurns(),
      usageSource: usageSource(database),
    }),
    verify: (blobs, onPart) =>
      verifyBooks(database, {
        ...parts,
        blobs,
        onPart,
        live: { ...parts.steps, nowMs: () => owner.nowMs() },
      }),
  }
}

/** A refused request commits nothing, so the first refusal of a budget is told in a step of its own. */
async function toldRefusal(
  { accountId }: TextHoldTerms,
  limited: Limited,
  {
    steps: { booksOfAccounts, limits },
    groupCommit,
    owner,
  }: { readonly steps: LedgerSteps; readonly groupCommit: GroupCommit; readonly owner: HoldOwner },
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
