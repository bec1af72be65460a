import type { Database, Statement } from 'bun:sqlite'
import {
  ACCOUNT_PRICE_LIST,
  ACCOUNT_RENAME,
  patchSwitches,
  priceListDetail,
  renameDetail,
  requireEmptyBooks,
  type Account,
  type AccountPatch,
} from '../../domain/accounts/account.ts'
import { GatewayError } from '../../domain/errors.ts'
import { addUsd, formatUsd } from '../../domain/money.ts'
import type { AccountPage, Accounts, Editor } from '../../gateway/ports/accounts.ts'
import { accountFrom, switchesFrom, type AccountRow } from '../books/account-rows.ts'
import type { BooksOfAccounts } from './account-books.ts'
import type { ApiKeyCache } from './api-key-cache.ts'
import { cursorOf, readCursor } from '../books/cursors.ts'
import type { SqliteAuditLog } from './audit-log.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Tables } from './hashed-table.ts'
import type { KeyDefaultRows } from './limits/key-defaults.ts'
import type { ChangeLimits } from './limits/limits.ts'
import type { MailRecipients } from './mail/mail-recipients.ts'
import type { BalanceAlerts } from './webhooks/balance-alerts.ts'
import type { JobAlerts } from './webhooks/job-alerts.ts'

/** The parts of an audit line of a change. */
type ChangeLine = { readonly action: string; readonly subject: string; readonly detail: string }

/** The accounts of one node. */
export class SqliteAccounts implements Accounts {
  readonly #groupCommit: GroupCommit
  readonly #auditLog: SqliteAuditLog
  readonly #tables: Tables
  readonly #sql: ReturnType<typeof statements>
  readonly #keptKeys: ApiKeyCache
  readonly #changeLimits: ChangeLimits
  readonly #keyDefaults: KeyDefaultRows
  readonly #booksOfAccounts: BooksOfAccounts
  readonly #balanceAlerts: BalanceAlerts
  readonly #mailRecipients: MailRecipients
  readonly #jobAlerts: JobAlerts

  constructor(parts: {
    readonly database: Database
    readonly groupCommit: GroupCommit
    readonly auditLog: SqliteAuditLog
    readonly tables: Tables
    readonly keptKeys: ApiKeyCache
    readonly changeLimits: ChangeLimits
    readonly keyDefaults: KeyDefaultRows
    readonly mailRecipients: MailRecipients
    readonly steps: {
      readonly booksOfAccounts: BooksOfAccounts
      readonly balanceAlerts: BalanceAlerts
      readonly jobAlerts: JobAlerts
    }
  }) {
    this.#groupCommit = parts.groupCommit
    this.#auditLog = parts.auditLog
    this.#tables = parts.tables
    this.#sql = statements(parts.database)
    this.#keptKeys = parts.keptKeys
    this.#changeLimits = parts.changeLimits
    this.#keyDefaults = parts.keyDefaults
    this.#booksOfAccounts = parts.steps.booksOfAccounts
    this.#balanceAlerts = parts.steps.balanceAlerts
    this.#mailRecipients = parts.mailRecipients
    this.#jobAlerts = parts.steps.jobAlerts
  }

