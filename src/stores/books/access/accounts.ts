import {
  ACCOUNT_PRICE_LIST,
  ACCOUNT_RENAME,
  patchSwitches,
  priceListDetail,
  renameDetail,
  requireEmptyBooks,
  type Account,
  type AccountPatch,
} from '../../../domain/accounts/account.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { addUsd, formatUsd } from '../../../domain/money.ts'
import type { AccountPage, Accounts, Editor } from '../../../gateway/ports/access/accounts.ts'
import { accountsTable } from '../rows/access-tables.ts'
import { accountFrom, switchesFrom, type AccountRow } from '../rows/account-rows.ts'
import type { SqlValue } from '../rows/canonical.ts'
import { keepPriceList } from '../catalog/catalog-tables.ts'
import { cursorOf, pageOf, readCursor } from '../cursors.ts'
import { CONTAINS, NAME_CONTAINS, namePatterns, partOfText } from '../part-of-text.ts'
import { all, booksOf, first, insert, run, type StepRunner, type Step } from '../steps.ts'
import { appendAudit } from './audit-log.ts'
import type { AccountEvents, AuditedChange, CountRequests, ForgetKeys } from './changes.ts'
import { changeDefaults } from './key-defaults.ts'
import type { ChangeLimits } from './limit-changes.ts'

type Parts = {
  readonly stepRunner: StepRunner
  readonly forgetKeys: ForgetKeys
  readonly changeLimits: ChangeLimits
  readonly countRequests: CountRequests
  readonly accountEvents: AccountEvents
}

/** The accounts port of one node. */
export class StoredAccounts implements Accounts {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  createAccount(request: Parameters<Accounts['createAccount']>[0]): Promise<Account> {
    return this.#parts.stepRunner.write('access', () => createAccount(request))
  }

  findAccount(idOrName: string): Promise<Account | undefined> {
    return this.#parts.stepRunner.read(function* () {
      const [account] = yield* accountsWhere('public_id = ?', idOrName)
      return account ?? (yield* accountsWhere('name = ?', idOrName))[0]
    })
  }

  findAccountById(id: number): Promise<Account | undefined> {
    return this.#parts.stepRunner.read(function* () {
      return (yield* accountsWhere('id = ?', id))[0]
    })
  }

  listAccounts({ limit, cursor, search = '' }: AccountPage): ReturnType<Accounts['listAccounts']> {
    const { stepRunner } = this.#parts
    return stepRunner.read(function* () {
      const after = cursor === undefined ? 0n : readCursor(cursor).value
      const found =
        search === ''
          ? yield* accountsWhere('id > ? ORDER BY id LIMIT ?', after, limit + 1)
          : yield* accountsWhere(MATCHING, ...namePatterns(search), partOfText(search), after, limit + 1)
      const { shown: accounts, ...next } = pageOf(found, limit, ({ id }) => cursorOf(BigInt(id)))
      return { accounts, ...next }
    })
  }

  updateAccount(publicId: string, patch: AccountPatch, by: Editor): Promise<Account> {
    return this.#parts.stepRunner.write('access', () => updateAccount(this.#parts, publicId, patch, by))
  }

  closeAccount(publicId: string, by: Editor): Promise<Account> {
    return this.#parts.stepRunner.write('access', () => closeAccount(this.#parts, publicId, by))
  }
}

const MATCHING = `(${NAME_CONTAINS} OR public_id ${CONTAINS}) AND id > ? ORDER BY id LIMIT ?`

function* createAccount(request: Parameters<Accounts['createAccount']>[0]): Step<Account> {
  const { publicId, name, sandboxOnly, audit } = request
  yield* refuseName(name)
  const id = yield* insert(accountsTable, {
    public_id: publicId,
    name,
    sandbox_only: sandboxOnly ? 1 : 0,
    created_at_ms: audit.atMs,
  })
  if (id === null) throw new Error(`The account id ${publicId} is in use.`)
  yield* run('INSERT INTO balances (account_id) VALUES (?)', id)
  yield* appendAudit(audit)
  return { id: Number(id), publicId, name, sandboxOnly, createdAtMs: audit.atMs, suspendedAtMs: null }
}

function* updateAccount(parts: Parts, publicId: string, patch: AccountPatch, by: Editor): Step<Account> {
  const { atMs } = by
  const row = yield* accountRow(publicId)
  const accountId = Number(row.id)
  const line = (action: string) => ({ action, subject: publicId })
  const owner = { accountId, apiKeyId: undefined }
  const limits = yield* parts.changeLimits(owner, patch.limits, line('account.limits'))
  const { actions, suspendedAtMs, replaysOffAtMs } = patchSwitches(switchesFrom(row), patch, atMs)
  const defaults = yield* changeDefaults(accountId, patch.keyDefaults, line('account.key_defaults'))
  const renamed = yield* rename(row, patch.name)
  const repriced = yield* setPriceList(row, patch.priceList)
  const events = yield* changeEvents(parts.accountEvents, row, patch, atMs)
  const lines = [...limits, ...defaults, ...renamed, ...repriced, ...events, ...actions.map(line)]
  for (const change of lines) yield* appendAudit({ ...by, ...change })
  if (actions.length + renamed.length + repriced.length > 0) {
    yield* run(
      'UPDATE accounts SET suspended_at_ms = ?, replays_off_at_ms = ? WHERE id = ?',
      suspendedAtMs,
      replaysOffAtMs,
      row.id,
    )
    yield* parts.forgetKeys()
  }
  return yield* accountOf(publicId)
}

