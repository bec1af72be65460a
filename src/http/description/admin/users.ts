import { roles } from '../../../domain/admin/user.ts'
import { amount } from './accounts.ts'
import { bodyOf, ok, pageParameters, type Parameter, type Paths } from '../operation.ts'
import {
  about,
  closed,
  dateTime,
  idOf,
  nullable,
  object,
  pageSchema,
  ref,
  text,
  usd,
  words,
  type Members,
} from '../schema.ts'

const userMembers: Members = {
  id: idOf('usr'),
  email: about('In lower case.', text),
  name: text,
  role: words(roles),
  state: about('`invited` until the first sign-in.', words(['invited', 'active', 'disabled'])),
  grants_per_day_usd: about('The most that the grants of a day add up to, for `support`.', nullable(usd)),
  granted_today_usd: about('What the user granted on the current day in UTC.', nullable(usd)),
  has_password: { type: 'boolean' },
  has_totp: about('Whether a password needs a one-time code too.', { type: 'boolean' }),
  has_oidc: about('Whether the user has signed in at the OpenID provider.', { type: 'boolean' }),
  created_by: about('The actor in the audit log.', text),
  created_at: dateTime,
  last_sign_in_at: nullable(dateTime),
  disabled_at: nullable(dateTime),
}
const linkMembers: Members = {
  link: about('Works once. Only this reply has it. It replaces earlier links of the user.', text),
  link_expires_at: dateTime,
  mailed: about('Whether the mail server took a mail with the link.', { type: 'boolean' }),
}
const email = about('An e-mail address, in ASCII.', text)
const name = about('Default: the e-mail address.', text)
const grants = about('Only for the role `support`, which gives no grants without it.', nullable(amount))

export const userSchemas: Members = {
  User: object(userMembers),
  NewUser: closed({ email, role: words(roles) }, { name: nullable(name), grants_per_day_usd: grants }),
  UserPatch: closed(
    {},
    {
      name: text,
      role: words(roles),
      grants_per_day_usd: grants,
      disabled: about('A disabled user cannot sign in.', { type: 'boolean' }),
      has_totp: about('`false` switches one-time codes off, for a lost phone.', {
        type: 'boolean',
        const: false,
      }),
    },
  ),
  UserSession: object({
    id: idOf('ses'),
    address: text,
    user_agent: text,
    created_at: dateTime,
    last_used_at: about('With a precision of five minutes.', dateTime),
    expires_at: about('If it is not used again.', dateTime),
  }),
}

const user = {
  id: 'usr_01m7yafb7z000c1awn4tmfekz0',
  email: 'ada@example.com',
  name: 'Ada',
  role: 'support',
  state: 'active',
  grants_per_day_usd: '50',
  granted_today_usd: '0',
  has_password: true,
  has_totp: true,
  has_oidc: false,
  created_by: 'admin',
  created_at: '2026-11-21T05:50:09.183Z',
  last_sign_in_at: '2026-11-22T05:50:09.183Z',
  disabled_at: null,
}
const link = {
  link: 'https://ai.example.com/console/#link=Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3dEf6hIj9',
  link_expires_at: '2026-11-28T05:50:09.183Z',
  mailed: false,
}
const session = {
  id: 'ses_01m7yafb7z000c1awn4tmfekz0',
  address: '192.0.2.7',
  user_agent: 'Mozilla/5.0',
  created_at: '2026-11-22T05:50:09.183Z',
  last_used_at: '2026-11-22T06:50:09.183Z',
  expires_at: '2026-11-22T18:50:09.183Z',
}
const common = { tag: 'Admin: users', access: 'admin' } as const
const userParameter: Parameter = {
  name: 'user',
  in: 'path',
  description: 'The id or the e-mail address of the user.',
  schema: text,
  example: 'ada@example.com',
}
const ofUser = { ...common, parameters: [userParameter] }

/** The people who sign in to the console. */
export const userPaths: Paths = {
  users: {
    get: {
      ...common,
      id: 'listUsers',
      summary: 'The users of the console, oldest first',
      parameters: pageParameters,
      replies: ok('A page.', pageSchema(ref('User')), { data: [user], has_more: false, next: null }),
      errors: ['invalid_field'],
    },
    post: {
      ...common,
      id: 'inviteUser',
      summary: 'Invite a user',
      description:
        'The user sets a password with the link, or signs in at the OpenID provider. It is mailed if there is a mail server.',
      body: bodyOf('NewUser', {
        email: 'ada@example.com',
        name: 'Ada',
        role: 'support',
        grants_per_day_usd: '50',
      }),
      replies: ok('The user with the link.', object({ ...userMembers, ...linkMembers }), {
        ...user,
        state: 'invited',
        ...link,
      }),
      errors: ['already_exists'],
    },
  },
  'users/{user}': {
    get: {
      ...ofUser,
      id: 'readUser',
      summary: 'A user',
      replies: ok('The user.', ref('User'), user),
      errors: ['not_found'],
    },
    patch: {
      ...ofUser,
      id: 'changeUser',
      summary: 'Change a user',
      description:
        'A new role or limit, disabling, and switching one-time codes off end all sessions of the user. Another role than `support` has no limit.',
      body: bodyOf('UserPatch', { role: 'operator' }),
      replies: ok('The changed user.', ref('User'), { ...user, role: 'operator', grants_per_day_usd: null }),
      errors: ['not_found', 'last_owner'],
    },
  },
  'users/{user}/link': {
    post: {
      ...ofUser,
      id: 'makeUserLink',
      summary: 'Make a link with which a user sets a password',
      description:
        'An invitation for a user who has not signed in yet, or else a reset. Send it over a safe channel.',
      replies: ok('The link.', object(linkMembers), link),
      errors: ['not_found', 'invalid_field'],
    },
  },
  'users/{user}/sessions': {
    get: {
      ...ofUser,
      id: 'listUserSessions',
      summary: 'Where a user is signed in, latest first',
      replies: ok('The sessions.', object({ data: { type: 'array', items: ref('UserSession') } }), {
        data: [session],
      }),
      errors: ['not_found'],
    },
    delete: {
      ...ofUser,
      id: 'endUserSessions',
      summary: 'Sign a user out everywhere',
      replies: ok('How many sessions ended.', object({ ended: { type: 'integer', minimum: 0 } }), {
        ended: 1,
      }),
      errors: ['not_found'],
    },
  },
}
