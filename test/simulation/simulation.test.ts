import { expect, test } from 'bun:test'
import { simulate, type Outcome } from './simulate.ts'

/** The long form has a thousand and more: `sh scripts/bun.sh all test/simulation/run.ts --seeds 1000`. */
const SEEDS = 40
/** Ten seconds of work. A machine that does much other work too has taken three minutes. */
const TIMEOUT_MS = 900_000

test(
  'media jobs keep every rule through kills, pauses, full disks, rotations of keys and faults of their providers',
  async () => {
    const outcomes: Outcome[] = []
    for (let seed = 1; seed <= SEEDS; seed += 1) outcomes.push(await simulate(seed))

    const broken = outcomes.filter(({ violations }) => violations.length > 0)
    expect(broken.map(({ seed, violations }) => ({ seed, violations }))).toEqual([])
    // A simulation in which nothing happens would always pass.
    const ends = new Set(outcomes.flatMap(outcome => Array.from(outcome.ends.keys())))
    expect(ends).toContain('paid by the customer')
    expect(ends).toContain('booked as a loss')
    const faults = new Set(outcomes.flatMap(outcome => Array.from(outcome.faults.keys())))
    expect(faults).toContain('request with an ended secret')
  },
  TIMEOUT_MS,
)

test('a seed reproduces a run step by step', async () => {
  const first = await simulate(7)
  const second = await simulate(7)
  const other = await simulate(8)

  expect(second).toEqual(first)
  expect(other.digest).not.toBe(first.digest)
})
