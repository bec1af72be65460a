import type { SignInLink, User } from '../../../domain/admin/user.ts'
import type { SignInLinks } from '../../../gateway/ports/access/users.ts'
import { userFrom, type UserRow } from '../rows/user-rows.ts'
import { first, run, type StepRunner, type Step } from '../steps.ts'
import { appendAudit } from './audit-log.ts'
import { createUser, hasAnyUser, replacePassword } from './users.ts'

type LinkRow = {
  id: bigint
  kind: SignInLink['kind']
  user_id: bigint | null
  expires_at_ms: bigint
}

/** The links port of one node. */
export class StoredSignInLinks implements SignInLinks {
  readonly #stepRunner: StepRunner

  constructor(stepRunner: StepRunner) {
    this.#stepRunner = stepRunner
  }

  create(link: Parameters<SignInLinks['create']>[0]): Promise<void> {
    return this.#stepRunner.write('access', () => createLink(link))
  }

  find(hash: Uint8Array, nowMs: number): Promise<SignInLink | undefined> {
    return this.#stepRunner.read(function* () {
      const valid = yield* validLink(hash, nowMs)
      if (valid === undefined) return undefined
      const { link, user } = valid
      const expiresAtMs = Number(link.expires_at_ms)
      if (link.kind === 'first' || user === undefined) return { kind: 'first', expiresAtMs }
      return { kind: link.kind, user: userFrom(user), expiresAtMs }
    })
  }

  use(hash: Uint8Array, ...set: Set<'use'>): Promise<User | undefined> {
    return this.#stepRunner.write('access', () => useLink(hash, ...set))
  }

  useFirst(hash: Uint8Array, ...set: Set<'useFirst'>): Promise<User | undefined> {
    return this.#stepRunner.write('access', () => useFirstLink(hash, ...set))
  }
}

/** The parameters of a method after the hash. */
type Set<Method extends 'use' | 'useFirst'> =
  Parameters<SignInLinks[Method]> extends [Uint8Array, ...infer Rest] ? Rest : never

function* createLink(link: Parameters<SignInLinks['create']>[0]): Step<void> {
  const { hash, kind, user, createdAtMs, expiresAtMs, audit } = link
  yield* run('DELETE FROM user_links WHERE expires_at_ms <= ?', createdAtMs)
  if (user !== undefined) yield* run('DELETE FROM user_links WHERE user_id = ?', user.id)
  yield* run(
    'INSERT INTO user_links (hash, kind, user_id, created_at_ms, expires_at_ms) VALUES (?, ?, ?, ?, ?)',
    hash,
    kind,
    user?.id ?? null,
    createdAtMs,
    expiresAtMs,
  )
  if (audit !== undefined) yield* appendAudit(audit)
}

/** A link that has not ended, with its user. */
function* validLink(hash: Uint8Array, nowMs: number) {
  const link = yield* first<LinkRow>('SELECT * FROM user_links WHERE hash = ?', hash)
  if (link === undefined || nowMs >= Number(link.expires_at_ms)) return undefined
  if (link.user_id === null) return (yield* hasAnyUser()) ? undefined : { link, user: undefined }
  const user = yield* first<UserRow>('SELECT * FROM users WHERE id = ?', link.user_id)
  return user === undefined || user.disabled_at_ms !== null ? undefined : { link, user }
}

function* useLink(
  hash: Uint8Array,
  { passwordHash, name }: Set<'use'>[0],
  { nowMs }: Set<'use'>[1],
): Step<User | undefined> {
  const valid = yield* validLink(hash, nowMs)
  if (valid?.user === undefined) return undefined
  const { id, public_id: publicId, email } = valid.user
  yield* replacePassword(id, passwordHash)
  if (name !== undefined) yield* run('UPDATE users SET name = ? WHERE id = ?', name, id)
  const actor = `user:${email} (${publicId})`
  yield* appendAudit({ actor, action: 'user.password', subject: publicId, detail: 'by a link', atMs: nowMs })
  const row = yield* first<UserRow>('SELECT * FROM users WHERE id = ?', id)
  return row && userFrom(row)
}

function* useFirstLink(
  hash: Uint8Array,
  { publicId, email, name, passwordHash }: Set<'useFirst'>[0],
  { nowMs }: Set<'useFirst'>[1],
): Step<User | undefined> {
  if ((yield* validLink(hash, nowMs))?.link.kind !== 'first') return undefined
  const audit = {
    actor: 'startup',
    action: 'user.create',
    subject: publicId,
    detail: `owner ${email}`,
    atMs: nowMs,
  }
  const owner = { publicId, email, name, role: 'owner', accountId: null, grantsPerDay: null, audit } as const
  const { id } = yield* createUser(owner)
  yield* replacePassword(BigInt(id), passwordHash)
  yield* run("DELETE FROM user_links WHERE kind = 'first'")
  const row = yield* first<UserRow>('SELECT * FROM users WHERE id = ?', id)
  return row && userFrom(row)
}