function* closeAccount(parts: Parts, publicId: string, by: Editor): Step<Account> {
  const row = yield* accountRow(publicId)
  const accountId = Number(row.id)
  if (row.closed_at_ms === null) {
    const books = yield* booksOf(accountId)
    const media = yield* first<{ open: bigint }>(
      "SELECT count(*) AS open FROM holds WHERE account_id = ? AND state = 'open'",
      accountId,
    )
    requireEmptyBooks(row.name, {
      available: books.free,
      held: addUsd(books.heldText, books.current.balances['held.media']),
      openRequests: yield* parts.countRequests(accountId),
      openJobs: Number(media?.open ?? 0n),
    })
    // The steps of the same transaction, and requests that were admitted before, see it in the books.
    books.stage().isClosed = true
    yield* run('UPDATE accounts SET closed_at_ms = ? WHERE id = ?', by.atMs, row.id)
    yield* appendAudit({ ...by, action: 'account.close', subject: publicId })
    yield* parts.forgetKeys()
  }
  return yield* accountOf(publicId)
}

/** Gives the account another name, and returns the audit line of that; none if the name stays. */
function* rename(
  { id, public_id: subject, name: was }: AccountRow,
  name = was,
): Step<readonly AuditedChange[]> {
  if (name === was) return []
  yield* refuseName(name)
  yield* run('UPDATE accounts SET first_name = coalesce(first_name, name), name = ? WHERE id = ?', name, id)
  return [{ action: ACCOUNT_RENAME, subject, detail: renameDetail(name, was) }]
}

/** Gives the account a price list, and returns the audit line of that; none if it has it already. */
function* setPriceList(
  { id, public_id: subject, price_list: was }: AccountRow,
  priceList = was,
): Step<readonly AuditedChange[]> {
  if (priceList === was) return []
  if (priceList !== null && !(yield* keepPriceList(priceList)))
    throw new GatewayError('invalid_field', `There is no price list ${JSON.stringify(priceList)}.`, {
      param: 'price_list',
    })
  yield* run('UPDATE accounts SET price_list = ? WHERE id = ?', priceList, id)
  return [{ action: ACCOUNT_PRICE_LIST, subject, detail: priceListDetail(priceList, was) }]
}

/** Changes what is told of an account, and returns the audit lines of what changed. */
function* changeEvents(
  events: AccountEvents,
  { id, public_id: subject }: AccountRow,
  { alertBelow: below, contacts, jobEvents }: AccountPatch,
  atMs: number,
): Step<readonly AuditedChange[]> {
  const accountId = Number(id)
  const changes: { readonly action: string; readonly detail: object }[] = []
  if (below !== undefined && (yield* events.changeAlert(accountId, below, atMs)))
    changes.push({
      action: 'account.balance_alert',
      detail: { below_usd: below === null ? null : formatUsd(below) },
    })
  // No address: the audit log cannot be edited, and a person may ask to be forgotten.
  if (contacts !== undefined && (yield* events.replaceContacts(accountId, contacts)))
    changes.push({ action: 'account.contacts', detail: { contacts: contacts.length } })
  if (jobEvents !== undefined && (yield* events.switchJobEvents(accountId, jobEvents)))
    changes.push({ action: 'account.job_events', detail: { on: jobEvents } })
  return changes.map(({ action, detail }) => ({ action, subject, detail: JSON.stringify(detail) }))
}

function* refuseName(name: string): Step<void> {
  if ((yield* first('SELECT id FROM accounts WHERE name = ?', name)) === undefined) return
  throw new GatewayError('already_exists', `There is already an account with the name "${name}".`, {
    param: 'name',
  })
}

function* accountRow(publicId: string): Step<AccountRow> {
  const row = yield* first<AccountRow>('SELECT * FROM accounts WHERE public_id = ?', publicId)
  if (row === undefined) throw new RangeError(`There is no account ${publicId}.`)
  return row
}

function* accountOf(publicId: string): Step<Account> {
  const [account] = yield* accountsWhere('public_id = ?', publicId)
  if (account === undefined) throw new RangeError(`There is no account ${publicId}.`)
  return account
}

/** The accounts of a condition, with what is told of them. If there are several, they are in the order of their ids. */
function* accountsWhere(condition: string, ...values: readonly SqlValue[]): Step<readonly Account[]> {
  const rows = yield* all<AccountRow>(
    `SELECT *, (SELECT below FROM balance_alerts WHERE account_id = accounts.id) AS alert_below,
        EXISTS (SELECT 1 FROM job_alerts WHERE account_id = accounts.id) AS job_events
      FROM accounts WHERE ${condition}`,
    ...values,
  )
  const [oldest, newest] = [rows[0], rows.at(-1)]
  if (oldest === undefined || newest === undefined) return []
  const contacts = yield* all<{ account_id: bigint; address: string }>(
    'SELECT account_id, address FROM mail_recipients WHERE account_id BETWEEN ? AND ? ORDER BY id',
    oldest.id,
    newest.id,
  )
  const contactsOf = Map.groupBy(contacts, row => row.account_id)
  return rows.map(row =>
    accountFrom({ ...row, contacts: contactsOf.get(row.id)?.map(({ address }) => address) ?? [] }),
  )
}
