import { expect, test } from 'bun:test'
import { FAILING_MS_MIN, REPEAT_MS_MIN, watchAfter, type FailingUpstream } from './provider-alert.ts'

const NOW = 1_800_000_000_000

function failing(...models: readonly string[]): readonly FailingUpstream[] {
  return models.map(model => ({ provider: 'main', model, sinceMs: 0 }))
}

function look(told: readonly string[], seen: readonly FailingUpstream[], afterMs: number) {
  const watch = { told: { provider: 'main', models: told, atMs: NOW } }
  const now = { nowMs: NOW + afterMs, monotonicMs: FAILING_MS_MIN + afterMs }
  return watchAfter(watch, { provider: 'main', failing: seen }, now).news
}

test.each([
  [['a'], failing('b', 'a'), REPEAT_MS_MIN, ['a', 'b']],
  [['a'], failing('b', 'a'), REPEAT_MS_MIN - 1, undefined],
  [['a', 'b'], failing('a'), REPEAT_MS_MIN, undefined],
  [['a'], failing('a'), REPEAT_MS_MIN, undefined],
] as const)(
  'a provider whose models %j were told, and for which %j fail after %p ms, is told again with %j',
  (told, seen, afterMs, expected) => {
    expect(look(told, seen, afterMs)?.models).toEqual(expected && [...expected])
  },
)

test('only the models that fail for a minute are told', () => {
  const seen = [...failing('a'), { provider: 'main', model: 'b', sinceMs: 1 }]

  const { news } = watchAfter(
    {},
    { provider: 'main', failing: seen },
    { nowMs: NOW, monotonicMs: FAILING_MS_MIN },
  )

  expect(news).toEqual({ type: 'provider.failing', provider: 'main', models: ['a'], atMs: NOW })
})
