import type { Database, Statement } from 'bun:sqlite'
import { addUsd, type NanoUsd } from '../../../domain/money.ts'
import { balanceAlertAfter, type BalanceAlert } from '../../../domain/webhooks/event.ts'
import type { AccountBooks, BooksOfAccounts } from '../account-books.ts'
import type { WebhookEvents } from './webhook-events.ts'

/**
 * The alerts of accounts with a low balance. Each operation of an account with an alert compares its balance, in the
 * same transaction. The books of an account have its alert, so other accounts pay one look at a field.
 */
export class BalanceAlerts {
  readonly #books: BooksOfAccounts
  readonly #events: WebhookEvents
  readonly #sql: ReturnType<typeof statements>

  constructor(parts: {
    readonly database: Database
    readonly booksOfAccounts: BooksOfAccounts
    readonly webhookEvents: WebhookEvents
  }) {
    this.#books = parts.booksOfAccounts
    this.#events = parts.webhookEvents
    this.#sql = statements(parts.database)
  }

  /** Inside a step: compares the balance of an account with its alert, if it has one. */
  check(books: AccountBooks, atMs: number): void {
    const { alert, balances } = books.current
    if (alert === null) return
    const held = addUsd(balances['held.text'], balances['held.media'])
    const balance = addUsd(balances.available, held)
    const after = balanceAlertAfter(alert, { accountId: books.accountId, balance, atMs })
    if (after === undefined) return
    this.#write(books, after.alert)
    if (after.event !== undefined) this.#events.emit(after.event)
  }

  /**
   * Inside a step: sets the alert of an account, or removes it with null. Returns false if it stays. A balance that is
   * below a new alert is told at once.
   */
  change(accountId: number, below: NanoUsd | null, atMs: number): boolean {
    const books = this.#books.of(accountId)
    if (below === (books.current.alert?.below ?? null)) return false
    if (below === null) {
      books.stage().alert = null
      this.#sql.remove.run(accountId)
      return true
    }
    this.#write(books, { below, isLow: false })
    this.check(books, atMs)
    return true
  }

  #write(books: AccountBooks, alert: BalanceAlert): void {
    books.stage().alert = alert
    this.#sql.write.run(books.accountId, alert.below, alert.isLow ? 1 : 0)
  }
}

function statements(database: Database) {
  return {
    write: database.prepare(
      `INSERT INTO balance_alerts (account_id, below, is_low) VALUES (?, ?, ?)
        ON CONFLICT (account_id) DO UPDATE SET below = excluded.below, is_low = excluded.is_low`,
    ),
    remove: database.prepare('DELETE FROM balance_alerts WHERE account_id = ?'),
  } satisfies Record<string, Statement>
}
