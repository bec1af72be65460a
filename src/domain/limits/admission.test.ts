import { expect, test } from 'bun:test'
import { nanoUsd, usd, ZERO } from '../money.ts'
import { admit, admitRead, strictestRates, type LimitDecision, type ScopeState } from './admission.ts'
import { NOTHING_TOLD } from './periods.ts'
import { NO_TERMS, type ScopeKind, type Terms } from './scope.ts'
import { usageUnder, withDemand, withoutDemand, type Demand } from './scope-usage.ts'

const NOW = Date.parse('2026-11-23T12:00:00Z')

function aDemand(values: Partial<Demand> = {}): Demand {
  return { kind: 'text', tokens: 100, amount: usd('1'), ...values }
}

function aState(
  kind: ScopeKind,
  terms: Partial<Terms>,
  { open = [], spent = ZERO }: { open?: readonly Demand[]; spent?: ReturnType<typeof usd> } = {},
): ScopeState {
  const all = { ...NO_TERMS, ...terms }
  const usage = usageUnder(all, { open, spentSince: () => spent, told: () => NOTHING_TOLD, nowMs: NOW })
  return { scope: { kind, id: 1, model: '' }, terms: all, usage }
}

function refusalOf(decision: LimitDecision) {
  return decision.outcome === 'refused' ? decision.refusal : undefined
}

test('a request takes from all of its scopes', () => {
  const states = [
    aState('account', { budgets: { month: usd('20') } }),
    aState('key', { limits: { requests_per_minute: 60, tokens_per_minute: 1000, concurrent_requests: 2 } }),
  ]

  const decision = admit(states, aDemand(), NOW)

  expect(decision).toEqual({
    outcome: 'admitted',
    usages: states.map(({ usage, terms }) => withDemand(usage, terms, aDemand(), NOW)),
  })
})

test('the first scope that refuses is named, with the exact wait', () => {
  const account = aState('account', { limits: { requests_per_minute: 60 } })
  const key = aState('key', { limits: { requests_per_minute: 1 } })
  const used = { ...key, usage: withDemand(key.usage, key.terms, aDemand(), NOW) }

  const refusal = refusalOf(admit([account, used], aDemand(), NOW))

  expect(refusal).toEqual({ scope: key.scope, limit: 'requests_per_minute', allowed: 1, waitMs: 60_000 })
})

test('a request with more tokens than a minute allows never fits', () => {
  const key = aState('key', { limits: { tokens_per_minute: 99 } })

  expect(refusalOf(admit([key], aDemand(), NOW))).toEqual({
    scope: key.scope,
    limit: 'tokens_per_minute',
    allowed: 99,
    asked: 100,
    waitMs: undefined,
  })
})

test('an open request takes a slot until it ends', () => {
  const key = aState('key', { limits: { concurrent_requests: 1 } }, { open: [aDemand()] })
  const ended = withoutDemand(key.usage, key.terms, aDemand(), { tokens: 0, cost: ZERO, atMs: NOW })

  expect(refusalOf(admit([key], aDemand(), NOW))).toEqual({
    scope: key.scope,
    limit: 'concurrent_requests',
    allowed: 1,
  })
  expect(admit([{ ...key, usage: ended }], aDemand(), NOW).outcome).toBe('admitted')
})

test('a budget is reached exactly, and not passed by the smallest amount', () => {
  const key = aState('key', { budgets: { day: usd('10') } }, { spent: usd('9') })

  expect(admit([key], aDemand({ amount: usd('1') }), NOW).outcome).toBe('admitted')
  expect(refusalOf(admit([key], aDemand({ amount: usd('1.000000001') }), NOW))).toEqual({
    scope: key.scope,
    limit: 'budget',
    period: 'day',
    allowed: usd('10'),
    spent: usd('9'),
    reserved: ZERO,
    remaining: usd('1'),
    affordable: usd('1'),
    isReserved: false,
    resetsAtMs: Date.parse('2026-11-24'),
  })
})

test('a request that would fit once running text requests end is refused for now only', () => {
  const terms = { budgets: { day: usd('10') } }
  const text = aState('key', terms, { open: [aDemand({ amount: usd('9.5') })] })
  const media = aState('key', terms, { open: [aDemand({ kind: 'media', amount: usd('9.5') })] })

  expect(refusalOf(admit([text], aDemand(), NOW))).toMatchObject({ isReserved: true, remaining: usd('0.5') })
  expect(refusalOf(admit([text], aDemand({ kind: 'media' }), NOW))).toMatchObject({ isReserved: false })
  expect(refusalOf(admit([media], aDemand(), NOW))).toMatchObject({ isReserved: false })
})

