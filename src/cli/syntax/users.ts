import { InvalidArgumentError, Option, type Command } from 'commander'
import { roles, type Role } from '../../domain/admin/user.ts'
import {
  changeUser,
  inviteUser,
  listUsers,
  listUserSessions,
  makeUserLink,
  showUser,
  signUserOut,
  type UserChanges,
} from '../commands/operating/users.ts'
import type { Runner } from '../runner.ts'
import { amount } from './arguments.ts'

type InviteOptions = { readonly role: Role; readonly name?: string; readonly grantsPerDay?: string }

/** Adds the commands of the users of the console. */
export function addUsers(program: Command, runner: Runner): void {
  const users = program
    .command('users')
    .description('Invite, list, change and sign out the users of the console.')
  users
    .command('invite <email>')
    .description('Invite a user, and print the link with which the user sets a password.')
    .requiredOption('--role <role>', `one of ${roles.join(', ')}`, roleOf)
    .option('--name <name>', 'the name that lists show')
    .option(
      '--grants-per-day <usd>',
      'for support: the most that grants of a day in UTC may add up to',
      amount,
    )
    .action((email: string, options: InviteOptions) =>
      runner.admin(ask => inviteUser(ask, { email, ...options })),
    )
  users
    .command('list')
    .description('List all users, including disabled ones.')
    .action(() => runner.admin(ask => listUsers(ask)))
  users
    .command('show <user>')
    .description('Show one user, by e-mail address or id.')
    .action((user: string) => runner.admin(ask => showUser(ask, user)))
  users
    .command('link <user>')
    .description('Print a new link with which a user sets a password. It replaces earlier ones.')
    .action((user: string) => runner.admin(ask => makeUserLink(ask, user)))
  users
    .command('set <user>')
    .description('Change a user. A new role, and disabling, end the sessions of the user.')
    .option('--role <role>', `one of ${roles.join(', ')}`, roleOf)
    .option('--name <name>', 'the name that lists show')
    .option(
      '--grants-per-day <usd>',
      'for support: the most that grants of a day in UTC may add up to; none for no grants',
      amountOrNone,
    )
    .addOption(new Option('--disable', 'the user can no longer sign in').conflicts('enable'))
    .option('--enable', 'the user can sign in again')
    .option('--remove-totp', 'switch one-time codes off, for a lost phone')
    .action((user: string, changes: UserChanges) => runner.admin(ask => changeUser(ask, user, changes)))
  users
    .command('sessions <user>')
    .description('List where a user is signed in.')
    .action((user: string) => runner.admin(ask => listUserSessions(ask, user)))
  users
    .command('sign-out <user>')
    .description('End all sessions of a user, and the links that were sent.')
    .action((user: string) => runner.admin(ask => signUserOut(ask, user)))
}

/** An amount, or `none`: the library for commands reads null as an empty text. */
function amountOrNone(text: string): string {
  return text === 'none' ? text : amount(text)
}

function roleOf(text: string): Role {
  const role = roles.find(known => known === text)
  if (role === undefined) throw new InvalidArgumentError(`Write one of ${roles.join(', ')}.`)
  return role
}
