import { describe, expect, test } from 'bun:test'
import { usd } from '../../money.ts'
import { mediaKinds } from '../media-kinds.ts'
import { decodeModel, encodeModel } from './model-row.ts'
import { nearest, nearestFew } from './nearest.ts'
import { formatPath, PROBLEMS_MAX, rowsRefusal } from './problem.ts'
import { decodeProvider, decodeStoredProvider, encodeProvider } from './provider-row.ts'

const upstreams = [{ provider: 'main', model: 'x' }]

describe('a model row', () => {
  test('a model row with upstream_cost has a default markup of one', () => {
    const decoded = decodeModel({
      id: 'x',
      kind: 'embedding',
      upstreams,
      pricing: 'upstream_cost',
      ceiling_pricing: { input_per_mtok: '3' },
    })

    expect(decoded.ok && decoded.value.pricing).toEqual({
      kind: 'upstream_cost',
      markupBillionths: 1_000_000_000n,
      ceiling: { input: usd('3'), output: usd('0') },
    })
  })

  test('a model row may have prices of zero', () => {
    const pricing = { input_per_mtok: '0', output_per_mtok: '0', per_request: '0.000000001' }
    const decoded = decodeModel({ id: 'x', kind: 'chat', upstreams, pricing, max_output_tokens: 1 })

    expect(decoded.ok && encodeModel(decoded.value)['pricing']).toEqual(pricing)
  })

  test('a model row writes prices in their canonical form', () => {
    const pricing = { input_per_mtok: '02.500', output_per_mtok: '10.0' }
    const decoded = decodeModel({ id: 'x', kind: 'chat', upstreams, pricing, max_output_tokens: 1 })

    expect(decoded.ok && encodeModel(decoded.value)['pricing']).toEqual({
      input_per_mtok: '2.5',
      output_per_mtok: '10',
    })
  })

  test('a model row may have tiers of prices for long inputs', () => {
    const pricing = {
      input_per_mtok: '1',
      output_per_mtok: '10',
      tiers: [
        { above_input_tokens: 200_000, input_per_mtok: '2' },
        { above_input_tokens: 500_000, output_per_mtok: '20', per_request: '0.1' },
      ],
    }
    const decoded = decodeModel({ id: 'x', kind: 'chat', upstreams, pricing, max_output_tokens: 1 })

    expect(decoded.ok && encodeModel(decoded.value)['pricing']).toEqual(pricing)
  })

  test.each([
    ['without a start', [{ input_per_mtok: '2' }], 'pricing.tiers[0].above_input_tokens'],
    ['in another order', [{ above_input_tokens: 2 }, { above_input_tokens: 1 }], 'pricing.tiers[1]'],
    [
      'with the same start',
      [{ above_input_tokens: 2, per_request: '1' }, { above_input_tokens: 2 }],
      'pricing.tiers[1]',
    ],
    ['with an unknown price', [{ above_input_tokens: 2, price: '1' }], 'pricing.tiers[0].price'],
    ['that is not a list', { above_input_tokens: 2 }, 'pricing.tiers'],
  ])('a model row with tiers %s is rejected', (_, tiers, place) => {
    const pricing = { input_per_mtok: '1', output_per_mtok: '10', tiers }
    const decoded = decodeModel({ id: 'x', kind: 'chat', upstreams, pricing, max_output_tokens: 1 })

    expect(decoded.ok ? [] : decoded.problems.map(({ path }) => formatPath(path))).toEqual([place])
  })

  test.each([
    ['chat', { input_per_mtok: '1', output_per_mtok: '4', service_tiers: { flex: '0.5' } }],
    ['embedding', { input_per_mtok: '0.01' }],
    ['image', { per_image: '0.03' }],
    [
      'image',
      {
        text_input_per_mtok: '5',
        image_input_per_mtok: '10',
        image_output_per_mtok: '40',
        max_per_image: '0.2',
      },
    ],
    ['video', { per_second: '0.05' }],
  ])('an upstream of a %s row may have a cost in the shape of the pricing', (kind, cost) => {
    const upstream = { provider: 'main', model: 'x', cost }
    const engine = kind === 'video' ? { engine: 'family-a' } : {}
    const decoded = decodeModel({ id: 'x', kind, enabled: false, upstreams: [upstream], ...engine })

    expect(decoded.ok && encodeModel(decoded.value)['upstreams']).toEqual([upstream])
  })

  test.each([
    ['chat', 'free', 'upstreams[0].cost is "free"; write {input_per_mtok: "2.5", output_per_mtok: "10"}'],
    ['chat', { input_per_mtok: '1' }, /^upstreams\[0\]\.cost\.output_per_mtok is missing/],
    ['image', { per_second: '1' }, /^upstreams\[0\]\.cost\.per_second is not a field of this pricing/],
    ['video', { per_second: 0.1 }, 'upstreams[0].cost.per_second is a number; write it in quotes: "0.1"'],
    ['embedding', { input_per_mtok: '-1' }, /^upstreams\[0\]\.cost\.input_per_mtok is "-1"/],
  ])(
    'an upstream of a %s row with the cost %p is rejected with the field and a remedy',
    (kind, cost, said) => {
      const engine = kind === 'video' ? { engine: 'family-a' } : {}
      const upstreams = [{ provider: 'main', model: 'x', cost }]
      const decoded = decodeModel({ id: 'x', kind, enabled: false, upstreams, ...engine })

      const [problem] = decoded.ok ? [] : decoded.problems
      const text = problem && `${formatPath(problem.path)} ${problem.message}; ${problem.remedy}`
      if (typeof said === 'string') expect(text).toBe(said)
      else expect(text).toMatch(said)
    },
  )

  test('a model row may lack its price and output ceiling while disabled, and cannot be enabled without them', () => {
    const draft = decodeModel({ id: 'x', kind: 'chat', upstreams, enabled: false })
    if (!draft.ok) throw new Error('The draft was rejected.')

    const switchedOn = decodeModel({ ...encodeModel(draft.value), enabled: true })

    expect(switchedOn.ok ? [] : switchedOn.problems.map(({ path }) => formatPath(path))).toEqual([
      'pricing',
      'max_output_tokens',
    ])
  })

  test('a model row is rejected for a wrong value even while disabled', () => {
    const decoded = decodeModel({
      id: 'x',
      kind: 'chat',
      upstreams,
      enabled: false,
      pricing: { input_per_mtok: 1 },
    })

    expect(decoded.ok).toBe(false)
  })

  test.each(['constructor', '__proto__', 'toString'])('a model row has no field named %s', field => {
    const row = Object.fromEntries([
      ['id', 'x'],
      ['kind', 'embedding'],
      ['pricing', 'free'],
      ['upstreams', upstreams],
      [field, 1],
    ])

    const decoded = decodeModel(row)

    expect(decoded.ok ? [] : decoded.problems.map(({ path }) => formatPath(path))).toEqual([field])
  })
})

