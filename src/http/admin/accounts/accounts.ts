import type { Account, AccountPatch } from '../../../domain/accounts/account.ts'
import { encodeKeyDefaults } from '../../../domain/accounts/key-defaults.ts'
import { isMailAddress, repeatedAddress } from '../../../domain/mail/mail-address.ts'
import { CONTACTS_MAX } from '../../../domain/mail/mail.ts'
import { limitFields } from '../../../domain/limits/limits-row.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { addUsd, formatUsd, type NanoUsd } from '../../../domain/money.ts'
import { instantOrNull } from '../../../domain/time.ts'
import { checkedName, createAccount } from '../../../gateway/admin/accounts/create-account.ts'
import { CREDIT_MAX } from '../../../gateway/admin/accounts/credit-account.ts'
import { flagField, readFields, textField, wrongField, type Fields } from '../body.ts'
import { optionalUsdField } from '../money-fields.ts'
import { limitsOf } from '../../account/limits-json.ts'
import type { BufferedReply } from '../../request-context.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { AccountPorts } from '../ports.ts'
import { absenceOf } from '../found.ts'
import { keyDefaultsIn } from './key-defaults.ts'
import { readAdminPage } from '../query.ts'
import { limitsField, membersOf, warningsOf } from './terms.ts'

/** More than any name or id has. */
const SEARCH_CHARS_MAX = 200

/** One page of accounts with their balances, oldest first: all, or those with a part of a name or id (`?search=`). */
export async function listAccounts({ query }: AdminCall, ports: AccountPorts): Promise<BufferedReply> {
  const { limit, cursor } = readAdminPage(query, ['search'])
  const search = query.get('search') ?? ''
  if (search.length > SEARCH_CHARS_MAX || search.includes('\0'))
    throw wrongField('search', `must be a part of a name or an id, of at most ${SEARCH_CHARS_MAX} characters`)
  const { accounts, next } = await ports.accounts.listAccounts({
    limit,
    ...(search === '' ? {} : { search }),
    ...(cursor === undefined ? {} : { cursor }),
  })
  return adminReply({
    data: await Promise.all(accounts.map(account => accountBody(account, ports))),
    has_more: next !== undefined,
    next: next ?? null,
  })
}

/** Creates an account. Throws `already_exists` if the name is taken. */
export async function postAccount(
  { request, actor }: AdminCall,
  ports: AccountPorts,
): Promise<BufferedReply> {
  const fields = await readFields(request, ['name'])
  const name = textField(fields, 'name', 'the name of the account')
  const account = await createAccount({ name, actor }, ports)
  return adminReply({ id: account.publicId, name: account.name })
}

/**
 * Changes the name, the replays, the price list, the alerts, the contacts and the limits of an account, from the next
 * request on, and the defaults of its new keys. Repeating it changes nothing.
 */
export async function patchAccount(
  { request, params, actor }: AdminCall,
  ports: AccountPorts,
): Promise<BufferedReply> {
  const patch = patchIn(await readFields(request, [...Object.keys(patchOf), ...limitFields]))
  const { publicId } = await accountOf(params, ports)
  const changed = await ports.accounts.updateAccount(publicId, patch, { actor, atMs: ports.clock.now() })
  const warnings = warningsOf({ settings: patch.keyDefaults?.settings, limits: patch.limits }, ports)
  return adminReply({ ...(await limitedAccountBody(changed, ports)), ...warnings })
}

/** The part of the patch that each field makes, except limits. Only the fields of a body are read. */
const patchOf: Readonly<Record<string, (fields: Fields) => AccountPatch>> = {
  name: fields => ({ name: checkedName(textField(fields, 'name', 'the new name')) }),
  replays: fields => ({ replays: flagField(fields, 'replays') }),
  price_list: fields => ({ priceList: priceListIn(fields) }),
  alert_below_usd: fields => ({ alertBelow: alertIn(fields) }),
  contacts: ({ contacts }) => ({ contacts: contactsIn(contacts) }),
  job_events: fields => ({ jobEvents: flagField(fields, 'job_events') }),
  key_defaults: fields => ({ keyDefaults: keyDefaultsIn(fields['key_defaults']) }),
}

/** Throws `invalid_field` for a wrong field, and for a body that changes nothing. */
function patchIn(fields: Fields): AccountPatch {
  const parts = Object.entries(patchOf).flatMap(([name, part]) => (name in fields ? [part(fields)] : []))
  const limits = membersOf(fields, limitFields)
  if (limits !== undefined || parts.length === 0) parts.push({ limits: limitsField(limits ?? {}) })
  return Object.assign({}, ...parts)
}

/** Null removes the alert. */
function alertIn(fields: Fields): NanoUsd | null {
  const below = optionalUsdField(fields, 'alert_below_usd') ?? null
  if (below === null || (below >= 0n && below <= CREDIT_MAX)) return below
  throw wrongField('alert_below_usd', `must be from 0 to ${formatUsd(CREDIT_MAX)}`)
}

