import { describe, expect, test } from 'bun:test'
import type { NewSession, NewUser } from '../../src/gateway/ports/access/users.ts'
import { usd, ZERO } from '../../src/domain/money.ts'
import { at } from '../support/account-builders.ts'
import { anAudit, anId, available, NOW, openWithFunds } from '../support/ledger-builders.ts'
import { rejection } from '../support/rejection.ts'
import type { StoreKind } from '../support/test-store.ts'

const HOUR_MS = 3_600_000

/** What the users of any store must do. */
export function usersConform(kind: StoreKind): void {
  describe('users', () => {
    test('a user is found by id, e-mail address and identity, and after a restart', async () => {
      const { store, reopen } = await kind.open()
      const user = await store.users.create(aUser())
      const identity = { issuer: 'https://id.example.com', subject: '7' }

      const isLinked = await store.users.linkIdentity(user.publicId, identity, at(NOW))

      const { users } = await reopen()
      expect(isLinked).toBe(true)
      for (const by of [{ publicId: user.publicId }, { email: user.email }, { identity }])
        expect(await users.find(by)).toEqual({ ...user, identity })
      expect(
        await users.find({ identity: { ...identity, issuer: 'https://other.example.com' } }),
      ).toBeUndefined()
      expect(await rejection(users.create(aUser({ email: user.email })))).toMatchObject({
        code: 'already_exists',
      })
    })

    test('two owners who demote each other at the same time do not both succeed', async () => {
      const { store, other } = await kind.open()
      const owners = [await anOwner(store), await anOwner(store)]

      const outcomes = await Promise.allSettled(
        [store, other].map((node, index) => node.users.change(owners[index]!, { role: 'viewer' }, at(NOW))),
      )

      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect(outcomes.find(({ status }) => status === 'rejected')).toHaveProperty('reason.code', 'last_owner')
    })

    test('of one code that is used on two nodes at once, one use counts', async () => {
      const { store, other } = await kind.open()
      const { publicId } = await store.users.create(aUser())

      const used = await Promise.all([store, other].map(node => node.users.useTotpStep(publicId, 9)))

      expect(used.filter(Boolean)).toHaveLength(1)
      expect(await store.users.useTotpStep(publicId, 8)).toBe(false)
      expect(await store.users.useTotpStep(publicId, 10)).toBe(true)
    })

    test('the secret of one-time codes counts after it was confirmed', async () => {
      const { store } = await kind.open()
      const { publicId, email } = await store.users.create(aUser())
      await store.users.proposeTotp(publicId, 'FIRST')
      await store.users.proposeTotp(publicId, 'SECOND')
      const before = await store.users.credentials(email)

      const stale = await rejection(store.users.confirmTotp(publicId, { secret: 'FIRST', step: 1 }, at(NOW)))
      const user = await store.users.confirmTotp(publicId, { secret: 'SECOND', step: 1 }, at(NOW))

      expect(before?.totpSecret).toBeNull()
      expect(stale).toMatchObject({ code: 'not_found' })
      expect(user.hasTotp).toBe(true)
      expect((await store.users.credentials(email))?.totpSecret).toBe('SECOND')
    })
  })

  describe('sessions of users', () => {
    test('a session is found on every node until nobody has used it for twelve hours', async () => {
      const { store, other } = await kind.open()
      const user = await store.users.create(aUser())
      const request = aSession(user)

      const session = await store.userSessions.open(request)

      const found = await other.userSessions.find(request.hash, NOW + 12 * HOUR_MS - 1)
      expect(found).toMatchObject({ session, user: { publicId: user.publicId, signedInAtMs: NOW } })
      expect(await other.userSessions.find(request.hash, NOW + 12 * HOUR_MS)).toBeUndefined()
      expect(await store.userSessions.isKnownAddress(user.id, request.address)).toBe(true)
    })

    test.each(['password', 'role', 'disabled'] as const)(
      'a change of the %s ends all sessions, and a sign-in that began before opens none',
      async change => {
        const { store, other } = await kind.open()
        const user = await store.users.create(aUser())
        const request = aSession(user)
        await store.userSessions.open(request)

        if (change === 'password') await store.users.setPassword(user.publicId, 'hash', at(NOW))
        else
          await store.users.change(
            user.publicId,
            change === 'role' ? { role: 'operator' } : { isDisabled: true },
            at(NOW),
          )

        expect(await other.userSessions.find(request.hash, NOW)).toBeUndefined()
        expect(await rejection(other.userSessions.open(aSession(user)))).toMatchObject({
          code: 'wrong_credentials',
        })
      },
    )
  })

  describe('links of users', () => {
    test('of two uses of one link on two nodes, one sets the password, and it ends the sessions', async () => {
      const { store, other } = await kind.open()
      const user = await store.users.create(aUser())
      const session = aSession(user)
      await store.userSessions.open(session)
      const hash = random32()
      await store.signInLinks.create({ ...aLink, hash, user })

      const set = (passwordHash: string) => ({ passwordHash, name: undefined })
      const used = await Promise.all([
        store.signInLinks.use(hash, set('one'), { nowMs: NOW }),
        other.signInLinks.use(hash, set('two'), { nowMs: NOW }),
      ])

      expect(used.filter(Boolean)).toHaveLength(1)
      expect(await store.userSessions.find(session.hash, NOW)).toBeUndefined()
    })

    test('a later link replaces the earlier ones of its user, and a link expires', async () => {
      const { store } = await kind.open()
      const user = await store.users.create(aUser())
      const [first, second] = [random32(), random32()]
      for (const hash of [first, second]) await store.signInLinks.create({ ...aLink, hash, user })

      expect(await store.signInLinks.find(first, NOW)).toBeUndefined()
      expect(await store.signInLinks.find(second, NOW + 9)).toMatchObject({ kind: 'invitation' })
      expect(await store.signInLinks.find(second, NOW + 10)).toBeUndefined()
    })

    test('the link of the first owner makes one owner, on whichever node it is used', async () => {
      const { store, other } = await kind.open()
      const hashes = [random32(), random32()]
      for (const hash of hashes)
        await store.signInLinks.create({ ...aLink, hash, kind: 'first', user: undefined })
      const owner = (email: string) => ({ publicId: `usr_${email}`, email, name: 'A', passwordHash: 'x' })

      const made = await Promise.all([
        store.signInLinks.useFirst(hashes[0]!, owner('a@b.example'), { nowMs: NOW }),
        other.signInLinks.useFirst(hashes[1]!, owner('c@d.example'), { nowMs: NOW }),
      ])

      expect(made.filter(Boolean)).toMatchObject([{ role: 'owner' }])
      expect((await store.users.list({ limit: 9 })).users).toHaveLength(1)
    })
  })

  test('the grants of a user add up on all nodes, apart from those of a token with the same number', async () => {
    const { store, other, accountId } = await openWithFunds(kind, ZERO)
    const user = await store.users.create(aUser({ role: 'support', grantsPerDay: usd('10') }))
    const grant = (node: typeof store, of: 'user' | 'token', key: string) =>
      node.ledger.credit({
        id: anId(),
        accountId,
        amount: usd('6'),
        source: 'promotions',
        idempotencyKey: key,
        allowance: { of, id: user.id, perDay: usd('10') },
        audit: anAudit(),
      })
    await grant(store, 'user', 'a')
    await grant(store, 'token', 'b')

    const refused = await rejection(grant(other, 'user', 'c'))

    expect(refused).toMatchObject({ code: 'grants_per_day_exceeded' })
    expect(await available(store.ledger, accountId)).toBe(usd('12'))
    expect(await store.users.latestGrants(user.id)).toMatchObject({ granted: usd('6') })
    expect((await store.ledger.verify()).problems).toEqual([])
  })
}

const aLink = { kind: 'invitation', createdAtMs: NOW, expiresAtMs: NOW + 10, audit: undefined } as const

function aUser(user: Partial<NewUser> = {}): NewUser {
  const name = crypto.randomUUID()
  return {
    publicId: `usr_${name}`,
    email: `${name}@example.com`,
    name: 'Ada',
    role: 'viewer',
    accountId: null,
    grantsPerDay: null,
    audit: anAudit(),
    ...user,
  }
}

function aSession(user: NewSession['user']): NewSession {
  return {
    publicId: `ses_${crypto.randomUUID()}`,
    user,
    hash: random32(),
    address: '192.0.2.1',
    userAgent: 'a browser',
    replaces: undefined,
    audit: anAudit(),
  }
}

async function anOwner({ users }: Awaited<ReturnType<StoreKind['open']>>['store']): Promise<string> {
  const { publicId } = await users.create(aUser({ role: 'owner' }))
  await users.setPassword(publicId, 'hash', at(NOW))
  return publicId
}

function random32(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(32))
}
