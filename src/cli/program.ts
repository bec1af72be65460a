import { Argument, Command, Help, Option } from 'commander'
import { describeConfig } from '../config/config.ts'
import { addAdminTokens } from './admin-tokens-program.ts'
import { amount, idempotencyKey, rowCount, timeLimit, utcDay } from './arguments.ts'
import type { Ask } from './ask.ts'
import { addCatalog } from './catalog-program.ts'
import { backUp, type RestoreOptions } from './commands/backup.ts'
import {
  alertAccount,
  closeAccount,
  createAccount,
  listAccounts,
  renameAccount,
  showAccount,
  switchAccount,
  switchJobEvents,
  switchReplays,
} from './commands/accounts.ts'
import { doctor, listAudit, reconcile, verify, type Acceptance } from './commands/checks.ts'
import { listJobs, listLosses, showJob, type JobFilters, type LossFilters } from './commands/jobs.ts'
import { balance, debit, grant, refund, statement } from './commands/money.ts'
import { reconcileCosts } from './commands/reconcile-costs.ts'
import type { Admin } from './connect.ts'
import { addKeyDefaults, addKeys } from './keys-program.ts'
import { addSet } from './limits-program.ts'
import { addContacts, addMail } from './mail-program.ts'
import { addPrices } from './prices-program.ts'
import { addProjects } from './projects-program.ts'
import type { Outcome } from './outcome.ts'
import { addRequests } from './requests-program.ts'
import { addUsage } from './usage-program.ts'
import { addWebhooks } from './webhooks-program.ts'

/** Runs the actions of the commands. */
export type Runner = {
  /**
   * Runs a command that calls the admin API. `mayCreate` creates the data folder if it does not exist. `longWork` is
   * the work of a command that can take minutes: its time is reported.
   */
  admin(
    work: (ask: Ask, admin: Admin, isJson: boolean) => Promise<Outcome>,
    options?: { readonly mayCreate?: boolean; readonly longWork?: string },
  ): Promise<void>
  /** Asks before a large credit. Throws a `CliError` unless it is small, `isConfirmed`, or the operator says yes. */
  confirmCredit(amountUsd: string, isConfirmed: boolean): Promise<void>
  /** The idempotency key of a command that moves money: the given one, or a new one that it prints. */
  idempotencyKey(given: string | undefined): string
  /** Restores a backup into the data folder, which no server may use. */
  restore(options: RestoreOptions): Promise<void>
  serve(): Promise<void>
}

const ABOUT = `A pay-per-request gateway for AI models, with prepaid balances and exact costs.

Commands work on the data folder (TOLLGATE_DATA_DIR, default ./data). If a server runs on it, they use its admin API. Otherwise they open the folder.`

const EPILOGUE = `
First steps:
  $ tollgate serve                             run on http://127.0.0.1:8787, with a sandbox
  $ tollgate catalog import catalog.yaml       add your own providers and models
  $ tollgate accounts create ada --grant 25    create an account with 25 USD
  $ tollgate keys create ada                   create an API key and print it, once

Output: text, or with --json one JSON document on standard output, including errors.
Exit codes: 0 success; 1 refused, failed, or a problem found; 2 wrong arguments or settings.
Settings are environment variables; see "tollgate serve --help".`

/** Builds the command line with its help. The actions only call the runner. */
export function buildProgram(runner: Runner, version: string): Command {
  const program = new Command('tollgate')
    .description(ABOUT)
    .version(version)
    .option('--json', 'print one JSON document instead of text')
    .option(
      '--timeout <seconds>',
      'the longest wait for an answer of a running server; by default 60, and a day for long work',
      timeLimit,
    )
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', EPILOGUE)
  addServe(program, runner)
  addAccounts(program, runner)
  addProjects(program, runner)
  addKeys(program, runner)
  addKeyDefaults(program, runner)
  addAdminTokens(program, runner)
  addMoney(program, runner)
  addUsage(program, runner)
  addCatalog(program, runner)
  addPrices(program, runner)
  addRequests(program, runner)
  addJobs(program, runner)
  addWebhooks(program, runner)
  addMail(program, runner)
  addChecks(program, runner)
  addBackups(program, runner)
  return program
}

