import type { Account } from '../../../domain/accounts/account.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { formatId, type Id } from '../../../domain/ids.ts'
import type { Accounts } from '../../ports/access/accounts.ts'
import type { Clock } from '../../ports/clock.ts'
import { auditOf, type Actor } from '../operator.ts'

export const NAME_LENGTH_MAX = 100
/** Control characters and line ends would break lists of names. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u
/** Names are used in paths, where `.` and `..` have another meaning. */
const WORDLIKE = /[\p{L}\p{N}]/u

/**
 * Creates an account without money or keys. Throws `invalid_field` for an invalid name and `already_exists` for a name
 * in use.
 */
export async function createAccount(
  request: { readonly name: string; readonly sandboxOnly?: boolean; readonly actor: Actor },
  ports: { readonly accounts: Accounts; readonly newId: () => Id; readonly clock: Clock },
): Promise<Account> {
  const name = checkedName(request.name)
  const publicId = formatId('acct', ports.newId())
  return ports.accounts.createAccount({
    publicId,
    name,
    sandboxOnly: request.sandboxOnly ?? false,
    audit: auditOf({ actor: request.actor, action: 'account.create', subject: publicId }, ports.clock),
  })
}

/** Returns the name without surrounding spaces. Throws `invalid_field` if it cannot be listed or typed. */
export function checkedName(text: string): string {
  const name = text.trim()
  if (!WORDLIKE.test(name) || name.length > NAME_LENGTH_MAX || UNPRINTABLE.test(name)) {
    throw new GatewayError(
      'invalid_field',
      `"name" must be 1 to ${NAME_LENGTH_MAX} characters on one line, with at least one letter or digit.`,
      { param: 'name' },
    )
  }
  // Commands accept a name or an id, so a name that looks like an id could mean two accounts.
  if (name.startsWith('acct_')) {
    throw new GatewayError('invalid_field', '"name" must not begin with "acct_", because account ids do.', {
      param: 'name',
    })
  }
  return name
}