test('of several budgets that refuse, the one that resets last is named', () => {
  const budgets = { day: usd('1'), total: usd('1'), month: usd('1') }
  const spent = { spent: usd('1') }

  expect(refusalOf(admit([aState('key', { budgets }, spent)], aDemand(), NOW))).toMatchObject({
    period: 'total',
    resetsAtMs: undefined,
  })
  const { total: _, ...others } = budgets
  expect(refusalOf(admit([aState('key', { budgets: others }, spent)], aDemand(), NOW))).toMatchObject({
    period: 'month',
    resetsAtMs: Date.parse('2026-12-01'),
  })
})

test('the affordable amount is what the scarcest budget of all scopes has left', () => {
  const states = [
    aState('account', { budgets: { month: usd('0.9') } }),
    aState('key', { budgets: { total: usd('0.2'), day: usd('5') } }),
  ]

  expect(refusalOf(admit(states, aDemand(), NOW))).toMatchObject({
    period: 'month',
    remaining: usd('0.9'),
    affordable: usd('0.2'),
  })
})

test('the affordable amount is at most what is free of the balance, and not below zero', () => {
  const states = [aState('key', { budgets: { day: usd('0.9') } })]

  expect(refusalOf(admit(states, aDemand(), NOW, usd('0.3')))).toMatchObject({ affordable: usd('0.3') })
  expect(refusalOf(admit(states, aDemand(), NOW, nanoUsd(-1n)))).toMatchObject({ affordable: ZERO })
})

test('a free request passes a budget that is overspent', () => {
  const key = aState('key', { budgets: { day: usd('1') } }, { spent: usd('2') })

  expect(admit([key], aDemand({ amount: ZERO }), NOW).outcome).toBe('admitted')
})

test('a read counts as a request of the minute and as nothing else', () => {
  const terms = { limits: { requests_per_minute: 1, concurrent_requests: 1 }, budgets: { day: ZERO } }
  const key = aState('key', terms, { open: [aDemand()] })

  const first = admitRead([key], NOW)
  const usage = first.outcome === 'admitted' ? first.usages[0]! : key.usage

  expect(first.outcome).toBe('admitted')
  expect(usage.running).toBe(1)
  expect(refusalOf(admitRead([{ ...key, usage }], NOW))).toMatchObject({ limit: 'requests_per_minute' })
})

test('the strictest scope for each kind of limit is the one with the least left', () => {
  const states = [
    aState('account', { limits: { requests_per_minute: 100, tokens_per_minute: 10 } }),
    aState('key', { limits: { requests_per_minute: 60, tokens_per_minute: 20 } }),
    aState('key_model', { budgets: { day: usd('1') } }),
  ]

  expect(strictestRates(states, NOW)).toEqual({
    requests: { limit: 60, remaining: 60, resetMs: 0 },
    tokens: { limit: 10, remaining: 10, resetMs: 0 },
  })
  expect(strictestRates([states[2]!], NOW)).toEqual({})
})

test('new terms count what was spent and is open, and keep the requests of the last minute', () => {
  const before = aState('key', { limits: { requests_per_minute: 60 } })
  const used = withDemand(before.usage, before.terms, aDemand(), NOW)
  const terms = {
    limits: { requests_per_minute: 60, tokens_per_minute: 150, concurrent_requests: 5 },
    budgets: { week: usd('5') },
  }

  const usage = usageUnder(
    terms,
    { open: [aDemand()], spentSince: () => usd('2'), told: () => NOTHING_TOLD, nowMs: NOW },
    used,
  )

  expect(usage.requests).toEqual(used.requests)
  expect(usage.running).toBe(1)
  expect(usage.reserved).toEqual({ text: usd('1'), media: ZERO })
  expect(usage.spent.week?.spent).toBe(usd('2'))
  const state = { ...before, terms, usage }
  expect(refusalOf(admit([state], aDemand(), NOW))).toMatchObject({
    limit: 'tokens_per_minute',
    waitMs: 20_000,
  })
})

test('after the clock was set back, a refused request waits as long as it was told, and no longer', () => {
  const key = aState('key', { limits: { requests_per_minute: 1 } })
  const used = { ...key, usage: withDemand(key.usage, key.terms, aDemand(), NOW) }
  const hourBefore = NOW - 3_600_000

  const first = admit([used], aDemand(), hourBefore)
  const told = { ...used, usage: first.usages[0]! }

  expect(refusalOf(first)).toMatchObject({ waitMs: 60_000 })
  expect(refusalOf(admit([told], aDemand(), hourBefore + 59_999))).toMatchObject({ waitMs: 1 })
  expect(admit([told], aDemand(), hourBefore + 60_000).outcome).toBe('admitted')
})