  createAccount({
    publicId,
    name,
    sandboxOnly,
    audit,
  }: Parameters<Accounts['createAccount']>[0]): Promise<Account> {
    return this.#groupCommit.run(() => {
      this.#refuseName(name)
      const id = this.#tables.accounts.insert({
        public_id: publicId,
        name,
        sandbox_only: sandboxOnly ? 1 : 0,
        created_at_ms: audit.atMs,
      })
      if (id === null) throw new Error(`The account id ${publicId} is in use.`)
      this.#sql.insertBalances.run(id)
      this.#auditLog.append(audit)
      return { id: Number(id), publicId, name, sandboxOnly, createdAtMs: audit.atMs, suspendedAtMs: null }
    })
  }

  async findAccount(idOrName: string): Promise<Account | undefined> {
    const row = this.#sql.accountByPublicId.get(idOrName) ?? this.#sql.accountByName.get(idOrName)
    return row === null ? undefined : accountFrom(row)
  }

  async findAccountById(id: number): Promise<Account | undefined> {
    const row = this.#sql.accountById.get(id)
    return row === null ? undefined : accountFrom(row)
  }

  async listAccounts({
    limit,
    cursor,
  }: AccountPage): Promise<{ readonly accounts: readonly Account[]; readonly next?: string }> {
    const after = cursor === undefined ? 0n : readCursor(cursor).value
    const rows = this.#sql.accountsAfter.all(after, limit + 1)
    const shown = rows.slice(0, limit)
    const last = shown.at(-1)
    const hasMore = rows.length > limit && last !== undefined
    return { accounts: shown.map(accountFrom), ...(hasMore ? { next: cursorOf(last.id) } : {}) }
  }

  updateAccount(publicId: string, patch: AccountPatch, { actor, atMs }: Editor): Promise<Account> {
    return this.#groupCommit.run(() => {
      const row = this.#accountRow(publicId)
      const owner = { accountId: Number(row.id), apiKeyId: undefined }
      const limits = this.#changeLimits(owner, patch.limits, { action: 'account.limits', subject: publicId })
      const { actions, suspendedAtMs, replaysOffAtMs } = patchSwitches(switchesFrom(row), patch, atMs)
      const defaults = this.#keyDefaults.change(owner.accountId, patch.keyDefaults, {
        action: 'account.key_defaults',
        subject: publicId,
      })
      const renamed = this.#rename(row, patch.name)
      const repriced = this.#setPriceList(row, patch.priceList)
      const lines = [
        ...limits,
        ...defaults,
        ...renamed,
        ...repriced,
        ...this.#changeAlert(row, patch.alertBelow, atMs),
        ...this.#changeContacts(row, patch.contacts),
        ...this.#switchJobEvents(row, patch.jobEvents),
        ...actions.map(action => ({ action, subject: publicId })),
      ]
      for (const line of lines) this.#auditLog.append({ ...line, actor, atMs })
      if (actions.length + renamed.length + repriced.length === 0)
        return accountFrom(this.#accountRow(publicId))
      this.#sql.setSwitches.run(suspendedAtMs, replaysOffAtMs, row.id)
      // No other code runs before the commit, so no key can be read and kept in between.
      this.#keptKeys.clear()
      return accountFrom(this.#accountRow(publicId))
    })
  }

  closeAccount(publicId: string, { actor, atMs }: Editor): Promise<Account> {
    return this.#groupCommit.run(() => {
      const row = this.#accountRow(publicId)
      if (row.closed_at_ms !== null) return accountFrom(row)
      const books = this.#booksOfAccounts.of(Number(row.id))
      requireEmptyBooks(row.name, {
        available: books.free,
        held: addUsd(books.heldText, books.current.balances['held.media']),
        openRequests: books.textHolds,
        openJobs: Number(this.#sql.openHolds.get(row.id)?.open ?? 0n),
      })
      // The steps of the same transaction, and requests that were admitted before, see it in the books.
      books.stage().isClosed = true
      this.#sql.close.run(atMs, row.id)
      this.#auditLog.append({ action: 'account.close', subject: publicId, actor, atMs })
      this.#keptKeys.clear()
      return accountFrom(this.#accountRow(publicId))
    })
  }

  /** Inside a step: gives the account another name, and returns the audit line of that; none if the name stays. */
  #rename({ id, public_id: subject, name: was }: AccountRow, name = was): readonly ChangeLine[] {
    if (name === was) return []
    this.#refuseName(name)
    this.#sql.rename.run(name, id)
    return [{ action: ACCOUNT_RENAME, subject, detail: renameDetail(name, was) }]
  }

  /** Inside a step: gives the account a price list, and returns the audit line of that; none if it has it already. */
  #setPriceList(
    { id, public_id: subject, price_list: was }: AccountRow,
    priceList = was,
  ): readonly ChangeLine[] {
    if (priceList === was) return []
    if (priceList !== null && this.#sql.priceListById.get(priceList) === null)
      throw new GatewayError('invalid_field', `There is no price list ${JSON.stringify(priceList)}.`, {
        param: 'price_list',
      })
    this.#sql.setPriceList.run(priceList, id)
    return [{ action: ACCOUNT_PRICE_LIST, subject, detail: priceListDetail(priceList, was) }]
  }

  /** Inside a step: sets or removes the alert of an account, and returns the audit line of that; none if it stays. */
  #changeAlert({ id, public_id: subject }: AccountRow, below: AccountPatch['alertBelow'], atMs: number) {
    if (below === undefined || !this.#balanceAlerts.change(Number(id), below, atMs)) return []
    const detail = JSON.stringify({ below_usd: below === null ? null : formatUsd(below) })
    return [{ action: 'account.balance_alert', subject, detail }]
  }

  /** Inside a step: replaces the contacts of an account, and returns the audit line of that; none if they stay. */
  #changeContacts({ id, public_id: subject }: AccountRow, contacts: AccountPatch['contacts']) {
    if (contacts === undefined || !this.#mailRecipients.replace(Number(id), contacts)) return []
    // No address: the audit log cannot be edited, and a person may ask to be forgotten.
    const detail = JSON.stringify({ contacts: contacts.length })
    return [{ action: 'account.contacts', subject, detail }]
  }

  /** Inside a step: switches the events of jobs, and returns the audit line of that; none if they stay. */
  #switchJobEvents({ id, public_id: subject }: AccountRow, isOn: AccountPatch['jobEvents']) {
    if (isOn === undefined || !this.#jobAlerts.change(Number(id), isOn)) return []
    return [{ action: 'account.job_events', subject, detail: JSON.stringify({ on: isOn }) }]
  }

  #refuseName(name: string): void {
    if (this.#sql.accountByName.get(name) === null) return
    throw new GatewayError('already_exists', `There is already an account with the name "${name}".`, {
      param: 'name',
    })
  }

  #accountRow(publicId: string): AccountRow {
    const row = this.#sql.accountByPublicId.get(publicId)
    if (row === null) throw new RangeError(`There is no account ${publicId}.`)
    return row
  }
}

