import { Option, type Command } from 'commander'
import { withPages } from './arguments.ts'
import { setContacts } from '../commands/accounts/accounts.ts'
import { listMails, showMail, testMail, type MailFilters } from '../commands/operating/mail.ts'
import type { Runner } from '../runner.ts'

/** Adds the command for the contacts of an account to `accounts`. */
export function addContacts(accounts: Command, runner: Runner): void {
  accounts
    .command('contacts')
    .argument('<account>', 'its name or id')
    .argument('<address...>', 'all e-mail addresses that get mails about the account, or none')
    .description('Set who gets mails about an account. The earlier contacts are replaced.')
    .action((account: string, addresses: readonly string[]) => {
      const contacts = addresses.join() === 'none' ? [] : addresses
      return runner.admin(ask => setContacts(ask, { account, contacts }))
    })
}

/** Adds the commands of mails. */
export function addMail(program: Command, runner: Runner): void {
  const mail = program.command('mail').description('Test the mails about events, and list them.')
  mail
    .command('show')
    .description('Show the mail server, and how many mails wait or were left out.')
    .action(() => runner.admin(ask => showMail(ask)))
  withPages(
    mail
      .command('list')
      .description('List the mails of 30 days and their outcomes, newest first.')
      .addOption(
        new Option('--state <state>', 'only mails in this state').choices(['waiting', 'sent', 'failed']),
      ),
  ).action((filters: MailFilters) => runner.admin(ask => listMails(ask, filters)))
  mail
    .command('test')
    .argument('[address]', 'by default, each address of TOLLGATE_ALERT_EMAILS')
    .description('Send a test mail now, and print what the mail server said.')
    .action((address: string | undefined) => runner.admin(ask => testMail(ask, address)))
}
