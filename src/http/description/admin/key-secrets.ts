import { OLD_SECRET_MS_MAX } from '../../../domain/accounts/key-secrets.ts'
import { bodyOf, ok, type Parameter, type Paths } from '../operation.ts'
import { common } from './accounts.ts'
import { key, keyParameter } from './keys.ts'
import { keyMembers, prefix } from '../key-settings.ts'
import {
  about,
  closed,
  dateTime,
  flag,
  nullable,
  object,
  ref,
  text,
  type Members,
  type Schema,
} from '../schema.ts'

const endsIn: Schema = { type: 'integer', minimum: 0, maximum: OLD_SECRET_MS_MAX / 1000 }

export const adminKeySecretSchemas: Members = {
  KeySecret: object({
    prefix,
    created_at: nullable(dateTime),
    ends_at: about('Null for the current secret, which has no end.', nullable(dateTime)),
    has_ended: about('True if requests with it are refused.', flag),
  }),
  RotatedKey: object({
    ...keyMembers,
    key: about('The text of the new secret. It is shown only once.', text),
  }),
  Rotation: closed(
    {},
    {
      old_ends_in: about('Seconds until the old secret ends. Default: a day.', nullable(endsIn)),
      old_ends_at: about(
        'When the old secret ends: a time in RFC 3339, or `now`. Within 30 days. Not with `old_ends_in`.',
        nullable(text),
      ),
    },
  ),
}

const AT = '2026-11-22T08:00:00.000Z'
const END = '2026-11-23T08:00:00.000Z'
const [old] = key.secrets
const next = { prefix: 'tg_live_9xYz', created_at: AT, ends_at: null, has_ended: false }
const rotated = { ...key, prefix: next.prefix, secrets: [next, { ...old, ends_at: END }] }

const secretParameter: Parameter = {
  name: 'secret',
  in: 'path',
  description: 'The first 12 characters of the secret.',
  schema: text,
  example: 'tg_live_Ab3d',
}

/** The rotation of keys. */
export const adminKeySecretPaths: Paths = {
  'keys/{id}/rotate': {
    post: {
      ...common,
      id: 'rotateKey',
      summary: 'Give a key a new secret',
      description:
        'Only this reply has the text of the new secret. The old one works until its end. Limits, spend, jobs and replays are of the key, and stay. A key has at most two secrets that work: rotating it while an older one works is refused.',
      parameters: [keyParameter],
      body: bodyOf('Rotation', { old_ends_in: 3600 }, { isRequired: false }),
      replies: ok('The key with the text of its new secret.', ref('RotatedKey'), {
        ...rotated,
        key: 'tg_live_9xYzEf6hIj9kLm2nOp5qRs8tUv1wXy4z',
      }),
      errors: ['not_found', 'invalid_field', 'rotation_running', 'key_revoked', 'already_closed'],
    },
  },
  'keys/{id}/secrets/{secret}/revoke': {
    post: {
      ...common,
      id: 'revokeKeySecret',
      summary: 'End one of the two secrets of a key now',
      description:
        'Revoking the newer one takes the rotation back: the older one has no end any more. Repeating it changes nothing.',
      parameters: [keyParameter, secretParameter],
      replies: ok('The key.', ref('ApiKey'), {
        ...rotated,
        secrets: [next, { ...old, ends_at: AT, has_ended: true }],
      }),
      errors: ['not_found', 'invalid_field', 'last_secret', 'key_revoked'],
    },
  },
}
