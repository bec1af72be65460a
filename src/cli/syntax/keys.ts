import { InvalidArgumentError, type Command } from 'commander'
import { EXPIRES_IN_S_MAX } from '../../domain/accounts/key-defaults.ts'
import { decodeKeySettings } from '../../domain/accounts/key-settings.ts'
import { expiry, secondsOf } from './arguments.ts'
import {
  createKey,
  listKeys,
  renameKey,
  revokeKey,
  setKey,
  showKey,
  switchKey,
  type KeyOptions,
} from '../commands/accounts/keys.ts'
import { setKeyDefaults, showKeyDefaults } from '../commands/accounts/key-defaults.ts'
import { bodyOf, NONE, nullOf, type LimitOptions } from '../commands/accounts/limits.ts'
import { forOneModel, withLimits } from './limits.ts'
import { needsOptions } from '../option-words.ts'
import type { Runner } from '../runner.ts'
import { addKeySecrets } from './key-secrets.ts'

const KEY_NAMES =
  'its id (key_…), its first 12 characters (tg_live_…), the key itself, or "-" to read one of them from standard input'

/** Adds the commands of keys. */
export function addKeys(program: Command, runner: Runner): void {
  const keys = program
    .command('keys')
    .description('Create, list, show, change, rename, rotate, disable and revoke API keys.')
  withLimits(withSettings(keys.command('create')))
    .argument('<account>', 'its name or id')
    .description(
      'Create a key, with what it may use, and print it. It is not shown again. Limits and settings that are not given are the defaults: see "key-defaults".',
    )
    .option('--name <name>', 'a name for the key, shown in lists')
    .option('--project <project>', 'a project of the account, by its name or id; it never changes')
    .addHelpText(
      'after',
      `
Only the key is printed to standard output:
  $ KEY=$(tollgate keys create ada)
  $ tollgate keys create ada --model 'gpt-*' --route chat_completions --expires 90d --budget month=20`,
    )
    .action((account: string, { name, project, ...options }: CreateOptions) =>
      runner.admin(ask => createKey(ask, { account, fields: { name, project, ...fieldsOf(options) } })),
    )
  keys
    .command('list')
    .argument('[account]', 'its name or id; without it, the keys of all accounts are listed')
    .description('List keys, including revoked ones, by their first 12 characters.')
    .action((account: string | undefined) => runner.admin(ask => listKeys(ask, account, Date.now())))
  keys
    .command('show')
    .argument('<key>', KEY_NAMES)
    .description('Show a key, its account, and what it may use.')
    .action((key: string) => runner.admin(ask => showKey(ask, key, Date.now())))
  needsOptions(forOneModel(withLimits(withSettings(keys.command('set')))), ['forModel'])
    .argument('<key>', KEY_NAMES)
    .description('Change what a key may use, in one step, and show it.')
    .addHelpText(
      'after',
      `
The options replace what was there before; ${NONE} removes it.
  $ tollgate keys set key_… --rpm 60 --budget month=20 --model 'gpt-*' --address ${NONE}`,
    )
    .action((key: string, options: TermOptions) =>
      runner.admin(ask => setKey(ask, { key, fields: fieldsOf(options) }, Date.now())),
    )
  keys
    .command('rename')
    .argument('<key>', KEY_NAMES)
    .argument('<name>', 'the new name, shown in lists')
    .description('Give a key another name.')
    .action((key: string, name: string) => runner.admin(ask => renameKey(ask, { key, name })))
  addKeySecrets(keys, KEY_NAMES, runner)
  keys
    .command('disable')
    .argument('<key>', KEY_NAMES)
    .description('Refuse a key until it is enabled. Running requests and jobs are settled.')
    .action((key: string) => runner.admin(ask => switchKey(ask, { key, isDisabled: true }, Date.now())))
  keys
    .command('enable')
    .argument('<key>', KEY_NAMES)
    .description('Accept a disabled key again.')
    .action((key: string) => runner.admin(ask => switchKey(ask, { key, isDisabled: false }, Date.now())))
  keys
    .command('revoke')
    .argument('<key>', KEY_NAMES)
    .description('Revoke a key immediately and permanently.')
    .action((key: string) => runner.admin(ask => revokeKey(ask, key)))
}

