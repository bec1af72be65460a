import { describe, expect, test } from 'bun:test'
import type { ApiKey } from '../../src/domain/accounts/api-key.ts'
import { hasEnded } from '../../src/domain/accounts/key-secrets.ts'
import { at, base64, makeWithKey, REVOKED } from '../support/account-builders.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { NOW } from '../support/ledger-builders.ts'
import { rejection } from '../support/rejection.ts'
import type { StoreKind, TestStore } from '../support/test-store.ts'

const HOUR_MS = 3_600_000
/** Other nodes see a change of accounts and keys within this. */
const VISIBLE_MS = 1_000

type Keys = Pick<TestStore, 'apiKeys'>

/** A new secret whose first characters tell it apart. */
function aSecret(name: string) {
  const hash = crypto.getRandomValues(new Uint8Array(32))
  return { hash, prefix: `tg_live_${name}`, text: base64(hash) }
}

function rotate(
  { apiKeys }: Keys,
  { publicId }: ApiKey,
  { hash, prefix }: ReturnType<typeof aSecret>,
  { oldEndsAtMs = NOW + HOUR_MS, atMs = NOW }: { readonly oldEndsAtMs?: number; readonly atMs?: number } = {},
): Promise<ApiKey> {
  return apiKeys.rotate(publicId, { hash, prefix, oldEndsAtMs }, at(atMs))
}

/** Which of the secrets work at a time. */
async function working(
  { apiKeys }: Keys,
  texts: readonly string[],
  nowMs = NOW,
): Promise<readonly boolean[]> {
  const found = await Promise.all(texts.map(text => apiKeys.authenticate(text)))
  return found.map(caller => caller !== undefined && !hasEnded(caller.secretEnd, nowMs))
}

