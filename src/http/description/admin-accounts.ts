import { attributionMembers } from './account.ts'
import { creditSources } from '../../gateway/admin/credit-account.ts'
import { NAME_LENGTH_MAX } from '../../gateway/admin/create-account.ts'
import { NOTE_LENGTH_MAX } from '../admin/money-fields.ts'
import { booksTouchedBy } from '../../domain/ledger/operation.ts'
import { keyMembers, keySettingChanges, keySettingsExample, prefix, settingDefaults } from './key-settings.ts'
import {
  limitChanges,
  limitMembers,
  limitsExample,
  noBudgets,
  noLimits,
  noLimitsExample,
  termChanges,
  terms,
} from './limits.ts'
import { json, ok, pageParameters, type Operation, type Parameter, type Paths } from './operation.ts'
import {
  about,
  closed,
  flag,
  dateTime,
  idOf,
  listOf,
  nullable,
  object,
  pageSchema,
  ref,
  text,
  usd,
  words,
  type Members,
  type Schema,
} from './schema.ts'

export const ACCOUNT = 'acct_01m7yafb7z000c1awn4tmfekz0'
const KEY = 'key_01m7yafb7z000c1awn4tmfekz0'
export const AT = '2026-11-21T05:50:09.183Z'

/** A decimal string of dollars, as `parseUsd` reads it, above zero. */
export const amount: Schema = about('Dollars, above zero, with at most nine decimals.', {
  type: 'string',
  pattern: '^(?!0+(?:\\.0+)?$)\\d{1,18}(?:\\.\\d{1,9})?$',
})
const PRINTABLE = '[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]'
/** A name that does not begin as one of these ids or texts does. */
export function nameWithout(...beginnings: readonly string[]): Schema {
  return about('One line with at least one letter or digit. Spaces around it are left out.', {
    type: 'string',
    minLength: 1,
    maxLength: NAME_LENGTH_MAX,
    pattern: `^(?!${beginnings.join('|')})(?=.*\\S)${PRINTABLE}*$`,
  })
}
const name = nameWithout('acct_')
const note: Schema = about('For the audit log.', nullable({ type: 'string', maxLength: NOTE_LENGTH_MAX }))

const ALERT = about('Webhooks are told when the balance falls below it. Null for none.', nullable(usd))

/** Only in replies to changes. */
const warnings: Members = {
  warnings: about(
    'Only in replies to changes: sentences about models that the body names and the catalog does not have.',
    listOf(text),
  ),
}

