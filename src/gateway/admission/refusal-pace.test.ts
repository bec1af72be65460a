import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { REFUSALS_AT_ONCE, RefusalPace, TURN_MS } from './refusal-pace.ts'

/** Paced refusals, of which `refuse` adds some of one key. `sent` has the keys of those that were sent, in order. */
function openPace() {
  const clock = fakeClock()
  const pace = new RefusalPace(clock)
  const sent: string[] = []
  const refuse = (apiKeyId: string, count: number) => {
    for (let index = 0; index < count; index += 1) {
      const turn = pace.turn(apiKeyId)
      if (turn === undefined) sent.push(apiKeyId)
      else void turn.then(() => sent.push(apiKeyId))
    }
  }
  /** Advances the clock turn by turn, so that each refusal is sent in its own turn. */
  const pass = async (ms: number) => {
    for (let passedMs = 0; passedMs < ms; passedMs += TURN_MS) {
      clock.advance(TURN_MS)
      await Promise.resolve()
    }
  }
  return { clock, sent, refuse, pass }
}

describe('the refusals of a key', () => {
  test('a number of them in a second is sent at once, and the others one in each turn', async () => {
    const { sent, refuse, pass } = openPace()

    refuse('flood', REFUSALS_AT_ONCE + 9)

    expect(sent).toHaveLength(REFUSALS_AT_ONCE)
    await pass(TURN_MS)
    expect(sent).toHaveLength(REFUSALS_AT_ONCE + 1)
  })

  test('they are sent at once again in the next second', async () => {
    const { sent, refuse, pass } = openPace()
    refuse('flood', REFUSALS_AT_ONCE)
    await pass(1000)

    refuse('flood', REFUSALS_AT_ONCE)

    expect(sent).toHaveLength(2 * REFUSALS_AT_ONCE)
  })

  test('none waits for more than a second, however many wait', async () => {
    const { clock, sent, refuse, pass } = openPace()
    const count = REFUSALS_AT_ONCE + 5003

    refuse('flood', count)
    await pass(1000)

    expect(sent).toHaveLength(count)
    expect(clock.waiting).toBe(0)
  })

  test('many that wait are spread evenly over the second', async () => {
    const { sent, refuse, pass } = openPace()

    refuse('flood', REFUSALS_AT_ONCE + 5000)
    await pass(500)

    expect(sent).toHaveLength(REFUSALS_AT_ONCE + 2500)
  })

  test('they do not delay the refusals of another key', () => {
    const { sent, refuse } = openPace()
    refuse('flood', REFUSALS_AT_ONCE + 1000)

    refuse('other', 1)

    expect(sent.at(-1)).toBe('other')
  })
})
