import { expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { turn } from '../../../test/support/turn.ts'
import { BooksGuard } from './books-guard.ts'
import { checkBooksRegularly } from './check-books-regularly.ts'
import type { Verification } from '../ports/ledger/ledger.ts'

const SOUND: Verification = { problems: [], entries: 4, affected: [] }
const RECENT: Verification = { ...SOUND, isRecent: true }
const WRONG: Verification = { ...SOUND, affected: [7] }
const HOUR_MS = 3_600_000
const HOURS_A_DAY = 24

type Outcome = Verification | Error

/** Checks the books each hour. Checks of all rows and of recent ones have the next of these outcomes. */
function start({ all, recent }: { readonly all: Outcome[]; readonly recent: Outcome[] }) {
  const clock = fakeClock()
  const seen: string[] = []
  const next = (kind: string, outcomes: Outcome[]) => async () => {
    const outcome = outcomes.length > 1 ? outcomes.shift()! : outcomes[0]!
    seen.push(kind)
    if (outcome instanceof Error) throw outcome
    return outcome
  }
  const anchor = { problem: undefined, acceptLoss: async () => undefined }
  const guard = new BooksGuard({ anchor, isWritable: () => true, buildRefusal: () => undefined })
  const stop = checkBooksRegularly(
    {
      ledger: { verify: next('all', all), verifyRecent: next('recent', recent) },
      guard,
      clock,
      report: ({ entries }) => seen.push(`${entries} entries`),
      onFailed: error => seen.push(String(error)),
      onFullFailed: error => seen.push(`all: ${String(error)}`),
    },
    HOUR_MS,
  )
  const after = async (...waitsMs: readonly number[]) => {
    for (const waitMs of waitsMs) {
      clock.advance(waitMs)
      await turn()
    }
    return seen.splice(0)
  }
  return { clock, guard, after, stop }
}

test('the books are checked at once, after each interval, and a minute after a check that could not run', async () => {
  const { clock, after, stop } = start({ all: [], recent: [SOUND, new Error('malformed'), SOUND] })

  expect(await after(0)).toEqual(['recent', '4 entries'])
  expect(await after(HOUR_MS)).toEqual(['recent', 'Error: malformed'])
  expect(await after(59_999)).toEqual([])
  expect(await after(1)).toEqual(['recent', '4 entries'])
  expect(await after(HOUR_MS - 1)).toEqual([])
  stop()
  expect(await after(HOUR_MS)).toEqual([])
  expect(clock.waiting).toBe(0)
})

test('all rows are checked a day after the last full check, once the recent rows are checked', async () => {
  const { clock, guard, after, stop } = start({ all: [SOUND], recent: [SOUND, RECENT] })
  await after(0)

  const day = await after(...Array<number>(HOURS_A_DAY - 1).fill(HOUR_MS))
  const next = await after(HOUR_MS)
  const fullAtMs = clock.now()
  const later = await after(HOUR_MS)
  stop()

  expect(day).not.toContain('all')
  expect(next).toEqual(['recent', '4 entries', 'all', '4 entries'])
  expect(later).toEqual(['recent', '4 entries'])
  expect(guard.lastCheck).toMatchObject({ atMs: clock.now(), fullAtMs })
})

test('a daily check of all rows that cannot run stops nothing, and is tried again a day later', async () => {
  const { guard, after, stop } = start({ all: [new Error('timeout')], recent: [RECENT] })

  const first = await after(0)
  const days = await after(...Array<number>(4 * HOURS_A_DAY).fill(HOUR_MS))
  stop()

  expect(first).toEqual(['recent', '4 entries', 'all', 'all: Error: timeout'])
  expect(days.filter(one => one === 'all')).toHaveLength(4)
  expect(guard.stop).toBeUndefined()
})

test('all rows are checked while a problem stops an account', async () => {
  const { guard, after, stop } = start({ all: [WRONG, SOUND], recent: [WRONG, SOUND] })

  const found = await after(0)
  const checks = [await after(HOUR_MS), await after(HOUR_MS), await after(HOUR_MS)]
  stop()

  expect(found).toEqual(['recent', '4 entries'])
  expect(checks.map(([kind]) => kind)).toEqual(['all', 'all', 'recent'])
  expect(guard.stoppedAccounts).toBe(0)
})

test('accounts stay stopped, and no others, while all rows cannot be read', async () => {
  const { guard, after, stop } = start({
    all: [new Error('timeout')],
    recent: [RECENT, { ...RECENT, affected: [7] }, { ...RECENT, affected: [8] }, RECENT],
  })
  await after(0)
  await after(HOUR_MS)

  const checks = [await after(HOUR_MS), await after(HOUR_MS - 1), await after(1), await after(HOUR_MS)]
  stop()

  const checked = ['all', 'recent', '4 entries', 'all: Error: timeout']
  expect(checks).toEqual([checked, [], checked, checked])
  expect(guard.affected).toEqual([7, 8])
  expect(guard.stop).toBeUndefined()
})

test('paid work stops while a problem is known and neither all rows nor the recent ones can be read', async () => {
  const { guard, after, stop } = start({
    all: [new Error('timeout')],
    recent: [{ ...RECENT, affected: [7] }, new Error('malformed')],
  })
  await after(0)

  const first = await after(HOUR_MS)
  await after(60_000, 60_000)
  stop()

  expect(first).toEqual(['all', 'recent', 'Error: timeout'])
  expect(guard.stop).toBe('The books could not be checked three times in a row.')
})
