import type { SQL } from 'bun'
import { sumsIn } from '../../../domain/ledger/books.ts'
import { addUsd, nanoUsd, subtractUsd } from '../../../domain/money.ts'
import type { Clock } from '../../../gateway/ports/clock.ts'
import type { Balance, HoldOutcome, Ledger } from '../../../gateway/ports/ledger.ts'
import type { TextHoldTerms } from '../../books/ledger/holds.ts'
import type { LimitUsage } from '../../books/access/limit-changes.ts'
import type { Owner } from '../../books/ledger/media-holds.ts'
import type { MoneySteps } from '../../books/ledger/money-steps.ts'
import { booksStateFrom, type BalancesRow } from '../../books/rows/operation-rows.ts'
import { booksOf, END_OF_WORK, first, type Engine, type Step } from '../../books/steps.ts'
import { createLedgerReports } from '../../books/usage/ledger-reports.ts'
import { usageSource } from '../access-parts.ts'
import { chargePlaces } from './charge-places.ts'
import type { PostgresLimits } from '../limits/limits.ts'
import type { TextHolds } from './text-holds.ts'
import { verifyBooks } from '../verify/verify.ts'
import { noBooks } from '../../books/ledger/holds.ts'

/** The ledger of one node. Text holds are rows that batches write, media holds are rows with their money moved. */
export function createLedger(parts: {
  readonly engine: Engine
  /** Opens a connection. */
  readonly connect: () => SQL
  readonly money: MoneySteps
  readonly text: TextHolds
  readonly limits: Pick<PostgresLimits, 'noteRefusal' | 'generation'>
  readonly limitUsage: Pick<LimitUsage, 'recount'>
  /** Writes the events of alerts that batches recorded. */
  readonly tellAlerts: () => Promise<unknown>
  readonly owner: Owner
  readonly clock: Pick<Clock, 'now'>
  readonly onFreed: Ledger['onFreed']
}): Ledger {
  const { engine, text, owner, clock } = parts
  const { media, credits, corrections, compensations } = parts.money
  const placeText = async (hold: TextHoldTerms): Promise<HoldOutcome> => {
    const { generation } = parts.limits
    const outcome = await text.place(hold)
    if (outcome.outcome === 'limited' && hold.demand !== undefined)
      await parts.limits.noteRefusal({ accountId: hold.accountId, ...hold.demand }, outcome, generation)
    return outcome
  }
  return {
    // Of the grants of one token to several accounts, each must see those before it.
    credit: request =>
      engine.write(request.allowance === undefined ? 'books' : 'access', () => credits.credit(request)),
    debit: request => engine.write('books', () => corrections.debit(request)),
    refund: request => engine.write('books', () => corrections.refund(request)),
    placeHold: ({ atMs, ...hold }) =>
      hold.kind === 'text' ? placeText(hold) : engine.write('books', () => media.place(hold, owner, atMs)),
    captureHold: (hold, charge) =>
      hold.kind === 'text'
        ? text.capture(hold, charge)
        : engine.write('books', () => media.capture(hold, charge), END_OF_WORK),
    releaseHold: (hold, atMs) =>
      hold.kind === 'text'
        ? text.release(hold)
        : engine.write('books', () => media.release(hold, atMs), END_OF_WORK),
    async renewHolds() {
      await text.renew()
      await parts.tellAlerts()
      await engine.write('books', () => media.renew(owner))
    },
    async expiredHolds(limit) {
      const expired = await text.expired(limit)
      const ofMedia = await engine.read(() => media.expired(clock.now(), limit - expired.length))
      return [...expired, ...ofMedia]
    },
    expireHold: (hold, atMs) =>
      hold.kind === 'text'
        ? text.expire(hold, atMs)
        : engine.write('books', () => media.expire(hold, { nowMs: clock.now(), atMs })),
    compensate: (attempt, atMs) =>
      engine.write('books', () => compensations.compensate(attempt, atMs), END_OF_WORK),
    onFreed: parts.onFreed,
    heldNow: () => engine.read(heldNow),
    balance: accountId => engine.read(() => balanceOf(accountId)),
    ...createLedgerReports({
      failedJobs: { from: 'jobs', at: 'coalesce(loss_at_ms, changed_at_ms)' },
      engine,
      chargePlaces,
      turns: { next: async () => undefined },
      usageSource,
    }),
    verify: (blobs, onPart) =>
      verifyBooks(
        {
          ...parts,
          recount: accountId => engine.write('books', () => recounted(accountId, parts.limitUsage)),
        },
        blobs,
        onPart,
      ),
  }
}

/** Nobody else uses the books of the account meanwhile. */
function* recounted(accountId: number, limitUsage: Pick<LimitUsage, 'recount'>): Step<void> {
  yield* booksOf(accountId)
  yield* limitUsage.recount(accountId)
}

function* heldNow(): Step<Awaited<ReturnType<Ledger['heldNow']>>> {
  const row = yield* first<{ text: bigint; media: bigint }>(
    `SELECT CAST(coalesce(sum(reserved + held_text), 0) AS bigint) AS text,
        CAST(coalesce(sum(held_media), 0) AS bigint) AS media FROM balances`,
  )
  return { text: nanoUsd(row?.text ?? 0n), media: nanoUsd(row?.media ?? 0n) }
}

function* balanceOf(accountId: number): Step<Balance> {
  const row = yield* first<BalancesRow & { reserved: bigint }>(
    'SELECT * FROM balances WHERE account_id = ?',
    accountId,
  )
  if (row === undefined) throw noBooks(accountId)
  const { balances, bookedLosses } = booksStateFrom(row)
  const reserved = nanoUsd(row.reserved)
  return {
    available: subtractUsd(balances.available, reserved),
    held: { text: addUsd(balances['held.text'], reserved), media: balances['held.media'] },
    ...sumsIn(balances, bookedLosses),
  }
}
