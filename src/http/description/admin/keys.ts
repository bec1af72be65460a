import {
  keyMembers,
  keySettingChanges,
  keySettingsExample,
  prefix,
  settingDefaults,
  noDefaults,
} from '../key-settings.ts'
import { limitChanges, limitMembers, limitsExample, termChanges, terms, warnings } from '../limits.ts'
import { ok, pageParameters, type Parameter, type Paths, bodyOf } from '../operation.ts'
import {
  about,
  closed,
  flag,
  idOf,
  listOf,
  nullable,
  object,
  pageSchema,
  ref,
  text,
  type Members,
} from '../schema.ts'
import { ACCOUNT, accountParameter, AT, common, name, ofAccount } from './accounts.ts'

const KEY = 'key_01m7yafb7z000c1awn4tmfekz0'

export const adminKeySchemas: Members = {
  LimitedKey: object({ ...keyMembers, ...limitMembers }, warnings),
  ApiKey: object(keyMembers),
  KeyOfAccount: object({
    ...keyMembers,
    account: nullable(idOf('acct')),
    account_name: nullable(text),
  }),
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
  NewKey: closed(
    {},
    {
      name: nullable(name),
      project: about('The id or the name of an open project of the account.', nullable(text)),
      ...keySettingChanges,
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
const defaults = {
  ...noDefaults,
  limits: limitsExample.limits,
  budgets: limitsExample.budgets,
  expires_in: 7_776_000,
}

export const keyParameter: Parameter = {
  name: 'id',
  in: 'path',
  description: 'The id of the key, or its first 12 characters.',
  schema: text,
  example: KEY,
}

/** The keys of accounts, and what new ones begin with. */
export const adminKeyPaths: Paths = {
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
  keys: {
    get: {
      ...common,
      id: 'listAllKeys',
      summary: 'The keys of all accounts, newest first',
      parameters: [
        {
          name: 'search',
          in: 'query',
          description:
            'Only keys with this part in their name or in the name of their account, in upper or lower case, in their id, or in their first 12 characters.',
          schema: text,
          example: 'laptop',
        },
        ...pageParameters,
      ],
      replies: ok('A page.', pageSchema(ref('KeyOfAccount')), {
        data: [{ ...key, account: ACCOUNT, account_name: 'ada' }],
        has_more: false,
        next: null,
      }),
      errors: ['invalid_field'],
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
}
