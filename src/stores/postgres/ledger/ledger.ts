import type { SQL } from 'bun'
import { sumsIn } from '../../../domain/ledger/books.ts'
import { addUsd, nanoUsd, subtractUsd } from '../../../domain/money.ts'
import type { Balance, Ledger } from '../../../gateway/ports/ledger/ledger.ts'
import type { LimitUsage } from '../../books/access/limit-changes.ts'
import { ledgerOf, type ClockedOwner, type HoldLedger } from '../../books/ledger/ledger.ts'
import type { MoneySteps } from '../../books/ledger/money-steps.ts'
import { booksStateFrom, type BalancesRow } from '../../books/rows/operation-rows.ts'
import { booksOf, first, type StepRunner, type Step } from '../../books/steps.ts'
import { createLedgerReports } from '../../books/usage/ledger-reports.ts'
import { usageSource } from '../access-parts.ts'
import { chargePlaces } from './charge-places.ts'
import type { PostgresLimits } from '../limits/limits.ts'
import type { TextHolds } from './text-holds.ts'
import { verifyBooks, verifyRecent } from '../verify/verify.ts'
import { noBooks } from '../../books/ledger/holds.ts'

type NodeParts = {
  readonly stepRunner: StepRunner
  /** Opens a connection. */
  readonly connect: () => SQL
  readonly money: MoneySteps
  readonly text: TextHolds
  readonly limits: Pick<PostgresLimits, 'noteRefusal' | 'generation'>
  readonly limitUsage: Pick<LimitUsage, 'recount'>
  /** Writes the events of alerts that batches recorded. */
  readonly tellAlerts: () => Promise<unknown>
  readonly owner: ClockedOwner
  readonly onFreed: Ledger['onFreed']
}

/** The ledger of one node. */
export function createLedger(parts: NodeParts): Ledger {
  const { stepRunner, money, owner, onFreed } = parts
  const verified = {
    ...parts,
    recount: (accountId: number) => stepRunner.write('books', () => recounted(accountId, parts.limitUsage)),
  }
  return ledgerOf({
    stepRunner,
    money,
    text: textLedger(parts),
    owner,
    onFreed,
    heldNow: () => stepRunner.read(heldNow),
    balance: accountId => stepRunner.read(() => balanceOf(accountId)),
    reports: createLedgerReports({
      failedJobs: { from: 'jobs', at: 'coalesce(loss_at_ms, changed_at_ms)' },
      stepRunner,
      chargePlaces,
      schedule: { next: async () => undefined },
      usageSource,
    }),
    verify: (blobs, onPart) => verifyBooks(verified, blobs, onPart),
    verifyRecent: about => verifyRecent(verified, about),
  })
}

/** Text holds are rows that batches write. */
function textLedger({ text, limits, tellAlerts }: NodeParts): HoldLedger {
  return {
    async place(hold) {
      const { generation } = limits
      const outcome = await text.place(hold)
      if (outcome.outcome === 'limited' && hold.demand !== undefined)
        await limits.noteRefusal({ accountId: hold.accountId, ...hold.demand }, outcome, generation)
      return outcome
    },
    capture: (hold, charge) => text.capture(hold, charge),
    release: hold => text.release(hold),
    async renew() {
      await text.renew()
      await tellAlerts()
    },
    expired: limit => text.expired(limit),
    expire: (holds, atMs) => text.expire(holds, atMs),
  }
}

/** No other step uses the books of the account meanwhile. */
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
