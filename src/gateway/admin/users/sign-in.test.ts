import { expect, test } from 'bun:test'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { aSqliteStore } from '../../../../test/support/test-store.ts'
import { SignInPace } from './sign-in-pace.ts'
import { signIn } from './sign-in.ts'

test('a try costs one hash for an unknown user, an invited one and a wrong password', async () => {
  const clock = fakeClock()
  const store = aSqliteStore(undefined, clock)
  const audit = { actor: 'admin', action: 'user.create', subject: 'usr', atMs: 0 }
  const terms = { name: 'A', role: 'viewer', accountId: null, grantsPerDay: null, audit } as const
  await store.users.create({ ...terms, publicId: 'usr_1', email: 'invited@example.com' })
  await store.users.create({ ...terms, publicId: 'usr_2', email: 'known@example.com' })
  await store.users.setPassword('usr_2', 'hash', { actor: 'admin', atMs: 0 })
  const hashed: string[] = []
  const ports = {
    ...store,
    clock,
    pace: new SignInPace(clock),
    randomBytes: (count: number) => new Uint8Array(count),
    sha256: () => new Uint8Array(32),
    oneTimeCodes: { newSecret: () => '', uri: () => '', stepOf: () => undefined },
    // The dummy of an unknown user is part of what `matches` promises.
    passwords: {
      hash: () => Promise.reject(new Error('Nothing is hashed anew.')),
      matches: (password: string) => Promise.resolve(hashed.push(password) === 0),
    },
  }
  const browser = { address: '192.0.2.1', userAgent: '', cookie: undefined }
  const costs: number[] = []

  for (const email of ['unknown@example.com', 'invited@example.com', 'known@example.com']) {
    const before = hashed.length
    await signIn({ email, password: 'wrong', code: undefined }, browser, ports).catch(() => undefined)
    costs.push(hashed.length - before)
  }

  expect(costs).toEqual([1, 1, 1])
})
