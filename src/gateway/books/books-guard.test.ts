import { describe, expect, test } from 'bun:test'
import { BooksGuard } from './books-guard.ts'

const ADA = 1
const BEN = 2

function aGuard() {
  const anchor = { fits: true }
  const guard = new BooksGuard({ isAnchored: () => anchor.fits })
  const refused = () => [ADA, BEN].filter(account => guard.refusal(account) !== undefined)
  return { guard, anchor, refused }
}

describe('paid work', () => {
  test('starts while no problem is known', () => {
    const { guard, refused } = aGuard()

    expect([refused(), guard.stop, guard.stoppedAccounts]).toEqual([[], undefined, 0])
  })

  test('of an account whose books are wrong is refused, and that of others is not', () => {
    const { guard, refused } = aGuard()

    guard.noteCheck([ADA])

    expect(refused()).toEqual([ADA])
    expect(guard.refusal(ADA)).toMatchObject({ code: 'books_inconsistent', extras: { shouldRetry: false } })
    expect([guard.stop, guard.stoppedAccounts]).toEqual([undefined, 1])
  })

  test('of all accounts is refused if the commits are wrong', () => {
    const { guard, refused } = aGuard()

    guard.noteCheck('everything')

    expect(refused()).toEqual([ADA, BEN])
    expect(guard.stop).toContain('commits')
  })

  test('of all accounts is refused while the books do not match their anchor', () => {
    const { guard, anchor, refused } = aGuard()
    anchor.fits = false
    guard.noteCheck([])

    const during = refused()
    anchor.fits = true

    expect([during, refused()]).toEqual([[ADA, BEN], []])
  })

  test('of all accounts is refused after three checks in a row that could not run', () => {
    const { guard, refused } = aGuard()
    const seen: number[][] = []

    for (let failed = 0; failed < 3; failed += 1) {
      seen.push(refused())
      guard.noteFailedCheck()
    }

    expect(seen).toEqual([[], [], []])
    expect(refused()).toEqual([ADA, BEN])
  })

  test('is not refused after failed checks that were not in a row', () => {
    const { guard, refused } = aGuard()

    for (const result of ['failed', 'failed', 'sound', 'failed', 'failed'])
      if (result === 'failed') guard.noteFailedCheck()
      else guard.noteCheck([])

    expect(refused()).toEqual([])
  })

  test('resumes with a check that finds nothing', () => {
    const { guard, refused } = aGuard()
    guard.noteCheck('everything')
    guard.noteCheck([ADA])
    for (let failed = 0; failed < 3; failed += 1) guard.noteFailedCheck()

    guard.noteCheck([])

    expect(refused()).toEqual([])
  })
})
