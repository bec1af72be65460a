import { expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aDestination, anAdmittedRequest } from '../../../test/support/upstream-rows.ts'
import { parseExactUsd, roundUpToNanoUsd } from '../../domain/pricing/exact-usd.ts'
import { NO_USAGE } from '../../domain/pricing/usage.ts'
import { RecentPrompts } from './recent-prompts.ts'
import { meterUsage, providerBillOf, type MeterPorts } from './settle-text.ts'

/** A request with an output ceiling of 100 tokens, and an answer without a usage. */
const admitted = anAdmittedRequest([aDestination('main')])
const produced = { usage: null, isClamped: false, texts: () => ['output'] }

const attempt = { destination: aDestination('main') }

/** Counts every list of texts with this number of tokens: first the request's, then the answer's. */
function counting(...counts: readonly number[]): MeterPorts {
  const left = counts.values()
  const recentPrompts = new RecentPrompts({ clock: fakeClock(), hash: () => 0 })
  return { tokenizer: { countTokens: async () => left.next().value ?? 0 }, recentPrompts }
}

test('a usage that the upstream reported is not estimated', async () => {
  const usage = { ...NO_USAGE, input: 3, output: 4 }

  const metered = await meterUsage(
    { ...produced, usage, isClamped: true },
    admitted,
    attempt,
    counting(1000, 1000),
  )

  expect(metered).toEqual({ usage, provenance: 'reported', isClamped: true })
})

test('an estimated input is at most the worst case of the request', async () => {
  const { usage, provenance } = await meterUsage(produced, admitted, attempt, counting(1_000_000, 1))

  expect({ input: usage.input, provenance }).toEqual({
    input: admitted.quote.worst.inputTokens,
    provenance: 'estimated',
  })
})

test('an estimated output is at most the ceiling of the request', async () => {
  const { usage } = await meterUsage(produced, admitted, attempt, counting(1, 1_000_000))

  expect(usage.output).toBe(100)
})

test('an output of which only a part was counted is scaled and rounded up', async () => {
  const { usage } = await meterUsage({ ...produced, textsScale: 2.1 }, admitted, attempt, counting(1, 10))

  expect(usage.output).toBe(21)
})

test('the part of an estimated input that begins like the last prompt counts as cached, and is marked', async () => {
  const ports = counting(8, 4)
  ports.recentPrompts.note(admitted, attempt.destination, { ...NO_USAGE, input: 2, cachedInput: 5 })

  const metered = await meterUsage(produced, admitted, attempt, ports)

  expect(metered).toMatchObject({
    usage: { input: 3, cachedInput: 5, output: 4 },
    provenance: 'estimated',
    assumedCached: 5,
  })
})

test('an input that the upstream reported at the start of a broken stream is not assumed', async () => {
  const ports = counting(4)
  ports.recentPrompts.note(admitted, attempt.destination, { ...NO_USAGE, input: 2, cachedInput: 5 })
  const inputUsage = { ...NO_USAGE, input: 7, cachedInput: 1 }

  const metered = await meterUsage({ ...produced, inputUsage }, admitted, attempt, ports)

  expect(metered.usage).toMatchObject({ input: 7, cachedInput: 1 })
  expect(metered.assumedCached).toBeUndefined()
})

test.each([
  ['0.25', 'usd', '0.25'],
  ['25', 'cents', '0.25'],
  ['2500000001', 'ticks', '0.2500000001'],
  [null, 'usd', '0.5'],
  [null, 'cents', '0.5'],
  ['not a cost', 'usd', '0.5'],
] as const)(
  'of a cost in the header of %p %s and one of 0.5 in the answer, %s counts',
  (header, costUnit, cost) => {
    const { provider, upstream } = aDestination('main')
    const { reported } = providerBillOf({ reportedCost: parseExactUsd('0.5')! }, header, {
      provider: { ...provider, costUnit },
      upstream,
    })

    expect(roundUpToNanoUsd(reported!)).toBe(roundUpToNanoUsd(parseExactUsd(cost)!))
  },
)
