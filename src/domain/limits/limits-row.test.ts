import { expect, test } from 'bun:test'
import { formatPath } from '../catalog/rows/problem.ts'
import { GatewayError } from '../errors.ts'
import { usd } from '../money.ts'
import {
  decodeLimitsPatch,
  encodeLimits,
  encodeLimitsPatch,
  NO_LIMITS,
  patchLimits,
  termsOfModel,
  type LimitTerms,
} from './limits-row.ts'

const SET: LimitTerms = {
  limits: { requests_per_minute: 60, concurrent_requests: 5 },
  budgets: { month: usd('20') },
  perModel: { 'gpt-x': { limits: {}, budgets: { day: usd('0.5') } } },
}

function patchOf(body: unknown) {
  const decoded = decodeLimitsPatch(body)
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.problems))
  return decoded.value
}

test('the limits that were read are written in the same form', () => {
  const limits = patchLimits(NO_LIMITS, patchOf(encodeLimits(SET)))

  expect(limits).toEqual(SET)
  expect(encodeLimits(limits)).toEqual({
    limits: { requests_per_minute: 60, tokens_per_minute: null, concurrent_requests: 5 },
    budgets: { day: null, week: null, month: '20', total: null },
    per_model: {
      'gpt-x': {
        limits: { requests_per_minute: null, tokens_per_minute: null, concurrent_requests: null },
        budgets: { day: '0.5', week: null, month: null, total: null },
      },
    },
  })
})

test.each([
  ['an absent member', {}, SET],
  [
    'null for a limit',
    { limits: { requests_per_minute: null } },
    { ...SET, limits: { concurrent_requests: 5 } },
  ],
  ['null for all limits', { limits: null }, { ...SET, limits: {} }],
  ['null for a budget', { budgets: { month: null } }, { ...SET, budgets: {} }],
  ['null for a model', { per_model: { 'gpt-x': null } }, { ...SET, perModel: {} }],
  [
    'null for the last term of a model',
    { per_model: { 'gpt-x': { budgets: null } } },
    { ...SET, perModel: {} },
  ],
  ['null for all models', { per_model: null }, { ...SET, perModel: {} }],
  [
    'a new budget',
    { budgets: { week: '5', month: '30' } },
    { ...SET, budgets: { week: usd('5'), month: usd('30') } },
  ],
])('a change with %s keeps everything that it does not name', (_, body, expected) => {
  expect(patchLimits(SET, patchOf(body))).toEqual(expected as LimitTerms)
})

test.each([
  [{}],
  [{ limits: null, budgets: null, per_model: null }],
  [{ limits: { requests_per_minute: 60, tokens_per_minute: null }, budgets: { day: '0.5', total: null } }],
  [{ per_model: { 'gpt-x': null, 'gpt-y': { limits: null }, 'gpt-z': { budgets: { day: '5' } } } }],
])('the change %j is written as it was read', body => {
  expect(encodeLimitsPatch(patchOf(body))).toEqual(body)
})

test.each([
  ['limit', { limit: {} }, 'is not a field of a change of limits', 'did you mean limits?'],
  ['', [], 'is a list', 'write an object with limits, budgets, per_model'],
  ['limits.rpm', { limits: { rpm: 5 } }, 'is not a field', 'did you mean requests_per_minute?'],
  [
    'limits.requests_per_minute',
    { limits: { requests_per_minute: '60' } },
    'is "60"',
    'write a whole number',
  ],
  [
    'limits.requests_per_minute',
    { limits: { requests_per_minute: 0 } },
    'is 0',
    'write a whole number from 1',
  ],
  ['limits.tokens_per_minute', { limits: { tokens_per_minute: 1.5 } }, 'is 1.5', 'write a whole number'],
  ['budgets.month', { budgets: { month: 20 } }, 'is 20', 'write a decimal string of dollars such as "20"'],
  ['budgets.day', { budgets: { day: '-1' } }, 'is "-1"', 'write a decimal string'],
  ['budgets.day', { budgets: { day: '1000000000.1' } }, 'is "1000000000.1"', 'at most "1000000000"'],
  ['budgets.year', { budgets: { year: '1' } }, 'is not a field of the budgets', 'day, week, month, total'],
  ['budgets', { budgets: 'none' }, 'is "none"', 'write an object with day, week, month, total'],
  ['per_model.a b', { per_model: { 'a b': {} } }, 'is "a b"', 'write'],
  ['per_model.gpt-x.limits', { per_model: { 'gpt-x': { limits: 5 } } }, 'is 5', 'write an object with'],
  ['per_model.gpt-x.models', { per_model: { 'gpt-x': { models: [] } } }, 'is not a field', 'limits, budgets'],
])('a wrong value at "%s" is named, with what to write', (path, body, message, remedy) => {
  const decoded = decodeLimitsPatch(body)

  const [problem] = decoded.ok ? [] : decoded.problems
  expect(formatPath(problem!.path)).toBe(path)
  expect(problem!.message).toContain(message)
  expect(problem!.remedy).toContain(remedy)
})

test.each(['constructor', 'toString', 'valueOf'])(
  'a model with the name "%s" has its own limits, and none before it gets them',
  name => {
    const removed = patchLimits(SET, patchOf({ per_model: { [name]: null } }))
    const limited = patchLimits(
      SET,
      patchOf({ per_model: { [name]: { limits: { requests_per_minute: 3 } } } }),
    )

    expect(removed).toEqual(SET)
    expect(encodeLimits(limited)['per_model']).toHaveProperty([name, 'limits', 'requests_per_minute'], 3)
    expect(patchLimits(limited, patchOf({ per_model: { [name]: null } }))).toEqual(SET)
    expect(termsOfModel(SET, name)).toEqual({ limits: {}, budgets: {} })
  },
)

test('at most a hundred models can have their own limits', () => {
  const models = Array.from({ length: 101 }, (_, index) => [`m${index}`, { budgets: { day: '1' } }] as const)
  const patch = patchOf({ per_model: Object.fromEntries(models) })

  expect(() => patchLimits(NO_LIMITS, patch)).toThrow(
    new GatewayError('invalid_field', 'per_model has 101 models; write at most 100.'),
  )
})