export const adminAccountSchemas: Members = {
  Account: object({
    id: idOf('acct'),
    name: text,
    available_usd: about('Null if it cannot be read, because the database was damaged.', nullable(usd)),
    held_usd: nullable(usd),
    sandbox_only: flag,
    suspended_at: nullable(dateTime),
    closed_at: nullable(dateTime),
    replays: flag,
    price_list: about('Null for the prices of the catalog.', nullable(text)),
    alert_below_usd: ALERT,
    created_at: nullable(dateTime),
  }),
  LimitedAccount: object(
    {
      id: text,
      name: text,
      available_usd: nullable(usd),
      held_usd: nullable(usd),
      sandbox_only: flag,
      suspended_at: nullable(dateTime),
      closed_at: nullable(dateTime),
      replays: flag,
      price_list: about('Null for the prices of the catalog.', nullable(text)),
      alert_below_usd: ALERT,
      created_at: nullable(dateTime),
      ...limitMembers,
      key_defaults: about('What its new keys begin with.', object({ ...terms, ...settingDefaults })),
    },
    warnings,
  ),
  LimitedKey: object({ ...keyMembers, ...limitMembers }, warnings),
  ApiKey: object(keyMembers),
  FoundKey: object({
    ...keyMembers,
    found_secret: about(
      'The first characters of the secret that was asked for. Null for an id.',
      nullable(prefix),
    ),
    account: nullable(idOf('acct')),
    account_name: nullable(text),
  }),
  KeyName: closed({ key: about('Its id, its first 12 characters, or its text.', text) }),
  Credit: object({ id: idOf('op'), amount_usd: usd, available_usd: usd, is_repeat: flag }),
  AdminMovement: object(
    {
      id: text,
      kind: words(Object.keys(booksTouchedBy)),
      amount_usd: usd,
      ref: nullable(text),
      note: nullable(text),
      at: dateTime,
    },
    attributionMembers,
  ),
  NewAccount: closed({ name }),
  NewKey: closed(
    {},
    {
      name: nullable(name),
      project: about('The id or the name of an open project of the account.', nullable(text)),
      ...keySettingChanges,
      ...limitChanges,
    },
  ),
  NewGrant: closed({ amount_usd: amount }, { note, source: nullable(words(creditSources)) }),
  NewDebit: closed({ amount_usd: amount }, { note, allow_negative: flag }),
  NewRefund: closed(
    {},
    {
      amount_usd: about(
        'Less than the cost needs an `Idempotency-Key`. Default: the whole charge.',
        nullable(amount),
      ),
      note,
    },
  ),
  AccountChange: closed(
    {},
    {
      name,
      replays: about('False switches replays off.', flag),
      price_list: about('The name of a price list; null for the prices of the catalog.', nullable(text)),
      alert_below_usd: about('Null removes the alert.', nullable(usd)),
      key_defaults: about('Null removes all.', nullable(closed({}, { ...termChanges, ...settingDefaults }))),
      ...limitChanges,
    },
  ),
  KeyDefaults: object({ ...terms, ...settingDefaults }, warnings),
  KeyDefaultsChange: closed({}, { ...termChanges, ...settingDefaults }),
  KeyChange: closed(
    {},
    {
      name,
      disabled: about('True refuses the key until it is false.', flag),
      ...keySettingChanges,
      ...limitChanges,
    },
  ),
}

export const account = {
  id: ACCOUNT,
  name: 'ada',
  available_usd: '9.999885',
  held_usd: '0',
  sandbox_only: false,
  suspended_at: null,
  closed_at: null,
  replays: true,
  price_list: null,
  alert_below_usd: null,
  created_at: AT,
}
export const key = {
  id: KEY,
  name: 'default',
  prefix: 'tg_live_Ab3d',
  project: null,
  secrets: [{ prefix: 'tg_live_Ab3d', created_at: AT, ends_at: null, has_ended: false }],
  created_at: AT,
  revoked_at: null,
  disabled_at: null,
  ...keySettingsExample,
  last_used_on: '2026-11-23',
}
const noDefaults = {
  limits: noLimits,
  budgets: noBudgets,
  models: null,
  routes: null,
  expires_in: null,
  allowed_addresses: null,
}
const defaults = {
  ...noDefaults,
  limits: limitsExample.limits,
  budgets: limitsExample.budgets,
  expires_in: 7_776_000,
}
const credit = {
  id: 'op_01m7yafb7z000c1awn4tmfekz0',
  amount_usd: '25',
  available_usd: '25',
  is_repeat: false,
}
const movement = {
  id: 'op_01m7yafb7z000c1awn4tmfekz0',
  kind: 'grant',
  amount_usd: '25',
  ref: null,
  note: null,
  at: AT,
}

const accountParameter: Parameter = {
  name: 'account',
  in: 'path',
  description: 'The id or the name of an account.',
  schema: text,
  example: 'ada',
}
export const keyParameter: Parameter = {
  name: 'id',
  in: 'path',
  description: 'The id of the key, or its first 12 characters.',
  schema: text,
  example: KEY,
}
const idempotencyKey: Parameter = {
  name: 'idempotency-key',
  in: 'header',
  description: 'A repeat with the same key returns the first result and moves no money.',
  schema: { type: 'string', pattern: '^[\\u0021-\\u007e]{1,255}$' },
}
export const common = { tag: 'Admin: accounts and money', access: 'admin' } as const
export const ofAccount = { ...common, parameters: [accountParameter], errors: ['not_found'] } as const

/** A body of a schema of `components`. */
export function bodyOf(
  schema: string,
  example: object,
  { isRequired = true } = {},
): NonNullable<Operation['body']> {
  return { isRequired, content: json(ref(schema), { example }) }
}

