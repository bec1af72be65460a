import { describe, expect, test } from 'bun:test'
import { ProducedText, SAMPLE_BYTES_MAX } from './produced-text.ts'

function sampleOf(texts: readonly string[]) {
  const produced = new ProducedText()
  for (const text of texts) produced.add(0, text)
  return { texts: produced.texts(), scale: produced.scale }
}

describe('the kept text of a stream', () => {
  test('the kept text of a stream is all of an ordinary answer, with any characters', () => {
    expect(sampleOf(['Grüße, ', '世', '界 🙂', '', '.'.repeat(1000)])).toEqual({
      texts: [`Grüße, 世界 🙂${'.'.repeat(1000)}`],
      scale: 1,
    })
  })

  test('the kept text of a stream is bounded, and its scale is the ratio of all text to the kept text', () => {
    const { texts, scale } = sampleOf(Array<string>(100_000).fill('word '))

    expect(texts[0]!.length).toBeLessThanOrEqual(SAMPLE_BYTES_MAX)
    expect(texts[0]!.length).toBeGreaterThan(SAMPLE_BYTES_MAX - 100)
    expect(texts[0]!.length * scale).toBeCloseTo(500_000, 3)
  })

  test('the kept text of a stream is the start of a first delta that is too large', () => {
    const { texts, scale } = sampleOf(['x'.repeat(1_000_000)])

    expect(texts[0]!.length).toBeLessThanOrEqual(SAMPLE_BYTES_MAX)
    expect(texts[0]!.length * scale).toBeCloseTo(1_000_000, 3)
  })

  test('the kept text of a stream weighs a character beyond ASCII as four', () => {
    const ascii = Array<string>(30).fill('x'.repeat(500))
    const others = Array<string>(10).fill('世'.repeat(400))

    const { scale } = sampleOf([...ascii, ...others])

    expect(scale).toBeCloseTo((30 * 125 + 10 * 400) / (30 * 125 + keptOf(others) * 400), 5)
  })
})

/** The number of 1,200-byte deltas that fit after 15,000 bytes. */
function keptOf(deltas: readonly string[]): number {
  return Math.min(deltas.length, Math.floor((SAMPLE_BYTES_MAX - 15_000) / 1_200))
}