/** What the secrets of keys must do in any store. */
export function keySecretsConform(kind: StoreKind): void {
  describe('secrets of keys', () => {
    test('after a rotation, both secrets are of the same key, and the old one has an end', async () => {
      const { store } = await kind.open()
      const { account, apiKey, hash } = await makeWithKey(store)
      const next = aSecret('next')
      await store.apiKeys.authenticate(hash)

      const rotated = await rotate(store, apiKey, next)

      const secretEnd = { atMs: NOW + HOUR_MS, isFinal: false }
      expect(rotated).toEqual({
        ...apiKey,
        prefix: 'tg_live_next',
        secrets: [
          { ...apiKey.secrets[0]!, end: secretEnd },
          { number: expect.any(Number), prefix: 'tg_live_next', createdAtMs: NOW, end: null },
        ],
      })
      expect(await store.apiKeys.authenticate(hash)).toEqual({ account, apiKey: rotated, secretEnd })
      expect(await store.apiKeys.authenticate(next.text)).toEqual({ account, apiKey: rotated })
    })

    test('a rotation is still known after a restart', async () => {
      const { store, reopen } = await kind.open()
      const { account, apiKey, hash } = await makeWithKey(store)
      const next = aSecret('next')
      const rotated = await rotate(store, apiKey, next)

      const reopened = await reopen()

      expect(await reopened.apiKeys.list(account.id)).toEqual([rotated])
      expect(await working(reopened, [hash, next.text], NOW + HOUR_MS - 1)).toEqual([true, true])
      expect(await working(reopened, [hash, next.text], NOW + HOUR_MS)).toEqual([false, true])
    })

    test('a rotation that ends the old secret at once ends it for a clock that is set back, too', async () => {
      const { store } = await kind.open()
      const { apiKey, hash } = await makeWithKey(store)
      const next = aSecret('next')

      await rotate(store, apiKey, next, { oldEndsAtMs: 0 })

      expect(await working(store, [hash, next.text], NOW - HOUR_MS)).toEqual([false, true])
    })

    test('a key is found by each of its secrets, also by an ended one', async () => {
      const { store } = await kind.open()
      const { apiKey, hash } = await makeWithKey(store)
      const next = aSecret('next')
      const rotated = await rotate(store, apiKey, next, { oldEndsAtMs: NOW })

      const found = await Promise.all(
        [
          { hash: Buffer.from(hash, 'base64') },
          { hash: next.hash },
          { prefix: apiKey.prefix },
          { prefix: next.prefix },
          { publicId: apiKey.publicId },
        ].map(by => store.apiKeys.find(by)),
      )

      expect(found).toEqual(Array.from({ length: 5 }, () => [rotated]))
    })

    test('a key that was rotated does not change the other keys of its account', async () => {
      const { store } = await kind.open()
      const { account, apiKey } = await makeWithKey(store)
      const other = await store.apiKeys.create({
        publicId: 'key_other',
        accountId: account.id,
        name: 'other',
        hash: new Uint8Array(32),
        prefix: 'tg_live_othr',
        audit: { ...at(NOW), action: 'key.create', subject: 'key_other' },
      })

      const rotated = await rotate(store, apiKey, aSecret('next'))

      expect(await store.apiKeys.list(account.id)).toEqual([rotated, other])
    })

    test('a key has at most two secrets that work, and a third one after the oldest has ended', async () => {
      const { store } = await kind.open()
      const { apiKey, hash } = await makeWithKey(store)
      const [second, third] = [aSecret('secd'), aSecret('thrd')]
      await rotate(store, apiKey, second)

      const error = await rejection(rotate(store, apiKey, third, { atMs: NOW + 1 }))
      const refused = await working(store, [hash, second.text, third.text])
      await rotate(store, apiKey, third, { atMs: NOW + HOUR_MS, oldEndsAtMs: NOW + 2 * HOUR_MS })

      expect(error).toMatchObject({ code: 'rotation_running' })
      expect(refused).toEqual([true, true, false])
      expect(await working(store, [hash, second.text, third.text], NOW)).toEqual([false, true, true])
    })

    test('revoking the old secret ends it, and repeating it changes nothing', async () => {
      const { store } = await kind.open()
      const { apiKey, hash } = await makeWithKey(store)
      const next = aSecret('next')
      await rotate(store, apiKey, next)

      const revoked = await store.apiKeys.revokeSecret(apiKey.publicId, apiKey.prefix, at(NOW + 1))
      const again = await store.apiKeys.revokeSecret(apiKey.publicId, apiKey.prefix, at(NOW + 2))

      expect(await working(store, [hash, next.text])).toEqual([false, true])
      expect(revoked.secrets[0]!.end).toEqual({ atMs: NOW + 1, isFinal: true })
      expect(again).toEqual(revoked)
    })

    test('revoking the new secret takes the rotation back, so that the key can be rotated again', async () => {
      const { store } = await kind.open()
      const { apiKey, hash } = await makeWithKey(store)
      const [lost, next] = [aSecret('lost'), aSecret('next')]
      await rotate(store, apiKey, lost)

      const back = await store.apiKeys.revokeSecret(apiKey.publicId, lost.prefix, at(NOW + 1))
      const works = await working(store, [hash, lost.text], NOW + 2 * HOUR_MS)
      await rotate(store, apiKey, next, { atMs: NOW + 2 })

      expect(back.prefix).toBe(apiKey.prefix)
      expect(works).toEqual([true, false])
      expect(await working(store, [hash, lost.text, next.text])).toEqual([true, false, true])
    })

    test('the only secret of a key, secrets of a revoked key and unknown keys are refused', async () => {
      const { store } = await kind.open()
      const { apiKey } = await makeWithKey(store)
      const { publicId, prefix } = apiKey

      const last = await rejection(store.apiKeys.revokeSecret(publicId, prefix, at(NOW)))
      await store.apiKeys.update(publicId, REVOKED, at(NOW))
      const revoked = [
        await rejection(rotate(store, apiKey, aSecret('next'))),
        await rejection(store.apiKeys.revokeSecret(publicId, prefix, at(NOW))),
      ]
      const unknown = [
        await rejection(rotate(store, { ...apiKey, publicId: 'key_none' }, aSecret('next'))),
        await rejection(store.apiKeys.revokeSecret('key_none', prefix, at(NOW))),
      ]

      expect(last).toMatchObject({ code: 'last_secret' })
      expect(revoked).toMatchObject([{ code: 'key_revoked' }, { code: 'key_revoked' }])
      for (const error of unknown) expect(error).toBeInstanceOf(RangeError)
    })

    test('revoking the key refuses both of its secrets', async () => {
      const { store } = await kind.open()
      const { apiKey, hash } = await makeWithKey(store)
      const next = aSecret('next')
      await rotate(store, apiKey, next)

      await store.apiKeys.update(apiKey.publicId, REVOKED, at(NOW + 1))

      expect(await working(store, [hash, next.text])).toEqual([false, false])
    })

    test('the audit log has a line for each change of secrets, with their first characters and ends', async () => {
      const { store } = await kind.open()
      const { apiKey } = await makeWithKey(store)
      const next = aSecret('next')
      await rotate(store, apiKey, next)
      await store.apiKeys.revokeSecret(apiKey.publicId, next.prefix, at(NOW + 1))

      const [revoked, rotated] = await store.auditLog.list({ limit: 2 })

      expect(revoked).toMatchObject({
        action: 'key.revoke_secret',
        subject: apiKey.publicId,
        detail: next.prefix,
      })
      expect(rotated).toMatchObject({ action: 'key.rotate', subject: apiKey.publicId, actor: 'test' })
      expect(JSON.parse(rotated!.detail!)).toEqual({
        secret: next.prefix,
        old: apiKey.prefix,
        old_ends_at: new Date(NOW + HOUR_MS).toISOString(),
      })
    })
  })

  describe('races of rotations', () => {
    test.each([2, 5])('of %i rotations at once on two nodes, one is done', async count => {
      const { store, other } = await kind.open()
      const { apiKey, hash } = await makeWithKey(store)
      const secrets = Array.from({ length: count }, (_, index) => aSecret(`new${index}`))

      const outcomes = await Promise.allSettled(
        secrets.map((secret, index) => rotate(index % 2 === 0 ? store : other, apiKey, secret)),
      )

      const done = outcomes.map(({ status }) => status === 'fulfilled')
      expect(done.filter(Boolean)).toHaveLength(1)
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'rotation_running' })
      expect(await working(store, [hash, ...secrets.map(({ text }) => text)])).toEqual([true, ...done])
    })

    test.each(['rotation first', 'revocation first'])(
      'a rotation and a revocation at once leave no secret that works: %s',
      async order => {
        const { store, other } = await kind.open()
        const { apiKey, hash } = await makeWithKey(store)
        const next = aSecret('next')
        const steps = [
          () => rotate(store, apiKey, next),
          () => other.apiKeys.update(apiKey.publicId, REVOKED, at(NOW)),
        ]

        const asked = order === 'rotation first' ? steps : steps.toReversed()
        await Promise.allSettled(asked.map(step => step()))

        expect(await working(store, [hash, next.text])).toEqual([false, false])
      },
    )

    test.each(['rotation first', 'change first'])(
      'a rotation and the disabling of a key at once are both done: %s',
      async order => {
        const { store, other } = await kind.open()
        const { apiKey, hash } = await makeWithKey(store)
        const next = aSecret('next')
        const steps = [
          () => rotate(store, apiKey, next),
          () => other.apiKeys.update(apiKey.publicId, { disabled: true }, at(NOW)),
        ]

        const asked = order === 'rotation first' ? steps : steps.toReversed()
        await Promise.all(asked.map(step => step()))

        for (const text of [hash, next.text])
          expect((await store.apiKeys.authenticate(text))?.apiKey).toMatchObject({
            publicId: apiKey.publicId,
            disabledAtMs: NOW,
          })
      },
    )

    test.each(['rotation first', 'closing first'])(
      'after a rotation and the closing of an account at once, the account is closed for all secrets: %s',
      async order => {
        const { store, other } = await kind.open()
        const { account, apiKey, hash } = await makeWithKey(store)
        const next = aSecret('next')
        const steps = [
          () => rotate(store, apiKey, next),
          () => other.accounts.closeAccount(account.publicId, at(NOW)),
        ]

        const asked = order === 'rotation first' ? steps : steps.toReversed()
        const outcomes = await Promise.allSettled(asked.map(step => step()))

        const refused = outcomes.flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason] : []))
        const callers = await Promise.all([hash, next.text].map(text => store.apiKeys.authenticate(text)))
        for (const reason of refused) expect(reason).toMatchObject({ code: 'already_closed' })
        expect(callers.map(caller => caller?.account.closedAtMs ?? NOW)).toEqual([NOW, NOW])
        expect(callers[1] === undefined).toBe(refused.length === 1)
      },
    )

    test('an old secret works until the millisecond before its end, and not at its end', async () => {
      const { store } = await kind.open()
      const { apiKey, hash } = await makeWithKey(store)
      const next = aSecret('next')
      await rotate(store, apiKey, next)

      const before = await working(store, [hash, next.text], NOW + HOUR_MS - 1)
      const after = await working(store, [hash, next.text], NOW + HOUR_MS)

      expect([before, after]).toEqual([
        [true, true],
        [false, true],
      ])
    })

    test('of two revocations of the two secrets at once, one is done, and one secret works', async () => {
      const { store, other } = await kind.open()
      const { apiKey, hash } = await makeWithKey(store)
      const next = aSecret('next')
      await rotate(store, apiKey, next)

      const outcomes = await Promise.allSettled([
        store.apiKeys.revokeSecret(apiKey.publicId, apiKey.prefix, at(NOW + 1)),
        other.apiKeys.revokeSecret(apiKey.publicId, next.prefix, at(NOW + 1)),
      ])

      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      const works = await working(store, [hash, next.text])
      expect(works.filter(Boolean)).toHaveLength(1)
    })
  })

  describe('two nodes', () => {
    test('two nodes know the new secret, and the end of the old one, within 1 s after a rotation', async () => {
      const clock = fakeClock(NOW)
      const { store, other } = await kind.open({ clock })
      const { apiKey, hash } = await makeWithKey(store)
      const next = aSecret('next')
      await other.apiKeys.authenticate(hash)
      await other.apiKeys.authenticate(next.text)

      await rotate(store, apiKey, next, { oldEndsAtMs: 0 })
      clock.advance(VISIBLE_MS)

      expect(await working(other, [hash, next.text])).toEqual([false, true])
    })
  })
}
