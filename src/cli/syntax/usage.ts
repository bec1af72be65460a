import { Option, type Command } from 'commander'
import { timeOrDay, withPages } from './arguments.ts'
import { marginGroups, showMargins, type MarginOptions } from '../commands/reports/margins.ts'
import { listUsage, listUsageGroups, usageCsv, usageGroupsCsv } from '../commands/reports/usage.ts'
import type { Runner } from '../runner.ts'

/** Adds the commands that list and add up charges, and what they cost the operator. */
export function addUsage(program: Command, runner: Runner): void {
  addCharges(program, runner)
  addMargins(program, runner)
}

type UsageOptions = {
  readonly account?: string
  readonly from?: string
  readonly to?: string
  readonly limit: string
  readonly cursor?: string
  readonly csv?: true
  readonly by?: string
  readonly tag?: string
  readonly user?: string
  readonly project?: string
}

function addCharges(program: Command, runner: Runner): void {
  withPages(
    program
      .command('usage')
      .description('List charged requests and jobs, and their refunds, newest first.')
      .option('--account <account>', 'only of this account, by its name or id; with --from, also its totals')
      .option(
        '--from <time>',
        'only from this time on, such as 2026-11-01 or 2026-11-01T12:00:00Z; at most 92 days',
        timeOrDay,
      )
      .option('--to <time>', 'only before this time', timeOrDay)
      .option(
        '--by <group>',
        'the sums of each value of a tag, or of each user: tag:team or user; with --account and --from',
      )
      .option('--tag <tags>', 'only requests with these tags, such as team=red or team=red,feature=search')
      .option('--user <user>', 'only requests of this end user')
      .option(
        '--project <project>',
        'only requests with keys of this project, by its id (proj_…); with --account',
      )
      .option('--csv', 'print all rows as CSV'),
  )
    .addHelpText(
      'after',
      `
  $ tollgate usage --csv --from 2026-11-01 --to 2026-12-01 > november.csv
  $ tollgate usage --account ada --from 2026-11-01 --to 2026-12-01 --by tag:team`,
    )
    .action(({ csv, by, limit, cursor, ...filters }: UsageOptions) =>
      runner.admin(ask => {
        const page = { limit, ...(cursor === undefined ? {} : { cursor }) }
        if (by === undefined)
          return csv === true ? usageCsv(ask, filters) : listUsage(ask, { ...filters, ...page })
        const grouped = { ...filters, group_by: by }
        return csv === true ? usageGroupsCsv(ask, grouped) : listUsageGroups(ask, { ...grouped, ...page })
      }),
    )
}

function addMargins(program: Command, runner: Runner): void {
  program
    .command('margins')
    .description(
      'Show what customers paid and what it cost you. Without --from, of the current month in UTC.',
    )
    .addOption(
      new Option('--by <what>', 'what the sums are grouped by').choices([...marginGroups]).default('model'),
    )
    .option('--account <account>', 'only of this account, by its name or id')
    .option('--from <day>', 'the first day, such as 2026-11-01; at most 92 days', timeOrDay)
    .option('--to <day>', 'the day after the last one', timeOrDay)
    .option('--csv', 'print CSV')
    .action((options: MarginOptions) => runner.admin(ask => showMargins(ask, options)))
}
