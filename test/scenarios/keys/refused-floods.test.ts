import { afterEach, beforeEach, expect, test } from 'bun:test'
import { REFUSALS_AT_ONCE } from '../../../src/gateway/admission/refusal-pace.ts'
import { chat, startLimitedGateway, type LimitedGateway } from '../gateways/limited-gateway.ts'
import { until } from '../../support/until.ts'

let gateway: LimitedGateway

beforeEach(async () => {
  gateway = await startLimitedGateway()
})
afterEach(() => gateway.stop())

const LATE = 20

test.each([
  ['the requests of a minute', { limits: { requests_per_minute: 1 } }, 429],
  ['a budget', { budgets: { total: '0' } }, 402],
])(
  'a flood of requests above %s is refused at a bounded pace, and other keys do not wait',
  async (_, limits, status) => {
    const flooding = await gateway.aKey(limits)
    const other = await gateway.aKey()
    await (await gateway.send(flooding, chat({ model: 'gpt-x' }))).text()
    const refused: number[] = []
    // The first request of a budget was refused too.
    const count = REFUSALS_AT_ONCE + LATE - (status === 402 ? 1 : 0)
    const flood = Array.from({ length: count }, async () => {
      const reply = await gateway.send(flooding, chat({ model: 'gpt-x' }))
      await reply.text()
      refused.push(reply.status)
    })
    await until('the first refusals are sent', () => refused.length === count - LATE)

    const passing = await gateway.send(other, chat({ model: 'gpt-x' }))

    expect(passing.status).toBe(200)
    expect(refused).toHaveLength(count - LATE)
    await until('the other refusals are sent', () => {
      gateway.clock.advance(10)
      return refused.length === count
    })
    await Promise.all(flood)
    expect(new Set(refused)).toEqual(new Set([status]))
  },
)
