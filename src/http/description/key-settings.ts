import { EXPIRES_IN_S_MAX } from '../../domain/accounts/key-defaults.ts'
import { keyRoutes } from '../../domain/accounts/key-settings.ts'
import { noBudgets, noLimits } from './limits.ts'
import {
  about,
  dateTime,
  idOf,
  listOf,
  nullable,
  ref,
  text,
  words,
  type Members,
  type Schema,
} from './schema.ts'

const some = (items: Schema): Schema => listOf(items, { minItems: 1, maxItems: 100 })
const models = about('Ids of models. `*` stands for any characters.', nullable(some(text)))
const routes = about('Reads of jobs belong to the route that creates them.', nullable(some(words(keyRoutes))))
const addresses = about('IP addresses, or ranges in CIDR notation.', nullable(some(text)))

/** The first characters of a key. */
export const prefix: Schema = { type: 'string', pattern: '^tg_live_[0-9A-Za-z_-]{4}$' }

/** The settings of a key that its holder sees. Null restricts nothing. */
export const ownKeySettings: Members = {
  expires_at: nullable(dateTime),
  disabled_at: nullable(dateTime),
  models,
  routes,
}

/** The members of a key in the admin API. */
export const keyMembers: Members = {
  id: idOf('key'),
  name: text,
  prefix,
  project: about('The id of its project.', nullable(idOf('proj'))),
  secrets: about('The newest first.', listOf(ref('KeySecret'))),
  created_at: dateTime,
  revoked_at: nullable(dateTime),
  ...ownKeySettings,
  allowed_addresses: addresses,
  last_used_on: about('The latest day of use, in UTC.', nullable({ type: 'string', format: 'date' })),
}

/** What new keys begin with, beside their limits. */
const expiresIn = { type: 'integer', minimum: 1, maximum: EXPIRES_IN_S_MAX } as const
export const settingDefaults: Members = {
  models,
  routes,
  expires_in: about('Seconds from the creation of a key until it expires.', nullable(expiresIn)),
  allowed_addresses: addresses,
}

/** The members of a change of settings. */
export const keySettingChanges: Members = {
  models,
  routes,
  expires_at: nullable(dateTime),
  allowed_addresses: addresses,
}

export const keySettingsExample = {
  models: ['gpt-*'],
  routes: ['chat_completions', 'embeddings'],
  expires_at: '2027-01-01T00:00:00.000Z',
  allowed_addresses: null,
}

/** What new keys begin with where nothing is set. */
export const noDefaults = {
  limits: noLimits,
  budgets: noBudgets,
  models: null,
  routes: null,
  expires_in: null,
  allowed_addresses: null,
}
