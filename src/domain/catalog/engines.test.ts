import { describe, expect, test } from 'bun:test'
import { allowsDuration, describeDurations, engines, secondsMax, type EngineName } from './engines.ts'

/** Engine, described durations, default duration, longest duration, and whether it needs an input video. */
const table: readonly (readonly [EngineName, string, number, number, boolean])[] = [
  ['family-a', '4 to 15', 5, 15, false],
  ['family-a-extend', '4 to 15', 5, 15, true],
  ['family-b', '3 to 15', 5, 15, false],
  ['family-b-edit', '3 to 10', 5, 10, true],
  ['family-b-motion', '3 to 10', 5, 10, true],
  ['family-c', '5 or 10', 5, 10, false],
  ['family-d-5', '5', 5, 5, false],
  ['family-d-10', '10', 10, 10, false],
  ['family-e', '4, 6 or 8', 8, 8, false],
  ['family-e-extend', '8', 8, 8, true],
  ['family-f', '4, 6, 8 or 10', 4, 10, false],
  ['family-g', '6', 6, 6, false],
  ['family-g-extend', '6', 6, 6, true],
  ['storyboard', '6 to 30', 6, 30, false],
]

describe('the engine table', () => {
  test('the engine table has exactly these engines', () => {
    expect(Object.keys(engines).sort()).toEqual(table.map(([name]) => name).sort())
  })

  test.each(table)(
    '%s makes clips of %s seconds, and of %d by default',
    (name, allowed, byItself, longest, needsVideo) => {
      const engine = engines[name]

      expect(describeDurations(engine)).toBe(allowed)
      expect(engine.defaultSeconds).toBe(byItself)
      expect(secondsMax(engine)).toBe(longest)
      expect(engine.requiresVideo).toBe(needsVideo)
      expect(allowsDuration(engine, byItself)).toBe(true)
    },
  )

  test.each([
    ['family-a', 4, true],
    ['family-a', 4.5, true],
    ['family-a', 15, true],
    ['family-a', 15.1, false],
    ['family-a', 3.9, false],
    ['family-e', 6, true],
    ['family-e', 5, false],
    ['family-e', 6.5, false],
    ['family-a', Number.NaN, false],
  ] as const)('%s with %d seconds: %p', (name, seconds, allowed) => {
    expect(allowsDuration(engines[name], seconds)).toBe(allowed)
  })

  test('only rows of family F must pin a duration', () => {
    const pinned = Object.entries(engines).filter(([, engine]) => engine.requiresPin)

    expect(pinned.map(([name]) => name)).toEqual(['family-f'])
  })
})
