import { Option, type Command } from 'commander'
import { balance } from '../commands/accounts/accounts.ts'
import { grant, refund, statement, type StatementOptions } from '../commands/accounts/money.ts'
import type { Runner } from '../runner.ts'
import { amount, idempotencyKey, timeOrDay, withPages } from './arguments.ts'

/** Adds the commands that move money, and those that show it. */
export function addMoney(program: Command, runner: Runner): void {
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
  withPages(
    program
      .command('statement <account>')
      .description('List the money movements of an account, newest first.')
      .option('--kind <kinds>', 'only of this kind, such as grant, or of several: grant,top_up')
      .option(
        '--from <time>',
        'only from this time on, such as 2026-11-01 or 2026-11-01T12:00:00Z',
        timeOrDay,
      )
      .option('--to <time>', 'only before this time', timeOrDay),
  )
    .addHelpText('after', '\n  $ tollgate statement ada --kind grant,top_up --from 2026-11-01')
    .action((account: string, options: StatementOptions) =>
      runner.admin(ask => statement(ask, { account, ...options })),
    )
}

/** The default of `--idempotency-key`. */
export const KEY_MADE = 'by default, a new one is made and printed'

/** The options of a command that moves money. */
export type MovingOptions = { readonly note?: string; readonly idempotencyKey?: string }

/** The idempotency key of the command. */
export function keyOf(
  { idempotencyKey }: MovingOptions,
  runner: Runner,
): { readonly idempotencyKey: string } {
  return { idempotencyKey: runner.idempotencyKey(idempotencyKey) }
}

/** The meaning of `--yes`. */
export const CONFIRMS = 'do not ask before a credit of more than TOLLGATE_GRANT_CONFIRM_USD'
