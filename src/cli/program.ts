import { Command, Help } from 'commander'
import { describeConfig } from '../config/config.ts'
import type { Runner } from './runner.ts'
import { addAccounts } from './syntax/accounts.ts'
import { addAdminTokens } from './syntax/admin-tokens.ts'
import { addUsers } from './syntax/users.ts'
import { timeLimit } from './syntax/arguments.ts'
import { addCatalog } from './syntax/catalog.ts'
import { addKeyDefaults, addKeys } from './syntax/keys.ts'
import { addMail } from './syntax/mail.ts'
import { addMoney } from './syntax/money.ts'
import { addBackups, addChecks, addJobs, addMigrateStore } from './syntax/operating.ts'
import { addPrices } from './syntax/prices.ts'
import { addProjects } from './syntax/projects.ts'
import { addRequests } from './syntax/requests.ts'
import { addUsage } from './syntax/usage.ts'
import { addWebhooks } from './syntax/webhooks.ts'

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
  addUsers(program, runner)
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
  addMigrateStore(program, runner)
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

/** Each setting with its default, below the title of its section. Its meaning is on the next lines. */
function settingsHelp(): string {
  const help = new Help()
  const sections = Map.groupBy(describeConfig({}), ({ section }) => section)
  return [...sections]
    .map(([title, settings]) => {
      const entries = settings.map(({ name, default: standard, meaning }) => {
        const shown = standard === null ? '' : ` (${standard})`
        const lines = help.boxWrap(meaning.replaceAll('`', ''), SETTING_WIDTH).split('\n')
        return [`  ${name}${shown}`, ...lines.map(line => `      ${line}`)].join('\n')
      })
      return [`${title}:`, ...entries].join('\n')
    })
    .join('\n\n')
}
