import type { Charge } from '../../../gateway/ports/ledger/charge.ts'
import type { Captured, Hold, HoldOutcome, Ledger } from '../../../gateway/ports/ledger/ledger.ts'
import type { LedgerReports } from '../../../gateway/ports/ledger/ledger-reports.ts'
import { END_OF_WORK, type StepRunner } from '../steps.ts'
import type { MediaHolds, Owner } from './media-holds.ts'
import type { MoneySteps } from './money-steps.ts'

/** The holds of one kind, of one node. The methods promise the same as those of `Ledger`. */
export type HoldLedger = {
  place(request: Parameters<Ledger['placeHold']>[0]): Promise<HoldOutcome>
  capture(hold: Hold, charge: Charge): Promise<Captured>
  release(hold: Hold, atMs: number): Promise<void>
  renew(): Promise<void>
  expired(limit: number): Promise<readonly Hold[]>
  expire(holds: readonly Hold[], atMs: number): Promise<number>
}

/** A node as the owner of its holds, with the clock that their expiries are compared with. */
export type ClockedOwner = Owner & { nowMs(): number }

/**
 * The ledger of one node. Media holds are rows with their money moved. SQLite has the text holds in memory, and
 * PostgreSQL writes them in batches.
 */
export function ledgerOf(parts: {
  readonly stepRunner: StepRunner
  readonly money: Pick<MoneySteps, 'media' | 'credits' | 'corrections' | 'compensations'>
  readonly text: HoldLedger
  readonly owner: ClockedOwner
  readonly reports: LedgerReports
  readonly onFreed: Ledger['onFreed']
  readonly heldNow: Ledger['heldNow']
  readonly balance: Ledger['balance']
  readonly verify: Ledger['verify']
  /** Absent for a store that does not know what it has checked. */
  readonly verifyRecent?: Ledger['verifyRecent']
}): Ledger {
  const { stepRunner, money, text, owner, onFreed, heldNow, balance, verify } = parts
  const { credits, corrections, compensations } = money
  const media = mediaLedger({ stepRunner, media: money.media, owner })
  return {
    // Of the grants of one token to several accounts, each must see those before it.
    credit: request =>
      stepRunner.write(request.allowance === undefined ? 'books' : 'access', () => credits.credit(request)),
    debit: request => stepRunner.write('books', () => corrections.debit(request)),
    refund: request => stepRunner.write('books', () => corrections.refund(request)),
    placeHold: request => (request.kind === 'text' ? text.place(request) : media.place(request)),
    captureHold: (hold, charge) =>
      hold.kind === 'text' ? text.capture(hold, charge) : media.capture(hold, charge),
    releaseHold: (hold, atMs) =>
      hold.kind === 'text' ? text.release(hold, atMs) : media.release(hold, atMs),
    async renewHolds() {
      // Both begin at once, because a store that closes commits only the work that has begun.
      await Promise.all([text.renew(), media.renew()])
    },
    async expiredHolds(limit) {
      const expired = await text.expired(limit)
      return [...expired, ...(await media.expired(limit - expired.length))]
    },
    async expireHolds(holds, atMs) {
      const ofKind = (kind: Hold['kind']) => holds.filter(hold => hold.kind === kind)
      const [freedText, freedMedia] = await Promise.all([
        text.expire(ofKind('text'), atMs),
        media.expire(ofKind('media'), atMs),
      ])
      return freedText + freedMedia
    },
    compensate: (attempt, atMs) =>
      stepRunner.write('books', () => compensations.compensate(attempt, atMs), END_OF_WORK),
    onFreed,
    heldNow,
    balance,
    verify,
    verifyRecent: parts.verifyRecent ?? (() => verify()),
    ...parts.reports,
  }
}

function mediaLedger({
  stepRunner,
  media,
  owner,
}: {
  readonly stepRunner: StepRunner
  readonly media: MediaHolds
  readonly owner: ClockedOwner
}): HoldLedger {
  return {
    place: ({ atMs, ...hold }) => stepRunner.write('books', () => media.place(hold, owner, atMs)),
    capture: (hold, charge) => stepRunner.write('books', () => media.capture(hold, charge), END_OF_WORK),
    release: (hold, atMs) => stepRunner.write('books', () => media.release(hold, atMs), END_OF_WORK),
    renew: () => stepRunner.write('books', () => media.renew(owner)),
    expired: limit => stepRunner.read(() => media.expired(owner.nowMs(), limit)),
    async expire(holds, atMs) {
      let freed = 0
      const failures: unknown[] = []
      // One at a time, so that the requests of this node do not wait for all of them. One that fails stops no other.
      for (const hold of holds) {
        const expire = () => media.expire(hold, { nowMs: owner.nowMs(), atMs })
        const isFreed = await stepRunner.write('books', expire).catch((error: unknown) => {
          failures.push(error)
          return false
        })
        if (isFreed) freed += 1
      }
      if (failures.length > 0) throw failures[0]
      return freed
    },
  }
}
