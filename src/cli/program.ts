import { Command, Help, InvalidArgumentError, Option } from 'commander'
import { describeConfig } from '../config/config.ts'
import { parseUsd } from '../domain/money.ts'
import type { Ask } from './ask.ts'
import { createAccount, listAccounts } from './commands/accounts.ts'
import { exportCatalog, importCatalog, listModels, switchModel } from './commands/catalog.ts'
import { doctor, reconcile, verify } from './commands/checks.ts'
import { createKey, listKeys, revokeKey } from './commands/keys.ts'
import { balance, grant, statement } from './commands/money.ts'
import type { Admin } from './connect.ts'
import type { Outcome } from './outcome.ts'

/** What the actions of the commands are run by. */
export type Runner = {
  /** Runs a command that asks the admin API. `mayCreate`: makes the data folder where there is none. */
  admin(
    work: (ask: Ask, admin: Admin, isJson: boolean) => Promise<Outcome>,
    options?: { readonly mayCreate?: boolean },
  ): Promise<void>
  serve(): Promise<void>
}

const ABOUT = `A pay-per-request AI gateway: many providers behind one address, prepaid balances, exact costs.

Commands work on the data folder (TOLLGATE_DATA_DIR, or else ./data): through the server that runs on it, or by opening it where none runs.`

const EPILOGUE = `
First steps:
  $ tollgate serve                             serve on http://127.0.0.1:8787, with a sandbox to try
  $ tollgate catalog import catalog.yaml       put your own providers and models in
  $ tollgate accounts create ada --grant 25    an account with 25 dollars
  $ tollgate keys create ada                   print a key for it, once

Output: text for people, or with --json one JSON document on standard output, errors included.
Exit codes: 0 done; 1 refused, failed, or something was found wrong; 2 wrong arguments or settings.
Settings come from the environment: see "tollgate serve --help".`

/** The command line: every command with its help. Its actions do nothing but call the runner. */
export function buildProgram(runner: Runner, version: string): Command {
  const program = new Command('tollgate')
    .description(ABOUT)
    .version(version)
    .option('--json', 'print one JSON document instead of text')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', EPILOGUE)
  addServe(program, runner)
  addAccounts(program, runner)
  addKeys(program, runner)
  addMoney(program, runner)
  addCatalog(program, runner)
  addChecks(program, runner)
  return program
}

function addServe(program: Command, runner: Runner): void {
  program
    .command('serve')
    .description('Run the gateway until SIGTERM or SIGINT, which let running requests end.')
    .addHelpText('after', () => `\n${SERVE_OUTPUT}\n\nSettings, from the environment:\n\n${settingsHelp()}`)
    .action(() => runner.serve())
}

const SERVE_OUTPUT = `Where it listens, and keys that a first start makes, go to standard error; the log,
JSON lines, goes to standard output.`

const SETTING_WIDTH = 74

/** Each setting with its default, and its meaning on the next lines. */
function settingsHelp(): string {
  const help = new Help()
  return describeConfig({})
    .map(({ name, default: standard, meaning }) => {
      const shown = standard === null ? '' : ` (${standard})`
      const lines = help.boxWrap(meaning.replaceAll('`', ''), SETTING_WIDTH).split('\n')
      return [`  ${name}${shown}`, ...lines.map(line => `      ${line}`)].join('\n')
    })
    .join('\n')
}

function addAccounts(program: Command, runner: Runner): void {
  const accounts = program.command('accounts').description('Make and list the accounts of customers.')
  accounts
    .command('create <name>')
    .description(
      'Make an account. Its name is unique; wherever an account is asked for, its id does as well.',
    )
    .option('--grant <usd>', 'credit it with this many dollars', amount)
    .addHelpText('after', '\nPrints the new id.\n  $ tollgate accounts create ada --grant 12.50')
    .action((name: string, options: { grant?: string }) =>
      runner.admin(ask => createAccount(ask, { name, grantUsd: options.grant }), { mayCreate: true }),
    )
  accounts
    .command('list')
    .description('List all accounts with their balances.')
    .action(() => runner.admin(ask => listAccounts(ask)))
}