function statements(database: Database) {
  const accounts = `SELECT *, (SELECT below FROM balance_alerts WHERE account_id = accounts.id) AS alert_below,
      (SELECT json_group_array(address ORDER BY id) FROM mail_recipients WHERE account_id = accounts.id) AS contacts,
    EXISTS (SELECT 1 FROM job_alerts WHERE account_id = accounts.id) AS job_events
    FROM accounts WHERE`
  return {
    insertBalances: database.prepare('INSERT INTO balances (account_id) VALUES (?)'),
    accountByPublicId: database.prepare<AccountRow, [string]>(`${accounts} public_id = ?`),
    accountByName: database.prepare<AccountRow, [string]>(`${accounts} name = ?`),
    accountById: database.prepare<AccountRow, [number]>(`${accounts} id = ?`),
    accountsAfter: database.prepare<AccountRow, [bigint, number]>(`${accounts} id > ? ORDER BY id LIMIT ?`),
    rename: database.prepare(
      'UPDATE accounts SET first_name = ifnull(first_name, name), name = ? WHERE id = ?',
    ),
    priceListById: database.prepare<{ id: string }, [string]>('SELECT id FROM price_lists WHERE id = ?'),
    setPriceList: database.prepare('UPDATE accounts SET price_list = ? WHERE id = ?'),
    openHolds: database.prepare<{ open: bigint }, [bigint]>(
      "SELECT count(*) AS open FROM holds WHERE account_id = ? AND state = 'open'",
    ),
    close: database.prepare('UPDATE accounts SET closed_at_ms = ? WHERE id = ?'),
    setSwitches: database.prepare(
      'UPDATE accounts SET suspended_at_ms = ?, replays_off_at_ms = ? WHERE id = ?',
    ),
  } satisfies Record<string, Statement>
}
