import { expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { GatewayError } from '../../domain/errors.ts'
import { checkBooks } from './check-books.ts'
import type { Verification } from '../ports/ledger/ledger.ts'

const SOUND: Verification = { problems: [], entries: 4, affected: [] }

test('a check that the store did not answer does not count as one that could not run', async () => {
  const outage = new GatewayError('unavailable', 'The database does not answer at the moment.')
  const seen: string[] = []
  const ports = {
    ledger: { verify: () => Promise.reject(outage) },
    guard: { noteCheck: () => void seen.push('noted'), noteFailedCheck: () => void seen.push('failed') },
    clock: fakeClock(),
  }

  const checked = checkBooks(ports)

  expect(await rejection(checked)).toBe(outage)
  expect(seen).toEqual([])
})

test('a check that the store does not answer after many minutes could not run', async () => {
  const clock = fakeClock()
  const outage = new GatewayError('unavailable', 'The database does not answer at the moment.')
  const seen: string[] = []
  const verify = () => {
    clock.advance(10 * 60_000)
    return Promise.reject(outage)
  }
  const guard = { noteCheck: () => void seen.push('noted'), noteFailedCheck: () => void seen.push('failed') }

  const checked = checkBooks({ ledger: { verify }, guard, clock })

  expect(await rejection(checked)).toBe(outage)
  expect(seen).toEqual(['failed'])
})

test('a result that cannot be shared is no failed check, and has the reason', async () => {
  const notShared = new Error('permission denied')
  const seen: string[] = []
  const guard = { noteCheck: () => void seen.push('noted'), noteFailedCheck: () => void seen.push('failed') }
  const sharedChecks = { begin: () => Promise.resolve({ end: () => Promise.reject(notShared) }) }

  const checked = checkBooks({
    ledger: { verify: () => Promise.resolve(SOUND) },
    guard,
    clock: fakeClock(),
    sharedChecks,
  })

  expect(await checked).toEqual({ ...SOUND, unshared: notShared })
  expect(seen).toEqual([])
})
