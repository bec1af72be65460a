import { InvalidArgumentError, Option, type Command } from 'commander'
import { timeOrDay, withPages } from './arguments.ts'
import { listRequests, showRequest, type RequestFilters } from '../commands/reports/requests.ts'
import { reportGroups, showRequestsReport, type ReportOptions } from '../commands/reports/requests-report.ts'
import type { Runner } from '../runner.ts'

/** Adds the commands that explain requests. */
export function addRequests(program: Command, runner: Runner): void {
  const requests = program
    .command('requests')
    .description('List billable requests, refused ones included, and explain one.')
  withPages(
    requests
      .command('list')
      .description('List requests, newest first. Records are kept for some days.')
      .option('--failed', 'only requests with an error')
      .option('--status <status>', 'only requests with this status of the reply, such as 429')
      .option('--account <account>', 'only of this account, by its name or id')
      .option('--key <key>', 'only of this key, by its id, its first 12 characters or the key itself')
      .option('--project <id>', 'only of the keys of this project, by its id')
      .option('--model <model>', 'only for this model')
      .option('--code <code>', 'only with this error code, such as insufficient_balance')
      .option('--tag <name=value>', 'only with this tag, such as team=search', tagOf)
      .option('--user <id>', 'only for this end user of a client')
      .option(
        '--from <time>',
        'only from this time on, such as 2026-11-01 or 2026-11-01T12:00:00Z',
        timeOrDay,
      )
      .option('--to <time>', 'only before this time; it needs --from', timeOrDay)
      .addOption(
        new Option('--sort <sort>', 'the most expensive or the longest requests first').choices([
          'cost',
          'duration',
        ]),
      ),
  )
    .addHelpText('after', '\n  $ tollgate requests list --failed --account ada --from 2026-11-01')
    .action((filters: RequestFilters) => runner.admin(ask => listRequests(ask, filters)))
  requests
    .command('report')
    .description(
      'Show requests, errors and latency. Without --from, of the current month, or of the last 24 hours by hour.',
    )
    .addOption(
      new Option('--by <what>', 'what the sums are grouped by').choices([...reportGroups]).default('day'),
    )
    .option('--from <time>', 'the first day or hour in UTC; at most 92 days', timeOrDay)
    .option('--to <time>', 'the day or hour after the last one', timeOrDay)
    .option('--csv', 'print CSV')
    .action((options: ReportOptions) => runner.admin(ask => showRequestsReport(ask, options)))
  requests
    .command('show')
    .argument(
      '<id>',
      'the id of a request (req_…), a job (img_…, vid_…), a hold (hold_…) or a line of the statement (op_…)',
    )
    .description('Show why a request was charged or refused: reply, hold, charge, attempts and job.')
    .action((id: string) => runner.admin(ask => showRequest(ask, id)))
}

function tagOf(text: string): string {
  if (/^[^=]+=./.test(text)) return text
  throw new InvalidArgumentError('Write a name and a value, such as team=search.')
}
