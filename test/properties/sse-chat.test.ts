import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../src/domain/errors.ts'
import { usd } from '../../src/domain/money.ts'
import { NO_USAGE } from '../../src/domain/pricing/usage.ts'
import { runStream } from '../support/chat-stream-run.ts'
import { anyEnd, anyFrame, MODEL, readsOf } from './sse-streams.ts'

const UPSTREAM = 'up-1'
/** Numbers that no generated usage has, to recognize a frame made from them. */
const charge = { cost: usd('0.123456789'), usage: { ...NO_USAGE, input: 2 ** 40, output: 2 ** 41 } }

const failure = new GatewayError('upstream_error', 'The model stopped.')

const anyStream = fc
  .record({
    frames: fc.array(anyFrame, { maxLength: 10 }),
    end: anyEnd,
    choices: fc.integer({ min: 1, max: 3 }),
  })
  .chain(({ frames, end, choices }) => {
    const template = frames.map(frame => frame.text).join('') + end
    return fc.record({
      template: fc.constant(template),
      reads: readsOf(named(template, UPSTREAM)),
      reported: fc.constant(frames.findLast(frame => frame.usage !== undefined)?.usage),
      choices: fc.constant(choices),
    })
  })

test('any chat stream in any pieces arrives byte for byte', () => {
  fc.assert(
    fc.property(anyStream, ({ template, reads, choices }) => {
      const { before, after } = runStream(reads, { choices, charge })

      expect(before + after).toBe(named(template, UPSTREAM))
    }),
    { numRuns: 500 },
  )
})

test('any chat stream with include_usage changes only in its model and one cost', () => {
  fc.assert(
    fc.property(anyStream, ({ template, reads, choices }) => {
      const { before, after } = runStream(reads, { choices, charge, rewriteModel: 'row' })

      const cost = '"cost_usd":"0.123456789"'
      expect(before).not.toContain(cost)
      expect(after.split(cost)).toHaveLength(2)
      const withoutCost = withoutMadeFrames(after, template).replace(`,${cost}`, '')
      expect(before + withoutCost).toBe(named(template, 'row'))
    }),
    { numRuns: 500 },
  )
})

test('the meter reads the same from a chat stream in any pieces', () => {
  fc.assert(
    fc.property(anyStream, ({ template, reads, reported, choices }) => {
      const { reading } = runStream(reads, { choices })

      expect(reading).toEqual(runStream([named(template, UPSTREAM)], { choices }).reading)
      expect(reading.usage).toEqual(
        reported === undefined
          ? null
          : { ...NO_USAGE, input: reported.prompt_tokens, output: reported.completion_tokens },
      )
    }),
    { numRuns: 500 },
  )
})

test('a chat stream cut anywhere ends well, or with one error after the complete frames', () => {
  fc.assert(
    fc.property(anyStream, fc.double({ min: 0, max: 1, noNaN: true }), ({ template, choices }, share) => {
      const bytes = new TextEncoder().encode(named(template, UPSTREAM))
      const cut = bytes.slice(0, Math.floor(bytes.length * share))

      const { before, after, reading } = runStream([cut], { choices, failure })

      if (reading.endedWell) return
      const parts = (before + after).split(/(?:\n\n)?data: \{"error"/)
      expect(parts).toHaveLength(2)
      expect(new TextDecoder().decode(cut)).toStartWith(parts[0]!.trimEnd())
      expect(before + after).not.toContain('[DONE]')
    }),
    { numRuns: 500 },
  )
})

function named(template: string, model: string): string {
  return template.replaceAll(MODEL, model)
}

/** Without the usage and the `[DONE]` that the upstream did not send. */
function withoutMadeFrames(text: string, template: string): string {
  const sent = text.replace(/data: [^\r\n]*"prompt_tokens":1099511627776[^\r\n]*\n\n/, '')
  return template.includes('[DONE]') ? sent : sent.replace(/data: \[DONE\]\n\n$/, '')
}
