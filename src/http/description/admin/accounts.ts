import { CONTACTS_MAX } from '../../../domain/mail/mail.ts'
import { attributionMembers } from '../account.ts'
import { creditSources } from '../../../gateway/admin/accounts/credit-account.ts'
import { NAME_LENGTH_MAX } from '../../../gateway/admin/accounts/create-account.ts'
import { NOTE_LENGTH_MAX } from '../../admin/money-fields.ts'
import { operationKinds } from '../../../domain/ledger/operation.ts'
import { noDefaults, settingDefaults } from '../key-settings.ts'
import { limitChanges, limitMembers, noLimitsExample, termChanges, terms, warnings } from '../limits.ts'
import { bodyOf, ok, pageParameters, statementParameters, type Parameter, type Paths } from '../operation.ts'
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
} from '../schema.ts'

export const ACCOUNT = 'acct_01m7yafb7z000c1awn4tmfekz0'
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
/** The name of an account or a key. */
export const name = nameWithout('acct_')
const note: Schema = about('For the audit log.', nullable({ type: 'string', maxLength: NOTE_LENGTH_MAX }))

const JOB_EVENTS = about('Whether webhooks are told of each job that ends.', flag)

const accountMembers = {
  id: idOf('acct'),
  name: text,
  available_usd: about('Null if it cannot be read, because the database was damaged.', nullable(usd)),
  held_usd: nullable(usd),
  sandbox_only: flag,
  suspended_at: nullable(dateTime),
  closed_at: nullable(dateTime),
  replays: flag,
  price_list: about('Null for the prices of the catalog.', nullable(text)),
  alert_below_usd: about('Webhooks are told when the balance falls below it. Null for none.', nullable(usd)),
  job_events: JOB_EVENTS,
  created_at: nullable(dateTime),
} as const satisfies Members

export const adminAccountSchemas: Members = {
  Account: object(accountMembers),
  LimitedAccount: object(
    {
      ...accountMembers,
      contacts: about('The addresses that get mails about it.', listOf(text)),
      ...limitMembers,
      key_defaults: about('What its new keys begin with.', object({ ...terms, ...settingDefaults })),
    },
    warnings,
  ),
  Credit: object({ id: idOf('op'), amount_usd: usd, available_usd: usd, is_repeat: flag }),
  AdminMovement: object(
    {
      id: text,
      kind: words(operationKinds),
      amount_usd: usd,
      ref: nullable(text),
      note: nullable(text),
      at: dateTime,
    },
    attributionMembers,
  ),
  NewAccount: closed({ name }),
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
      contacts: about(
        'All addresses that get mails about it. An empty list, or null, removes them.',
        nullable(listOf({ type: 'string', format: 'email', maxLength: 254 }, { maxItems: CONTACTS_MAX })),
      ),
      job_events: JOB_EVENTS,
      key_defaults: about('Null removes all.', nullable(closed({}, { ...termChanges, ...settingDefaults }))),
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
  job_events: false,
  created_at: AT,
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

export const accountParameter: Parameter = {
  name: 'account',
  in: 'path',
  description: 'The id or the name of an account.',
  schema: text,
  example: 'ada',
}
const idempotencyKey: Parameter = {
  name: 'idempotency-key',
  in: 'header',
  description: 'A repeat with the same key returns the first result and moves no money.',
  schema: { type: 'string', pattern: '^[\\u0021-\\u007e]{1,255}$' },
}
export const common = { tag: 'Admin: accounts and money', access: 'admin' } as const
export const ofAccount = { ...common, parameters: [accountParameter], errors: ['not_found'] } as const

/** Accounts and their money. */
export const adminAccountPaths: Paths = {
  accounts: {
    get: {
      ...common,
      id: 'listAccounts',
      summary: 'The accounts, oldest first',
      parameters: [
        {
          name: 'search',
          in: 'query',
          description: 'Only accounts with this part in their name, in upper or lower case, or in their id.',
          schema: { type: 'string', maxLength: 200 },
          example: 'ada',
        },
        ...pageParameters,
      ],
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
        contacts: ['ada@example.com'],
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
        contacts: ['ada@example.com'],
        key_defaults: noDefaults,
        replays: false,
      }),
      errors: ['not_found', 'already_exists', 'already_closed', 'unavailable'],
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
      parameters: [accountParameter, ...statementParameters(operationKinds)],
      replies: ok('A page.', pageSchema(ref('AdminMovement')), {
        data: [movement],
        has_more: false,
        next: null,
      }),
      errors: ['not_found', 'invalid_field'],
    },
  },
}