describe('a provider row', () => {
  const row = { id: 'main', kind: 'openai-compatible', base_url: 'https://api.example.com/v1' }

  test.each([
    ['https://api.example.com/v1/', 'https://api.example.com/v1'],
    ['HTTPS://API.example.com', 'https://api.example.com'],
    ['http://127.0.0.1:8080//', 'http://127.0.0.1:8080'],
  ])('a provider row normalizes the base_url %p to %p', (written, taken) => {
    const decoded = decodeProvider({ ...row, base_url: written })

    expect(decoded.ok && decoded.value.baseUrl).toBe(taken)
  })

  test.each([
    [undefined, { from: 'none' }, undefined],
    ['env:MAIN_API_KEY', { from: 'environment', variable: 'MAIN_API_KEY' }, 'env:MAIN_API_KEY'],
    ['sk-hunter2', { from: 'literal', value: 'sk-hunter2' }, '<stored>'],
    ['<stored>', { from: 'keep' }, '<stored>'],
  ])('a provider row reads the api_key %p and writes it without its secret', (written, secret, shown) => {
    const decoded = decodeProvider({ ...row, api_key: written })

    expect(decoded.ok && decoded.value.secret).toEqual(secret as never)
    expect(decoded.ok && encodeProvider(decoded.value)['api_key']).toBe(shown)
  })

  test.each([
    [{ cost_field: 'usage.estimated_cost' }],
    [{ cost_field: 'usage.cost.total_cost', cost_unit: 'cents' }],
    [{ cost_header: 'x-cost', cost_unit: 'ticks' }],
    [{ usage_style: 'gemini', bills_refused: 'content_filter' }],
  ])('a provider row keeps how the provider reports and bills: %j', fields => {
    const decoded = decodeProvider({ ...row, ...fields })

    expect(decoded.ok && encodeProvider(decoded.value)).toEqual({ ...row, ...fields })
  })

  test('a provider row reads a cost without a unit in dollars', () => {
    const fields = { cost_field: 'usage.cost' }
    const decoded = decodeProvider({ ...row, ...fields, cost_unit: 'usd' })

    expect(decoded.ok && encodeProvider(decoded.value)).toEqual({ ...row, ...fields })
  })

  test.each([
    [
      { cost_field: 'cost' },
      'cost_field is "cost"; write the path of a member of the usage, such as usage.estimated_cost.',
    ],
    [{ cost_field: 'usage' }, 'cost_field is "usage"; write the path of a member of the usage'],
    [{ cost_field: 'usage..cost' }, 'cost_field is "usage..cost"; write the path'],
    [{ cost_field: 'usage.cost', cost_unit: 'cent' }, 'did you mean "cents"?'],
    [
      { cost_unit: 'ticks' },
      'cost_unit is only used with cost_field or cost_header; add the field or header with the cost, or leave cost_unit out.',
    ],
    [{ usage_style: 'google' }, 'usage_style is "google"; write one of gemini'],
    [{ bills_refused: true }, 'bills_refused is true; write one of content_filter'],
  ])('a provider row is refused with %j', (fields, message) => {
    const decoded = decodeProvider({ ...row, ...fields })

    expect(decoded.ok ? '' : rowsRefusal(decoded.problems).message).toContain(message)
  })

  test.each([
    ['https://api.example.com/v1/chat/completions', '/chat/completions', 'https://api.example.com/v1'],
    ['https://api.example.com/v1/responses/', '/responses', 'https://api.example.com/v1'],
    ['https://api.example.com/v1/embeddings', '/embeddings', 'https://api.example.com/v1'],
    ['https://api.example.com/v1/messages', '/messages', 'https://api.example.com/v1'],
    ['https://api.example.com/v1/images/generations', '/images/generations', 'https://api.example.com/v1'],
    ['https://api.example.com/v1/videos/text2video', '/v1/videos/text2video', 'https://api.example.com'],
    [
      'https://x.example/v1beta/models/a:predictLongRunning',
      '/models/a:predictLongRunning',
      'https://x.example/v1beta',
    ],
    ['https://api.example.com/v1/video_generation', '/v1/video_generation', 'https://api.example.com'],
    [
      'https://api.example.com/v2/query/video_generation',
      '/v2/query/video_generation',
      'https://api.example.com',
    ],
    [
      'https://x.example/api/v3/contents/generations/tasks',
      '/contents/generations/tasks',
      'https://x.example/api/v3',
    ],
  ])(
    'a provider row with the base_url %p is refused for its route %p, and %p is suggested',
    (written, route, base) => {
      const decoded = decodeProvider({ ...row, base_url: written })

      expect(decoded.ok ? [] : decoded.problems).toEqual([
        {
          path: ['base_url'],
          message: `ends in the route "${route}", which the gateway appends`,
          remedy: `write "${base}"`,
        },
      ])
    },
  )

  test('a provider row whose base_url ends in a route can still be read from the store', () => {
    const decoded = decodeStoredProvider({ ...row, base_url: 'https://api.example.com/v1/responses' })

    expect(decoded.ok && decoded.value.baseUrl).toBe('https://api.example.com/v1/responses')
  })

  test.each<object>([
    { headers: { 'x-api-key': 'hunter2' } },
    { api_key_header: 'accept' },
    { base_url: 'https://api.example.com/v1?code=hunter2' },
  ])('a provider row with a key in a wrong place can still be read from the store: %p', change => {
    expect(decodeStoredProvider({ ...row, ...change }).ok).toBe(true)
    expect(decodeProvider({ ...row, ...change }).ok).toBe(false)
  })

  test('a provider row can have a key in a header from a variable', () => {
    const headers = { 'x-api-key': 'env:MAIN_KEY', cookie: 'env:MAIN_COOKIE' }

    const decoded = decodeProvider({ ...row, headers })

    expect(decoded.ok && decoded.value.headers).toEqual(headers)
  })

  test.each([
    ['${MAIN_API_KEY}', 'write env:MAIN_API_KEY'],
    ['${env:MAIN_API_KEY}', 'write env:MAIN_API_KEY'],
    ['${MAIN_API_KEY:-hunter2}', 'write env:MAIN_API_KEY'],
    ['${hunter2', 'write env:NAME'],
    ['$MAIN_API_KEY', 'write env:NAME'],
    ['$(cat hunter2)', 'write env:NAME'],
    ['{{ hunter2 }}', 'write env:NAME'],
    ['%MAIN_API_KEY%', 'write env:NAME'],
  ])('a provider row with the api_key %p is refused, and the right form is shown: %s', (written, remedy) => {
    const decoded = decodeProvider({ ...row, api_key: written })

    expect(decoded.ok ? [] : decoded.problems).toEqual([
      {
        path: ['api_key'],
        message: 'is written as a shell variable, and those are not expanded',
        remedy,
      },
    ])
    expect(JSON.stringify(decoded)).not.toContain('hunter2')
  })

  test('a provider row with two keys in the form of a shell is refused, and the right form is shown', () => {
    const decoded = decodeProvider({ ...row, kind: 'kling', api_key: '${ACCESS},${SECRET}' })

    expect(decoded.ok ? [] : decoded.problems.map(({ remedy }) => remedy)).toEqual([
      'write env:ACCESS_KEY,env:SECRET_KEY',
    ])
  })

  test.each([
    [
      'env:ACCESS,env:SECRET',
      { from: 'environment_pair', variables: ['ACCESS', 'SECRET'] },
      'env:ACCESS,env:SECRET',
    ],
    ['env:BOTH', { from: 'environment', variable: 'BOTH' }, 'env:BOTH'],
    ['access,secret', { from: 'literal', value: 'access,secret' }, '<stored>'],
    ['<stored>', { from: 'keep' }, '<stored>'],
  ])('a provider row of a provider with two keys reads the api_key %p', (written, secret, shown) => {
    const decoded = decodeProvider({ ...row, kind: 'kling', api_key: written })

    expect(decoded.ok && decoded.value.secret).toEqual(secret as never)
    expect(decoded.ok && encodeProvider(decoded.value)['api_key']).toBe(shown)
  })

  test.each([
    'hunter2',
    'hunter2,',
    ',hunter2',
    'a,hunter2,c',
    'env:A,hunter2',
    'hunter2,env:A',
    'env:A,env:',
    'env:A,env:B,env:C',
  ])('a provider row of a provider with two keys refuses the api_key %p without repeating it', written => {
    const decoded = decodeProvider({ ...row, kind: 'kling', api_key: written })

    const [problem] = decoded.ok ? [] : decoded.problems
    expect(problem?.message).toBe('is not an access key and a secret key')
    expect(JSON.stringify(problem)).not.toContain('hunter2')
  })

  test('a provider row of a provider with one key refuses two environment variables', () => {
    const decoded = decodeProvider({ ...row, api_key: 'env:ACCESS,env:SECRET' })

    expect(decoded.ok).toBe(false)
  })

  test('a provider row of a kind with one well-known API has its base_url by default', () => {
    const decoded = decodeProvider({ id: 'main', kind: 'fal' })
    const own = decodeProvider({ id: 'main', kind: 'fal', base_url: 'https://proxy.example/fal' })

    expect(decoded.ok && decoded.value.baseUrl).toBe('https://queue.fal.run')
    expect(own.ok && own.value.baseUrl).toBe('https://proxy.example/fal')
  })

  test.each(Object.keys(mediaKinds))(
    'a provider row of kind %s has no text routes, and no field for them',
    kind => {
      const decoded = decodeProvider({ ...row, kind })
      const withRoutes = decodeProvider({ ...row, kind, routes: ['chat'] })

      expect(decoded.ok && decoded.value.routes).toEqual([])
      expect(decoded.ok && Object.keys(encodeProvider(decoded.value))).toEqual(['id', 'kind', 'base_url'])
      expect(withRoutes.ok ? [] : withRoutes.problems.map(({ path }) => formatPath(path))).toEqual(['routes'])
    },
  )

  test('a provider row is the same row in any order and case of its headers and routes', () => {
    const left = decodeProvider({
      ...row,
      headers: { 'X-B': '1', 'x-a': '2' },
      routes: ['embeddings', 'chat'],
    })
    const right = decodeProvider({
      ...row,
      headers: { 'x-a': '2', 'x-b': '1' },
      routes: ['chat', 'embeddings'],
    })

    const rows = [left, right].map(decoded => decoded.ok && JSON.stringify(encodeProvider(decoded.value)))
    expect(rows[0]).toBe(rows[1])
    expect(rows[0]).toContain('"x-a":"2","x-b":"1"')
  })
})

