import { Argument, type Command } from 'commander'
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
} from '../commands/accounts/accounts.ts'
import { debit } from '../commands/accounts/money.ts'
import type { Runner } from '../runner.ts'
import { amount, idempotencyKey } from './arguments.ts'
import { addSet } from './limits.ts'
import { addContacts } from './mail.ts'
import { CONFIRMS, KEY_MADE, keyOf, type MovingOptions } from './money.ts'

/** Adds the commands of accounts. */
export function addAccounts(program: Command, runner: Runner): void {
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
