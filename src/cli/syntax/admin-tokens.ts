import { InvalidArgumentError, type Command } from 'commander'
import { adminScopes, type AdminScope } from '../../domain/admin/admin-token.ts'
import { amount, expiry } from './arguments.ts'
import { createToken, listTokens, revokeToken } from '../commands/operating/admin-tokens.ts'
import type { Runner } from '../runner.ts'

type CreateOptions = {
  readonly scope: readonly AdminScope[]
  readonly grantsPerDay?: string
  readonly expires?: (nowMs: number) => string
}

/** Adds the commands of admin tokens. */
export function addAdminTokens(program: Command, runner: Runner): void {
  const tokens = program
    .command('admin-tokens')
    .description('Create, list and revoke tokens with some of the rights of the admin key.')
  tokens
    .command('create <name>')
    .description('Create a token and print it. It is not shown again.')
    .requiredOption(
      '--scope <scope>',
      'read (reads everything), metrics (reads the metrics), grants (credits accounts with gifts) or all; can be given several times',
      scopeOf,
    )
    .option('--grants-per-day <usd>', 'the most that its grants of a day in UTC may add up to', amount)
    .option('--expires <time>', 'a day such as 2027-01-31, a time, or a number of days such as 90d', expiry)
    .addHelpText(
      'after',
      `
Only the token is printed to standard output. Commands use it from TOLLGATE_ADMIN_KEY, while a gateway runs:
  $ tollgate admin-tokens create bookkeeper --scope read --scope grants --grants-per-day 50 --expires 90d
  $ tollgate admin-tokens create prometheus --scope metrics > prometheus.token`,
    )
    .action((name: string, { scope, grantsPerDay, expires }: CreateOptions) =>
      runner.admin(ask =>
        createToken(ask, { name, scopes: scope, grantsPerDay, expiresAt: expires?.(Date.now()) }),
      ),
    )
  tokens
    .command('list')
    .description('List all tokens, including expired and revoked ones, by their first 13 characters.')
    .action(() => runner.admin(ask => listTokens(ask)))
  tokens
    .command('revoke')
    .argument(
      '<token>',
      'its name, its id (tok_…), its first 13 characters (tg_admin_…), or the token itself',
    )
    .description('Revoke a token immediately and permanently.')
    .action((name: string) => runner.admin(ask => revokeToken(ask, name)))
}

/** A scope, beside the earlier ones of the command. */
function scopeOf(text: string, earlier: readonly AdminScope[] = []): readonly AdminScope[] {
  const scope = adminScopes.find(known => known === text)
  if (scope === undefined) throw new InvalidArgumentError(`Write one of ${adminScopes.join(', ')}.`)
  return [...earlier, scope]
}