function addServe(program: Command, runner: Runner): void {
  program
    .command('serve')
    .description('Run the gateway. SIGTERM or SIGINT stops it after the running requests end.')
    .addHelpText(
      'after',
      () =>
        `\n${SERVE_OUTPUT}\n\nSettings (environment variables, with their defaults):\n\n${settingsHelp()}`,
    )
    .action(() => runner.serve())
}

const SERVE_OUTPUT = `The address, and the keys that a first start creates, go to standard error. The log
goes to standard output, as JSON lines.`

const SETTING_WIDTH = 74

/** Each setting with its default. Its meaning is on the next lines. */
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

const KEY_MADE = 'by default, a new one is made and printed'

/** The options of a command that moves money. */
type MovingOptions = { readonly note?: string; readonly idempotencyKey?: string }

function keyOf({ idempotencyKey }: MovingOptions, runner: Runner): { readonly idempotencyKey: string } {
  return { idempotencyKey: runner.idempotencyKey(idempotencyKey) }
}

const CONFIRMS = 'do not ask before a credit of more than TOLLGATE_GRANT_CONFIRM_USD'

function addAccounts(program: Command, runner: Runner): void {
  const accounts = program
    .command('accounts')
    .description('Create, list, show, rename, correct, suspend and close accounts.')
  accounts
    .command('create <name>')
    .description(
      'Create an account. Names are unique. Commands that take an account accept its name or its id.',
    )
    .option('--grant <usd>', 'credit the account with this amount in dollars', amount)
    .option('--yes', CONFIRMS)
    .addHelpText('after', '\nPrints the id of the account.\n  $ tollgate accounts create ada --grant 12.50')
    .action(async (name: string, { grant: grantUsd, yes = false }: { grant?: string; yes?: boolean }) => {
      if (grantUsd !== undefined) await runner.confirmCredit(grantUsd, yes)
      const creditOf = (amountUsd: string) => ({
        amountUsd,
        idempotencyKey: runner.idempotencyKey(undefined),
      })
      await runner.admin(
        ask => createAccount(ask, { name, credit: grantUsd === undefined ? undefined : creditOf(grantUsd) }),
        { mayCreate: true },
      )
    })
  accounts
    .command('list')
    .description('List all accounts with their balances.')
    .action(() => runner.admin(ask => listAccounts(ask)))
  accounts
    .command('show <account>')
    .description('Show the balance, the state and the switches of an account.')
    .action((account: string) => runner.admin(ask => showAccount(ask, account)))
  accounts
    .command('debit')
    .argument('<account>', 'its name or id')
    .argument('<usd>', 'the amount in dollars, with at most nine decimals', amount)
    .description('Take money from an account, such as a credit that was given by mistake.')
    .option('--allow-negative', 'even if the balance becomes negative')
    .option('--note <text>', 'the reason, shown in the statement')
    .option(
      '--idempotency-key <key>',
      `repeating the command with this key takes the money only once; ${KEY_MADE}`,
      idempotencyKey,
    )
    .action((account: string, amountUsd: string, options: MovingOptions & { allowNegative?: boolean }) =>
      runner.admin(ask => debit(ask, { account, amountUsd, ...options, ...keyOf(options, runner) })),
    )
  accounts
    .command('rename <account> <name>')
    .description('Give an account another name. Its id, keys, money and limits stay.')
    .action((account: string, name: string) => runner.admin(ask => renameAccount(ask, { account, name })))
  accounts
    .command('close <account>')
    .description('Close an account for good. It must have no money and no running work; its books stay.')
    .action((account: string) => runner.admin(ask => closeAccount(ask, account)))
  addSet(accounts, { kind: 'accounts', argument: 'account', words: 'its name or id' }, runner)
  addAccountSwitches(accounts, runner)
}