/** Null gives the account the prices of the catalog. */
function priceListIn(fields: Fields): string | null {
  return fields['price_list'] === null
    ? null
    : textField(fields, 'price_list', 'the id of a price list, or null')
}

/** All addresses that get mails about the account. An empty list, or null, removes them. */
function contactsIn(value: unknown): readonly string[] {
  const expected = `must be a list of at most ${CONTACTS_MAX} e-mail addresses such as ada@example.com, in ASCII`
  const addresses: unknown = value ?? []
  if (!Array.isArray(addresses) || addresses.length > CONTACTS_MAX) throw wrongField('contacts', expected)
  const contacts = addresses.map((address: unknown) => {
    if (typeof address !== 'string' || !isMailAddress(address)) throw wrongField('contacts', expected)
    return address
  })
  const repeated = repeatedAddress(contacts)
  if (repeated !== undefined) throw wrongField('contacts', `must not have ${repeated} twice`)
  return contacts
}

/** Refuses the keys of an account from the next request on. Repeating it changes nothing. */
export async function postSuspension(
  { params, actor }: AdminCall,
  ports: AccountPorts,
): Promise<BufferedReply> {
  const { publicId } = await accountOf(params, ports)
  const by = { actor, atMs: ports.clock.now() }
  return adminReply(suspensionBody(await ports.accounts.updateAccount(publicId, { suspended: true }, by)))
}

/** Accepts the keys of an account again. Repeating it changes nothing. */
export async function postResumption(
  { params, actor }: AdminCall,
  ports: AccountPorts,
): Promise<BufferedReply> {
  const { publicId } = await accountOf(params, ports)
  const by = { actor, atMs: ports.clock.now() }
  return adminReply(suspensionBody(await ports.accounts.updateAccount(publicId, { suspended: false }, by)))
}

/** Closes an account that is empty, for good. Repeating it changes nothing. */
export async function postClosing({ params, actor }: AdminCall, ports: AccountPorts): Promise<BufferedReply> {
  const { publicId } = await accountOf(params, ports)
  const closed = await ports.accounts.closeAccount(publicId, { actor, atMs: ports.clock.now() })
  return adminReply(await accountBody(closed, ports))
}

/** One account with its balance and its limits. */
export async function getAccount({ params }: AdminCall, ports: AccountPorts): Promise<BufferedReply> {
  return adminReply(await limitedAccountBody(await accountOf(params, ports), ports))
}

/** Accounts whose names are compared with an unknown one. More would make a mistyped name slow. */
const COMPARED_MAX = 1000

/** The account of a path, by its id or its name. Throws `not_found`, which suggests similar names. */
export async function accountOf(
  params: AdminCall['params'],
  { accounts }: Pick<AccountPorts, 'accounts'>,
): Promise<Account> {
  const name = params['account'] ?? ''
  const account = await accounts.findAccount(name)
  if (account !== undefined) return account
  const known = await accounts.listAccounts({ limit: COMPARED_MAX })
  const names = known.accounts.map(account => account.name)
  throw new GatewayError('not_found', absenceOf('account', name, names))
}

/**
 * Values that cannot be read are null, so that one damaged row does not hide the other accounts. `tollgate verify`
 * names the damage.
 */
async function accountBody(account: Account, { ledger }: AccountPorts): Promise<object> {
  const balance = await ledger.balance(account.id).catch(nullIfDamaged)
  return {
    id: account.publicId,
    name: account.name,
    available_usd: balance && formatUsd(balance.available),
    held_usd: balance && formatUsd(addUsd(balance.held.text, balance.held.media)),
    sandbox_only: account.sandboxOnly,
    suspended_at: account.suspendedAtMs === null ? null : instantOrNull(account.suspendedAtMs),
    closed_at: account.closedAtMs === undefined ? null : instantOrNull(account.closedAtMs),
    replays: account.replays !== false,
    price_list: account.priceList ?? null,
    alert_below_usd: account.alertBelow === undefined ? null : formatUsd(account.alertBelow),
    job_events: account.jobEvents === true,
    created_at: instantOrNull(account.createdAtMs),
  }
}

async function limitedAccountBody(account: Account, ports: AccountPorts): Promise<object> {
  const limits = limitsOf({ accountId: account.id, apiKeyId: undefined }, ports.limits).catch(nullIfDamaged)
  const defaults = await ports.keyDefaults.of(account.id)
  return {
    ...(await accountBody(account, ports)),
    ...(await limits),
    contacts: account.contacts ?? [],
    key_defaults: encodeKeyDefaults(defaults),
  }
}

/** The store throws one of these for an account without balances. */
function nullIfDamaged(error: unknown): null {
  if (error instanceof RangeError) return null
  if (error instanceof GatewayError && error.code === 'books_inconsistent') return null
  throw error
}

function suspensionBody({ publicId, name, suspendedAtMs }: Account) {
  return {
    id: publicId,
    name,
    suspended_at: suspendedAtMs === null ? null : instantOrNull(suspendedAtMs),
  }
}
