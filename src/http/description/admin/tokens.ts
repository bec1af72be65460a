import { adminScopes } from '../../../domain/admin/admin-token.ts'
import { amount, nameWithout } from './accounts.ts'
import { bodyOf, ok, pageParameters, type Parameter, type Paths } from '../operation.ts'
import {
  about,
  closed,
  dateTime,
  idOf,
  listOf,
  nullable,
  object,
  pageSchema,
  ref,
  text,
  usd,
  words,
  type Members,
} from '../schema.ts'

const tokenMembers: Members = {
  id: idOf('tok'),
  name: text,
  prefix: { type: 'string', pattern: '^tg_admin_[0-9A-Za-z]{4}$' },
  scopes: listOf(words(adminScopes)),
  grants_per_day_usd: about('The most that its grants of a day add up to.', nullable(usd)),
  granted_today_usd: about('What it granted on the current day in UTC.', nullable(usd)),
  created_by: about('The actor in the audit log.', text),
  created_at: dateTime,
  expires_at: nullable(dateTime),
  last_used_on: about('The day of its last use, in UTC.', nullable({ type: 'string', format: 'date' })),
  revoked_at: nullable(dateTime),
  state: words(['active', 'expired', 'revoked']),
}

export const adminTokenSchemas: Members = {
  AdminToken: object(tokenMembers),
  NewAdminToken: closed(
    { name: nameWithout('acct_', 'tok_', 'tg_admin_'), scopes: listOf(words(adminScopes), { minItems: 1 }) },
    {
      grants_per_day_usd: about(
        'Required with the scope `grants`, and only allowed with it.',
        nullable(amount),
      ),
      expires_at: about('A time in the future. Default: the token does not expire.', nullable(dateTime)),
    },
  ),
}

const token = {
  id: 'tok_01m7yafb7z000c1awn4tmfekz0',
  name: 'bookkeeper',
  prefix: 'tg_admin_Ab3d',
  scopes: ['read', 'grants'],
  grants_per_day_usd: '50',
  granted_today_usd: '0',
  created_by: 'admin',
  created_at: '2026-11-21T05:50:09.183Z',
  expires_at: '2099-01-31T00:00:00.000Z',
  last_used_on: null,
  revoked_at: null,
  state: 'active',
}
const common = { tag: 'Admin: tokens', access: 'admin' } as const
const tokenParameter: Parameter = {
  name: 'token',
  in: 'path',
  description: 'The id, the name or the first 13 characters of the token.',
  schema: text,
  example: 'bookkeeper',
}

/** Tokens with some of the rights of the admin key. */
export const adminTokenPaths: Paths = {
  tokens: {
    get: {
      ...common,
      id: 'listAdminTokens',
      summary: 'The admin tokens, oldest first, without their texts',
      parameters: pageParameters,
      replies: ok('A page.', pageSchema(ref('AdminToken')), { data: [token], has_more: false, next: null }),
      errors: ['invalid_field'],
    },
    post: {
      ...common,
      id: 'createAdminToken',
      summary: 'Create an admin token',
      description:
        'Only this reply has the text of the token. A token cannot create one with more rights or a later expiry than it has itself.',
      body: bodyOf('NewAdminToken', {
        name: 'bookkeeper',
        scopes: ['read', 'grants'],
        grants_per_day_usd: '50',
        expires_at: '2099-01-31T00:00:00Z',
      }),
      replies: ok('The token with its text.', object({ ...tokenMembers, token: text }), {
        ...token,
        token: 'tg_admin_Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3dEf6hIj9k',
      }),
      errors: ['already_exists'],
    },
  },
  'tokens/{token}': {
    get: {
      ...common,
      id: 'readAdminToken',
      summary: 'An admin token',
      parameters: [tokenParameter],
      replies: ok('The token.', ref('AdminToken'), token),
      errors: ['not_found', 'invalid_field'],
    },
    delete: {
      ...common,
      id: 'revokeAdminToken',
      summary: 'Revoke an admin token',
      description: 'It is refused from the next request on. Repeating it changes nothing.',
      parameters: [tokenParameter],
      replies: ok('The revoked token.', ref('AdminToken'), {
        ...token,
        revoked_at: '2026-11-22T05:50:09.183Z',
        state: 'revoked',
      }),
      errors: ['not_found', 'invalid_field'],
    },
  },
}