function addAccountSwitches(accounts: Command, runner: Runner): void {
  accounts
    .command('alert <account>')
    .description('Tell webhooks when the balance of an account falls below an amount; off for never.')
    .argument('<usd>', 'an amount in dollars such as 5, or off', text =>
      text === 'off' ? text : amount(text),
    )
    .action((account: string, below: string) =>
      runner.admin(ask => alertAccount(ask, { account, belowUsd: below === 'off' ? null : below })),
    )
  addContacts(accounts, runner)
  accounts
    .command('suspend <account>')
    .description('Refuse the keys of an account from the next request on. Running requests are settled.')
    .action((account: string) => runner.admin(ask => switchAccount(ask, { account, to: 'suspend' })))
  accounts
    .command('resume <account>')
    .description('Accept the keys of a suspended account again.')
    .action((account: string) => runner.admin(ask => switchAccount(ask, { account, to: 'resume' })))
  accounts
    .command('replays <account>')
    .description('Switch replays on or off: whether identical requests of an account share one answer.')
    .addArgument(new Argument('<state>', 'on or off').choices(['on', 'off']))
    .action((account: string, state: string) =>
      runner.admin(ask => switchReplays(ask, { account, isOn: state === 'on' })),
    )
  accounts
    .command('job-events <account>')
    .description('Tell webhooks of each image or video job of an account that ends, or not.')
    .addArgument(new Argument('<state>', 'on or off').choices(['on', 'off']))
    .action((account: string, state: string) =>
      runner.admin(ask => switchJobEvents(ask, { account, isOn: state === 'on' })),
    )
}

function addMoney(program: Command, runner: Runner): void {
  type GrantOptions = MovingOptions & { source: string; yes?: boolean }
  program
    .command('grant')
    .argument('<account>', 'its name or id')
    .argument('<usd>', 'the amount in dollars, with at most nine decimals', amount)
    .description('Credit an account.')
    .option('--note <text>', 'the reason, shown in the statement')
    .addOption(
      new Option('--source <source>', 'a gift, or money that the customer paid')
        .choices(['grant', 'top_up'])
        .default('grant'),
    )
    .option(
      '--idempotency-key <key>',
      `repeating the command with this key credits only once; ${KEY_MADE}`,
      idempotencyKey,
    )
    .option('--yes', CONFIRMS)
    .addHelpText('after', '\n  $ tollgate grant ada 25 --source top_up --note "invoice 17"')
    .action(async (account: string, amountUsd: string, options: GrantOptions) => {
      const { yes = false, ...terms } = options
      await runner.confirmCredit(amountUsd, yes)
      await runner.admin(ask => grant(ask, { account, amountUsd, ...terms, ...keyOf(options, runner) }))
    })
  program
    .command('refund <charge>')
    .description(
      'Give back a charge, or a part of it. Its id is that of the request (req_…) or of the job (img_…, vid_…).',
    )
    .option('--amount <usd>', 'a part of the cost, in dollars; without it, the whole cost', amount)
    .option('--note <text>', 'the reason, shown in the statement')
    .option(
      '--idempotency-key <key>',
      `repeating the command with this key gives back only once; ${KEY_MADE}`,
      idempotencyKey,
    )
    .action((charge: string, options: MovingOptions & { amount?: string }) =>
      runner.admin(ask => refund(ask, { charge, ...options, ...keyOf(options, runner) })),
    )
  program
    .command('balance <account>')
    .description('Print the available amount of an account, and the amount held for running requests.')
    .action((account: string) => runner.admin(ask => balance(ask, account)))
  withPages(program.command('statement <account>'))
    .description('List the money movements of an account, newest first.')
    .action((account: string, options: { limit: string; cursor?: string }) =>
      runner.admin(ask => statement(ask, { account, ...options })),
    )
}

function addJobs(program: Command, runner: Runner): void {
  const jobs = program.command('jobs').description('List image and video jobs, and explain one.')
  jobs
    .command('list')
    .description('List jobs, newest first. An amount in parentheses is reserved and not charged yet.')
    .option('--account <account>', 'only jobs of this account, by its name or id')
    .addOption(new Option('--kind <kind>', 'only jobs of this kind').choices(['image', 'video']))
    .addOption(
      new Option('--state <state>', 'only jobs in this state').choices([
        'queued',
        'processing',
        'unknown_submit',
        'completed',
        'failed',
      ]),
    )
    .option('--limit <count>', 'the number of rows, up to 500', rowCount, '50')
    .option('--cursor <cursor>', 'continue after the previous page')
    .action((filters: JobFilters) => runner.admin(ask => listJobs(ask, filters)))
  jobs
    .command('show <id>')
    .description('Show why a job is in its state, what happens next, and what happened before.')
    .action((id: string) => runner.admin(ask => showJob(ask, id)))
}