/** Adds the commands of what new keys begin with. */
export function addKeyDefaults(program: Command, runner: Runner): void {
  const defaults = program
    .command('key-defaults')
    .description(
      'Show and change the limits and settings that new keys begin with. Earlier keys keep theirs.',
    )
  const ofAccount = ['--account <account>', 'only the new keys of this account, by its name or id'] as const
  defaults
    .command('show')
    .description('Show the defaults of new keys.')
    .option(...ofAccount)
    .action((of: { account?: string }) => runner.admin(ask => showKeyDefaults(ask, of)))
  needsOptions(withLimits(withRestrictions(defaults.command('set').option(...ofAccount))), ['account'])
    .description('Change the defaults of new keys, and show them. Those of an account come first.')
    .option(
      '--expires-in <time>',
      'how long after its creation a key expires, such as 12h or 90d',
      secondsOrNone,
    )
    .addHelpText(
      'after',
      `
The options replace what was there before; ${NONE} removes it.
  $ tollgate key-defaults set --account ada --rpm 60 --budget month=20 --expires-in 90d`,
    )
    .action(({ account, expiresIn, ...options }: DefaultOptions) => {
      const expires = expiresIn === undefined ? {} : { expires_in: nullOf(expiresIn) }
      return runner.admin(ask =>
        setKeyDefaults(ask, { account, fields: { ...fieldsOf(options), ...expires } }),
      )
    })
}

type List = readonly string[] | typeof NONE
type Expiry = ((nowMs: number) => string) | typeof NONE

type RestrictionOptions = LimitOptions & {
  readonly model?: List
  readonly route?: List
  readonly address?: List
}
type TermOptions = RestrictionOptions & { readonly expires?: Expiry }
type DefaultOptions = RestrictionOptions & {
  readonly account?: string
  readonly expiresIn?: number | typeof NONE
}
type CreateOptions = TermOptions & { readonly name?: string; readonly project?: string }

/** Adds the options of what a key may be used for, and until when. */
function withSettings(command: Command): Command {
  return withRestrictions(command).option(
    '--expires <time>',
    'a day such as 2027-01-31, a time, or a number of days such as 90d',
    expiryOrNone,
  )
}

/** Adds the options of what a key may be used for. */
function withRestrictions(command: Command): Command {
  return command
    .option(
      '--model <pattern>',
      "a model that it may call, such as gpt-x or 'gpt-*'; can be given several times",
      listOf('models'),
    )
    .option(
      '--route <route>',
      'chat_completions, responses, messages, embeddings, images or videos; can be given several times',
      listOf('routes'),
    )
    .option(
      '--address <range>',
      'where requests may come from, such as 10.0.0.0/8 or 2001:db8::/32; can be given several times',
      listOf('allowed_addresses'),
    )
}

function fieldsOf({ model, route, address, expires, ...limits }: TermOptions): KeyOptions {
  return {
    ...(model !== undefined && { models: nullOf(model) }),
    ...(route !== undefined && { routes: nullOf(route) }),
    ...(address !== undefined && { allowed_addresses: nullOf(address) }),
    ...(expires !== undefined && { expires_at: expires === NONE ? null : expires(Date.now()) }),
    ...bodyOf(limits),
  }
}

/** An item beside the earlier ones of the command, or `none`. */
function listOf(field: 'models' | 'routes' | 'allowed_addresses') {
  return (text: string, earlier: List = []): List => {
    if (text === NONE) return NONE
    const items = [...(earlier === NONE ? [] : earlier), text]
    const read = decodeKeySettings({ [field]: items })
    if (read.ok) return items
    throw new InvalidArgumentError(read.problems.map(({ remedy }) => sentenceOf(remedy)).join(' '))
  }
}

/** The library for commands writes the option and the wrong text before it. */
function sentenceOf(remedy: string): string {
  return `${remedy.slice(0, 1).toUpperCase()}${remedy.slice(1)}${remedy.endsWith('?') ? '' : '.'}`
}

/** Checked by the gateway, too, in seconds. */
function secondsOrNone(text: string): number | typeof NONE {
  if (text === NONE) return NONE
  const seconds = secondsOf(text)
  if (seconds !== undefined && seconds >= 1 && seconds <= EXPIRES_IN_S_MAX) return seconds
  throw new InvalidArgumentError(`Write a time from 1s to 3650d, such as 12h or 90d, or ${NONE}.`)
}

function expiryOrNone(text: string): Expiry {
  return text === NONE ? NONE : expiry(text)
}