describe('the error for invalid rows', () => {
  test('the error for invalid rows lists every problem, and has the first field as its param', () => {
    const decoded = decodeModel({ id: 'x', kind: 'chat', upstreams, pricing: { input_per_mtok: 1 } })

    const refusal = rowsRefusal(decoded.ok ? [] : decoded.problems)

    expect(refusal.code).toBe('invalid_field')
    expect(refusal.extras.param).toBe('max_output_tokens')
    expect(refusal.message).toContain('pricing.input_per_mtok is a number; write it in quotes: "1".')
  })

  test('the error for invalid rows has a bounded length for any input', () => {
    const row = Object.fromEntries(Array.from({ length: 500 }, (_, index) => ['z'.repeat(1000) + index, 1]))

    const decoded = decodeModel({ ...row, kind: 'image' })

    expect(decoded.ok ? 0 : decoded.problems.length).toBe(PROBLEMS_MAX)
    expect(rowsRefusal(decoded.ok ? [] : decoded.problems).message.length).toBeLessThan(20_000)
  })
})

describe('the suggested name', () => {
  const known = ['max_output_tokens', 'base_url', 'display_name', 'weight', 'order', 'pricing']

  test.each([
    ['max_tokens', 'max_output_tokens'],
    ['maxOutputTokens', 'max_output_tokens'],
    ['url', 'base_url'],
    ['name', 'display_name'],
    ['weigth', 'weight'],
    ['princing', 'pricing'],
    ['temperature', undefined],
    ['', undefined],
    ['x'.repeat(100_000), undefined],
  ])('the suggested name for %p is %p', (name, expected) => {
    expect(nearest(name, known)).toBe(expected as string)
  })
})

