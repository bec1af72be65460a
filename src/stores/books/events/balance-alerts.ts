import { addUsd, type NanoUsd } from '../../../domain/money.ts'
import { balanceAlertAfter, type BalanceAlert } from '../../../domain/webhooks/event.ts'
import type { StepBooks } from '../rows/operation-rows.ts'
import { booksOf, run, type Step } from '../steps.ts'
import type { Events } from './events.ts'

/**
 * The alerts of accounts with a low balance. Each operation of an account with an alert compares its balance, in the
 * same transaction. The books of an account have its alert, so other accounts pay one look at a field.
 */
export class BalanceAlerts {
  readonly #events: Events

  constructor(events: Events) {
    this.#events = events
  }

  /** Compares the balance of an account with its alert, if it has one. */
  *check(books: StepBooks, atMs: number): Step<void> {
    const { alert, balances } = books.current
    if (alert === null) return
    const held = addUsd(balances['held.text'], balances['held.media'])
    const balance = addUsd(balances.available, held)
    const after = balanceAlertAfter(alert, { accountId: books.accountId, balance, atMs })
    if (after === undefined) return
    yield* write(books, after.alert)
    if (after.event !== undefined) yield* this.#events.emit(after.event)
  }

  /**
   * Sets the alert of an account, or removes it with null. Returns false if it stays. A balance that is below a new
   * alert is told at once.
   */
  *change(accountId: number, below: NanoUsd | null, atMs: number): Step<boolean> {
    const books = yield* booksOf(accountId)
    if (below === (books.current.alert?.below ?? null)) return false
    if (below === null) {
      books.stage().alert = null
      yield* run('DELETE FROM balance_alerts WHERE account_id = ?', accountId)
      return true
    }
    yield* write(books, { below, isLow: false })
    yield* this.check(books, atMs)
    return true
  }
}

function* write(books: StepBooks, alert: BalanceAlert): Step<void> {
  books.stage().alert = alert
  yield* run(
    `INSERT INTO balance_alerts (account_id, below, is_low) VALUES (?, ?, ?)
      ON CONFLICT (account_id) DO UPDATE SET below = excluded.below, is_low = excluded.is_low`,
    books.accountId,
    alert.below,
    alert.isLow ? 1 : 0,
  )
}
