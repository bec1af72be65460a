import { expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { turn } from '../../../test/support/turn.ts'
import { checkBooksRegularly } from './check-books-regularly.ts'
import type { Verification } from '../ports/ledger.ts'

const SOUND: Verification = { problems: [], entries: 4, affected: [] }
const HOUR_MS = 3_600_000

test('the books are checked at once, after each interval, and a minute after a check that could not run', async () => {
  const clock = fakeClock()
  const results = [SOUND, new Error('malformed'), SOUND, SOUND]
  const seen: string[] = []
  const verify = async () => {
    const result = results.shift()!
    if (result instanceof Error) throw result
    return result
  }

  const stop = checkBooksRegularly(
    {
      ledger: { verify },
      guard: {
        noteCheck: () => void seen.push('noted'),
        noteFailedCheck: () => void seen.push('noted as failed'),
      },
      clock,
      report: ({ entries }) => seen.push(`${entries} entries`),
      onFailed: error => seen.push(String(error)),
    },
    HOUR_MS,
  )
  await turn()
  for (const waitMs of [HOUR_MS, 59_999, 1, HOUR_MS - 1]) {
    clock.advance(waitMs)
    await turn()
    seen.push(`after ${waitMs}`)
  }
  stop()
  clock.advance(HOUR_MS)
  await turn()

  expect(seen).toEqual([
    'noted',
    '4 entries',
    'noted as failed',
    'Error: malformed',
    'after 3600000',
    'after 59999',
    'noted',
    '4 entries',
    'after 1',
    'after 3599999',
  ])
  expect(clock.waiting).toBe(0)
})
