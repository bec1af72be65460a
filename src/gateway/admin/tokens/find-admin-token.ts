import { beginsAdminToken, TOKEN_PREFIX_LENGTH } from '../../../domain/accounts/api-key-text.ts'
import type { AdminToken } from '../../../domain/admin/admin-token.ts'
import { GatewayError } from '../../../domain/errors.ts'
import type { AdminTokenName, AdminTokens } from '../../ports/access/admin-tokens.ts'

/** Lists show the first characters of a token with this after them. */
const ELLIPSIS = /(…|\.\.\.)$/

/**
 * Finds a token that a path names, by its id, its first 13 characters or its name; of several tokens of a name, the
 * latest. Throws `not_found`, and `invalid_field` for several tokens that begin alike and for the text of a token,
 * because paths get into the logs of proxies. No message repeats what was asked for, because it may be such a text.
 */
export async function findAdminToken(
  asked: string,
  { adminTokens }: { readonly adminTokens: Pick<AdminTokens, 'find'> },
): Promise<AdminToken> {
  const name = asked.trim().replace(ELLIPSIS, '')
  if (beginsAdminToken(name) && name.length > TOKEN_PREFIX_LENGTH)
    throw wrongName(
      `A path names a token by its id (tok_…), its name or its first ${TOKEN_PREFIX_LENGTH} characters, not by its text, because paths get into logs.`,
    )
  const by = namedBy(name)
  const [token, ...others] = await adminTokens.find(by)
  if (token === undefined)
    throw new GatewayError(
      'not_found',
      `There is no such admin token. A token is found by its id (tok_…), its name or its first ${TOKEN_PREFIX_LENGTH} characters (tg_admin_…).`,
    )
  if ('name' in by || others.length === 0) return token
  const ids = [token, ...others].map(({ publicId }) => publicId).join(', ')
  throw wrongName(`Several tokens begin with these characters. Use the id of one of them: ${ids}.`)
}

function namedBy(name: string): AdminTokenName {
  if (name.startsWith('tok_')) return { publicId: name }
  return beginsAdminToken(name) ? { prefix: name } : { name }
}

function wrongName(message: string): GatewayError {
  return new GatewayError('invalid_field', message, { param: 'token' })
}