function withPages(command: Command): Command {
  return command
    .option('--limit <count>', 'the number of rows, up to 500', rowCount, '50')
    .option('--cursor <cursor>', 'continue after the previous page')
}

const RECONCILE_COSTS = `
A bill is a page of OpenAI's costs or completions usage, Anthropic's cost report or its CSV file, or OpenRouter's
activity or its CSV file. Exits with 0 if it could compare, also if amounts differ, and with 2 if a file is not a
bill.
  $ tollgate reconcile-costs openai costs.json usage.json`

function addChecks(program: Command, runner: Runner): void {
  withPages(program.command('losses'))
    .description('List the jobs and attempts that cost you money and that no customer paid for.')
    .action((filters: LossFilters) => runner.admin(ask => listLosses(ask, filters)))
  withPages(program.command('audit'))
    .description('List the changes that operators and the gateway made, newest first.')
    .action((page: { limit: string; cursor?: string }) => runner.admin(ask => listAudit(ask, page)))
  program
    .command('verify')
    .description('Check every entry of the ledger, and compare the ledger with its anchor.')
    .option('--accept <id>', 'accept paid requests again despite this problem; needs --reason')
    .option('--reason <text>', 'why the problem is accepted, for the audit log')
    .option('--accept-loss <reason>', 'accept paid requests again although the database lost commits')
    .addHelpText('after', '\nIf an entry is wrong, it exits with 1 and names the first wrong entry.')
    .action((options: Acceptance) =>
      runner.admin(ask => verify(ask, options), { longWork: 'Checking the books' }),
    )
  program
    .command('reconcile')
    .description(
      'Settle late answers, expired holds and unfinished jobs. A running server does this every few minutes.',
    )
    .addHelpText('after', '\nSafe to repeat. Exits with 1 if something could not be settled.')
    .action(() => runner.admin(ask => reconcile(ask), { longWork: 'Reconciling' }))
  program
    .command('reconcile-costs')
    .argument('<provider>', 'the id of a provider in the catalog')
    .argument('<file...>', 'files of the bill; "-" is standard input')
    .description('Compare charges and costs with a bill of a provider, the largest difference first.')
    .option('--from <day>', 'only from this day in UTC on; by default, the first day of the bill', utcDay)
    .option('--to <day>', 'only before this day; by default, until the last day of the bill', utcDay)
    .addHelpText('after', RECONCILE_COSTS)
    .action((provider: string, files: readonly string[], days: { from?: string; to?: string }) =>
      runner.admin(ask => reconcileCosts(ask, { provider, files, ...days })),
    )
  program
    .command('doctor')
    .description('Check the settings, the store, the catalog, the moderator and every provider.')
    .addHelpText(
      'after',
      '\nChanges nothing and sends no request that costs money. Exits with 1 if it finds a problem.',
    )
    .action(() => runner.admin((ask, admin) => doctor(ask, admin.url)))
}

function addBackups(program: Command, runner: Runner): void {
  program
    .command('backup <file>')
    .description(
      'Copy the books to a new file, and the files of jobs to FILE.blobs, while the gateway serves.',
    )
    .addHelpText(
      'after',
      '\nThe backup does not have secret.key, which encrypts the provider keys. Keep a copy of it in another place.\n  $ tollgate backup /var/backups/tollgate/monday.db',
    )
    .action((file: string) => runner.admin(ask => backUp(ask, file), { longWork: 'Writing the backup' }))
  program
    .command('restore <file>')
    .description('Put the books of a backup into the data folder. The gateway must be stopped.')
    .option('--replace <reason>', 'replace the books that are there; the reason is for the audit log')
    .option('--without-blobs', 'restore only the books, and leave the files of jobs as they are')
    .addHelpText(
      'after',
      '\nChecks the backup first. Replaced books are kept in a folder in the data folder. If the restore is interrupted, either\nthe old books are still in place, or the next start asks you to run the command again to finish it.\n  $ tollgate restore /var/backups/tollgate/monday.db --replace "the disk failed"',
    )
    .action((file: string, { replace, withoutBlobs = false }: { replace?: string; withoutBlobs?: boolean }) =>
      runner.restore({ file, replace, isWithoutBlobs: withoutBlobs }),
    )
}
