import { Option, type Command } from 'commander'
import { describeConfig } from '../../config/config.ts'
import { backUp, listBackups } from '../commands/operating/backup.ts'
import {
  type AuditFilters,
  doctor,
  doctorWithoutStore,
  listAudit,
  listNodes,
  reconcile,
  verify,
  type Acceptance,
} from '../commands/operating/checks.ts'
import { listJobs, listLosses, showJob, type JobFilters, type LossFilters } from '../commands/reports/jobs.ts'
import { reconcileCosts } from '../commands/reports/reconcile-costs.ts'
import type { Runner } from '../runner.ts'
import { timeOrDay, utcDay, withPages } from './arguments.ts'

/** Adds the commands that list and explain jobs. */
export function addJobs(program: Command, runner: Runner): void {
  const jobs = program.command('jobs').description('List image and video jobs, and explain one.')
  withPages(
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
      ),
  ).action((filters: JobFilters) => runner.admin(ask => listJobs(ask, filters)))
  jobs
    .command('show <id>')
    .description('Show why a job is in its state, what happens next, and what happened before.')
    .action((id: string) => runner.admin(ask => showJob(ask, id)))
}

/** Adds the commands that check the books, compare bills, and finish work. */
export function addChecks(program: Command, runner: Runner): void {
  withPages(program.command('losses'))
    .description('List the jobs and attempts that cost you money and that no customer paid for.')
    .action((filters: LossFilters) => runner.admin(ask => listLosses(ask, filters)))
  withPages(
    program
      .command('audit')
      .description('List the changes that operators and the gateway made, newest first.')
      .option('--actor <text>', 'only by users, tokens or keys with this text in their names')
      .option('--action <action>', 'only this action, such as key.create, or all about key')
      .option('--subject <text>', 'only of what has this text in its id or name')
      .option('--from <time>', 'only from this time on, such as 2026-11-01; at most 92 days', timeOrDay)
      .option('--to <time>', 'only before this time; it needs --from', timeOrDay),
  ).action((filters: AuditFilters) => runner.admin(ask => listAudit(ask, filters)))
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
    .command('nodes')
    .description('List the gateways that share the books, with their versions and open holds.')
    .action(() => runner.admin(ask => listNodes(ask)))
  program
    .command('doctor')
    .description('Check the settings, the store, the catalog, the moderator and every provider.')
    .addHelpText(
      'after',
      '\nChanges nothing and sends no request that costs money. Exits with 1 if it finds a problem.',
    )
    .action(() =>
      runner.admin((ask, admin) => doctor(ask, admin.url), {
        withoutFolder: (missing, environment) => doctorWithoutStore(missing, describeConfig(environment)),
      }),
    )
}

const RECONCILE_COSTS = `
A bill is a page of OpenAI's costs or completions usage, Anthropic's cost report or its CSV file, or OpenRouter's
activity or its CSV file. Exits with 0 if it could compare, also if amounts differ, and with 2 if a file is not a
bill.
  $ tollgate reconcile-costs openai costs.json usage.json`

/** Adds the commands that write and restore backups. */
export function addBackups(program: Command, runner: Runner): void {
  program
    .command('backup <file>')
    .description(
      'Copy the books to a new file, and the files of jobs to FILE.blobs, while the gateway serves.',
    )
    .addHelpText('after', BACKUP)
    .action((file: string) => runner.admin(ask => backUp(ask, file), { longWork: 'Writing the backup' }))
  withPages(program.command('backups'))
    .description('List the backups that were made, newest first, with the sizes that their files have now.')
    .action((page: { limit: string; cursor?: string }) => runner.admin(ask => listBackups(ask, page)))
  program
    .command('restore <file>')
    .description('Put the books of a backup into the data folder. The gateway must be stopped.')
    .option('--replace <reason>', 'replace the books that are there; the reason is for the audit log')
    .option('--without-blobs', 'restore only the books, and leave the files of jobs as they are')
    .addHelpText('after', RESTORE)
    .action((file: string, { replace, withoutBlobs = false }: { replace?: string; withoutBlobs?: boolean }) =>
      runner.restore({ file, replace, isWithoutBlobs: withoutBlobs }),
    )
}

/** Adds the command that copies the books into a database. */
export function addMigrateStore(program: Command, runner: Runner): void {
  program
    .command('migrate-store')
    .description(
      'Copy the books of the data folder into an empty PostgreSQL database. The gateway must be stopped.',
    )
    .option('--anchor <file>', 'the anchor of the books, if TOLLGATE_ANCHOR_FILE named it until now')
    .addHelpText('after', MIGRATE_STORE)
    .action(({ anchor }: { anchor?: string }) => runner.migrateStore({ anchor }))
}

const MIGRATE_STORE = `
Set TOLLGATE_DATABASE_URL, TOLLGATE_ADMIN_KEY, and TOLLGATE_SECRET_KEY to the text of secret.key. It checks the books,
copies every row with its ids and hashes, compares all rows and checks the copy. The data folder stays as it is. If the
command is stopped, repeat it: it goes on. Records of requests and files of jobs are not copied.
  $ TOLLGATE_SECRET_KEY="$(cat data/secret.key)" tollgate migrate-store`

const BACKUP = `
The backup does not have secret.key, which encrypts the provider keys. Keep a copy of it in another place.
  $ tollgate backup /var/backups/tollgate/monday.db`

const RESTORE = `
Checks the backup first. Replaced books are kept in a folder in the data folder. If the restore is interrupted, either
the old books are still in place, or the next start asks you to run the command again to finish it.
  $ tollgate restore /var/backups/tollgate/monday.db --replace "the disk failed"`
