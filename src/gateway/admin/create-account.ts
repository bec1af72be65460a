import type { Account } from '../../domain/accounts/account.ts'
import { GatewayError } from '../../domain/errors.ts'
import { formatId, type Id } from '../../domain/ids.ts'
import type { Accounts } from '../ports/accounts.ts'
import type { Clock } from '../ports/clock.ts'
import { auditOf, type Actor } from './operator.ts'

export const NAME_LENGTH_MAX = 100
/** Control characters and line ends would break the lists a name stands in. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u
/** A name stands in paths, where `.` and `..` mean something else. */
const WORDLIKE = /[\p{L}\p{N}]/u

/**
 * Makes an account without money or keys. Throws `invalid_field` for a name that cannot be used and `already_exists` for
 * one that is taken.
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

/** A name that can be listed and typed. Throws `invalid_field` for any other. */
export function checkedName(text: string): string {
  const name = text.trim()
  if (!WORDLIKE.test(name) || name.length > NAME_LENGTH_MAX || UNPRINTABLE.test(name)) {
    throw new GatewayError(
      'invalid_field',
      `"name" must be 1 to ${NAME_LENGTH_MAX} characters with a letter or digit among them, on one line.`,
      { param: 'name' },
    )
  }
  // Wherever an account is named, its id will do as well; a name that looks like one could mean two accounts.
  if (name.startsWith('acct_')) {
    throw new GatewayError('invalid_field', '"name" must not begin with "acct_", as the ids do.', {
      param: 'name',
    })
  }
  return name
}