function addKeys(program: Command, runner: Runner): void {
  const keys = program.command('keys').description('Make, list and revoke the API keys of an account.')
  keys
    .command('create <account>')
    .description('Make a key and print it, for the only time.')
    .option('--name <name>', 'what the key is for, shown in lists')
    .addHelpText('after', '\nOnly the key goes to standard output:\n  $ KEY=$(tollgate keys create ada)')
    .action((account: string, { name }: { name?: string }) =>
      runner.admin(ask => createKey(ask, { account, name })),
    )
  keys
    .command('list <account>')
    .description('List the keys of an account by their first 12 characters, revoked ones too.')
    .action((account: string) => runner.admin(ask => listKeys(ask, account)))
  keys
    .command('revoke <key-id>')
    .description('Revoke a key at once and for ever. Its id (key_…) is in "tollgate keys list".')
    .action((keyId: string) => runner.admin(ask => revokeKey(ask, keyId)))
}

function addMoney(program: Command, runner: Runner): void {
  type GrantOptions = { note?: string; source: string; idempotencyKey?: string }
  program
    .command('grant')
    .argument('<account>', 'its id or name')
    .argument('<usd>', 'dollars, exact to nine decimals', amount)
    .description('Credit an account with dollars.')
    .option('--note <text>', 'why, for the statement')
    .addOption(
      new Option('--source <source>', 'a gift of the house, or money that was paid in')
        .choices(['grant', 'top_up'])
        .default('grant'),
    )
    .option('--idempotency-key <key>', 'credits once, however often the command is repeated with this key')
    .addHelpText('after', '\n  $ tollgate grant ada 25 --source top_up --note "invoice 17"')
    .action((account: string, amountUsd: string, { note, source, idempotencyKey }: GrantOptions) =>
      runner.admin(ask => grant(ask, { account, amountUsd, note, source, idempotencyKey })),
    )
  program
    .command('balance <account>')
    .description('Print what an account has available, and what is held for running requests.')
    .action((account: string) => runner.admin(ask => balance(ask, account)))
  program
    .command('statement <account>')
    .description("List the movements of an account's money, newest first.")
    .option('--limit <count>', 'how many, up to 500', '50')
    .option('--cursor <cursor>', 'go on where the page before ended')
    .action((account: string, options: { limit: string; cursor?: string }) =>
      runner.admin(ask => statement(ask, { account, ...options })),
    )
}

function addCatalog(program: Command, runner: Runner): void {
  const catalog = program.command('catalog').description('Move the whole catalog in or out as a YAML file.')
  catalog
    .command('import <file>')
    .description(
      'Replace the catalog by a file ("-": standard input), all or nothing. Repeating it changes nothing.',
    )
    .addHelpText('after', '\nA wrong file changes nothing; each problem is named by line, field and remedy.')
    .action((file: string) => runner.admin(ask => importCatalog(ask, file), { mayCreate: true }))
  catalog
    .command('export [file]')
    .description('Write the catalog to a file, or to standard output. Secrets are left out.')
    .action((file = '-') => runner.admin((_, admin, isJson) => exportCatalog(admin, { file, isJson })))

  const models = program.command('models').description('List models, and switch them on and off.')
  models
    .command('list')
    .description('List all models of the catalog.')
    .action(() => runner.admin(ask => listModels(ask)))
  for (const word of ['on', 'off'] as const) {
    const effect = word === 'on' ? 'Serve a model from now on.' : 'Refuse requests for a model from now on.'
    models
      .command(`${word} <id>`)
      .description(effect)
      .action((id: string) => runner.admin(ask => switchModel(ask, { id, enabled: word === 'on' })))
  }
}

function addChecks(program: Command, runner: Runner): void {
  program
    .command('verify')
    .description('Check every entry of the books against every invariant.')
    .addHelpText('after', '\nExits 1 and names the first wrong entry when the books do not balance.')
    .action(() => runner.admin(ask => verify(ask)))
  program
    .command('reconcile')
    .description(
      'Settle what was left open, as a running server does by itself every few minutes: one pass, now.',
    )
    .addHelpText('after', '\nSafe to repeat. Exits 1 when something could not be settled.')
    .action(() => runner.admin(ask => reconcile(ask)))
  program
    .command('doctor')
    .description(
      'Look at the settings, the store, the catalog and whether the moderator and each provider answer.',
    )
    .addHelpText('after', '\nChanges nothing and sends nothing that costs. Exits 1 when something is wrong.')
    .action(() => runner.admin((ask, admin) => doctor(ask, admin.url)))
}

/** Refused before anything is sent, so that `accounts create --grant` never does half of its work. */
function amount(text: string): string {
  const parsed = parseUsd(text)
  if (parsed === undefined || parsed <= 0n) {
    throw new InvalidArgumentError(
      'It must be an amount of dollars above zero with at most nine decimals, such as 12.5.',
    )
  }
  return text
}