/** Accounts, their keys and their money. */
export const adminAccountPaths: Paths = {
  accounts: {
    get: {
      ...common,
      id: 'listAccounts',
      summary: 'The accounts, oldest first',
      parameters: pageParameters,
      replies: ok('A page.', pageSchema(ref('Account')), { data: [account], has_more: false, next: null }),
      errors: ['invalid_field'],
    },
    post: {
      ...common,
      id: 'createAccount',
      summary: 'Create an account',
      body: bodyOf('NewAccount', { name: 'ada' }),
      replies: ok('The account.', object({ id: idOf('acct'), name: text }), { id: ACCOUNT, name: 'ada' }),
      errors: ['already_exists'],
    },
  },
  'accounts/{account}': {
    get: {
      ...ofAccount,
      id: 'readAccount',
      summary: 'An account',
      replies: ok('The account.', ref('LimitedAccount'), {
        ...account,
        ...noLimitsExample,
        key_defaults: noDefaults,
      }),
    },
    patch: {
      ...ofAccount,
      id: 'changeAccount',
      summary:
        'Change the name, the replays, the price list, the alert or the limits of an account, or the defaults of its new keys',
      body: bodyOf('AccountChange', { replays: false }),
      replies: ok('The account.', ref('LimitedAccount'), {
        ...account,
        ...noLimitsExample,
        key_defaults: noDefaults,
        replays: false,
      }),
      errors: ['not_found', 'already_exists', 'already_closed', 'unavailable'],
    },
  },
  'accounts/{account}/keys': {
    get: {
      ...ofAccount,
      id: 'listKeys',
      summary: 'All keys of an account, without their texts',
      replies: ok('The keys.', object({ data: listOf(ref('ApiKey')) }), { data: [key] }),
    },
    post: {
      ...ofAccount,
      id: 'createKey',
      summary: 'Create a key',
      description:
        'Only this reply has the text of the key. A key never changes its project. Limits and settings that the body does not name are the defaults of the account, or else those of the gateway, at this moment; null is none in spite of a default.',
      body: bodyOf('NewKey', { name: 'laptop', models: ['gpt-*'] }, { isRequired: false }),
      replies: ok('The key with its text.', object({ ...keyMembers, ...limitMembers, key: text }, warnings), {
        ...key,
        last_used_on: null,
        ...limitsExample,
        key: 'tg_live_Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z',
      }),
      errors: ['not_found', 'invalid_field', 'already_closed'],
    },
  },
  'accounts/{account}/keys/{id}': {
    delete: {
      ...ofAccount,
      id: 'revokeKeyOfAccount',
      summary: 'Revoke a key of an account',
      parameters: [accountParameter, keyParameter],
      replies: ok('The revoked key.', ref('ApiKey'), { ...key, revoked_at: AT }),
      errors: ['not_found', 'invalid_field'],
    },
  },
  'key-defaults': {
    get: {
      ...common,
      id: 'readKeyDefaults',
      summary: 'The limits and settings that the gateway gives new keys',
      replies: ok('The defaults.', ref('KeyDefaults'), defaults),
      errors: [],
    },
    patch: {
      ...common,
      id: 'changeKeyDefaults',
      summary: 'Change the limits and settings that the gateway gives new keys',
      description: 'Earlier keys keep theirs. Null removes a default, and an absent one stays.',
      body: bodyOf('KeyDefaultsChange', {
        limits: { requests_per_minute: 60 },
        budgets: { month: '20' },
        expires_in: 7_776_000,
      }),
      replies: ok('The defaults.', ref('KeyDefaults'), defaults),
      errors: [],
    },
  },
  'keys/find': {
    post: {
      ...common,
      id: 'findKey',
      summary: 'Find a key by its id, its first characters or its text',
      description: 'No reply repeats the text.',
      body: bodyOf('KeyName', { key: 'tg_live_Ab3d' }),
      replies: ok('The key with its account.', ref('FoundKey'), {
        ...key,
        found_secret: 'tg_live_Ab3d',
        account: ACCOUNT,
        account_name: 'ada',
      }),
      errors: ['not_found'],
    },
  },
  'keys/{id}': {
    get: {
      ...common,
      id: 'readKeyLimits',
      summary: 'A key with its limits',
      parameters: [keyParameter],
      replies: ok('The key.', ref('LimitedKey'), { ...key, ...limitsExample }),
      errors: ['not_found', 'invalid_field'],
    },
    patch: {
      ...common,
      id: 'changeKey',
      summary: 'Change the name of a key or what it may use, or disable it',
      description:
        'All changes are made in one step. Null removes a setting, a limit or a budget, and an absent one stays. What was spent before counts for budgets.',
      parameters: [keyParameter],
      body: bodyOf('KeyChange', { limits: { requests_per_minute: 60 }, budgets: { month: '20' } }),
      replies: ok('The key.', ref('LimitedKey'), { ...key, ...limitsExample }),
      errors: ['not_found', 'invalid_field', 'already_closed'],
    },
  },
  'keys/{id}/revoke': {
    post: {
      ...common,
      id: 'revokeKey',
      summary: 'Revoke a key',
      parameters: [keyParameter],
      replies: ok('The revoked key.', ref('ApiKey'), { ...key, revoked_at: AT }),
      errors: ['not_found', 'invalid_field'],
    },
  },
  'accounts/{account}/grants': {
    post: {
      ...ofAccount,
      id: 'grantCredit',
      summary: 'Credit an account',
      parameters: [accountParameter, idempotencyKey],
      description: 'A token with the scope `grants` gives only grants, up to its amount of each day in UTC.',
      body: bodyOf('NewGrant', { amount_usd: '25', source: 'top_up' }),
      replies: ok('The credit.', ref('Credit'), credit),
      errors: ['not_found', 'idempotency_key_reuse', 'grants_per_day_exceeded', 'already_closed'],
      errorExtensions: {
        grants_per_day_exceeded: {
          grants_per_day_usd: { ...usd, examples: ['50'] },
          granted_today_usd: { ...usd, examples: ['40'] },
          remaining_usd: { ...usd, examples: ['10'] },
          resets_at: { ...dateTime, examples: ['2027-01-16T00:00:00.000Z'] },
        },
      },
    },
  },
  'accounts/{account}/debits': {
    post: {
      ...ofAccount,
      id: 'debitAccount',
      summary: 'Take money from an account',
      parameters: [accountParameter, idempotencyKey],
      body: bodyOf('NewDebit', { amount_usd: '5', note: 'paid back' }),
      replies: ok('The debit.', ref('Credit'), { ...credit, amount_usd: '-5', available_usd: '20' }),
      errors: ['not_found', 'idempotency_key_reuse', 'insufficient_balance'],
    },
  },
  'charges/{charge}/refund': {
    post: {
      ...common,
      id: 'refundCharge',
      summary: 'Give back a charge, or a part of it',
      description:
        'A part needs an `Idempotency-Key`. All refunds of a charge together are at most its cost. Without `amount_usd`, the whole charge is given back, if nothing of it was before. The error `already_exists` has what is left as `refundable_usd`.',
      parameters: [
        {
          name: 'charge',
          in: 'path',
          description: 'The id of the request or the job.',
          schema: idOf('req', 'img', 'vid'),
          example: 'req_01m7yafb7z000c1awn4tmfekz0',
        },
        idempotencyKey,
      ],
      body: bodyOf('NewRefund', { note: 'a useless answer' }, { isRequired: false }),
      replies: ok('The refund.', ref('Credit'), credit),
      errors: ['not_found', 'idempotency_key_reuse', 'already_exists', 'already_closed'],
      errorExtensions: { already_exists: { refundable_usd: { ...usd, examples: ['0.25'] } } },
    },
  },
  'accounts/{account}/statement': {
    get: {
      ...ofAccount,
      id: 'listAdminMovements',
      summary: 'The money movements of an account, newest first',
      parameters: [accountParameter, ...pageParameters],
      replies: ok('A page.', pageSchema(ref('AdminMovement')), {
        data: [movement],
        has_more: false,
        next: null,
      }),
      errors: ['not_found', 'invalid_field'],
    },
  },
}