test('the suggested names are the nearest first, and not more than asked for', () => {
  const known = ['ada-lab', 'bob', 'ada', 'adam', 'eve']

  expect(nearestFew('Ada', known, 2)).toEqual(['ada', 'adam'])
  expect(nearestFew('adaa', known, 3)).toEqual(['ada', 'adam', 'ada-lab'])
  expect(nearestFew('zoe-smith', known, 3)).toEqual([])
})

test.each([
  ['api_key', { api_key: 'env:TOLLGATE_ADMIN_KEY' }],
  ['api_key', { kind: 'kling', api_key: 'env:MAIN_KEY,env:TOLLGATE_SECRET_KEY' }],
  ['headers', { headers: { 'x-team': 'env:tollgate_admin_key' } }],
])(
  'a setting of the gateway is refused as a variable in %s, and a stored row may have it',
  (field, members) => {
    const row = { id: 'main', kind: 'openai-compatible', base_url: 'https://example.com/v1', ...members }

    const decoded = decodeProvider(row)

    expect(decoded.ok ? [] : decoded.problems).toMatchObject([
      {
        path: expect.arrayContaining([field]),
        message: expect.stringContaining('names a setting of the gateway'),
      },
    ])
    expect(decodeStoredProvider(row).ok).toBe(true)
  },
)
