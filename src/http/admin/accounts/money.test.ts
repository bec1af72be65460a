import { afterAll, expect, test } from 'bun:test'
import { openAdminCalls } from '../../../../test/support/admin-calls.ts'

const { ok, refusal, close } = await openAdminCalls()
afterAll(close)

/** The account of the refusals. */
await ok('POST', 'accounts', { name: 'grantee' })

test('a grant is credited exactly, and is in the statement', async () => {
  const first = await ok('POST', 'accounts/grantee/grants', { amount_usd: '0.000000001', note: 'hello' })
  const second = await ok('POST', 'accounts/grantee/grants', { amount_usd: '12.50', source: 'top_up' })
  const { data } = await ok('GET', 'accounts/grantee/statement')
  const account = await ok('GET', 'accounts/grantee')

  expect(first).toMatchObject({ amount_usd: '0.000000001', available_usd: '0.000000001' })
  expect(second).toMatchObject({ amount_usd: '12.5', available_usd: '12.500000001' })
  expect(account).toMatchObject({ available_usd: '12.500000001' })
  expect(data).toMatchObject([
    { id: second.id, kind: 'top_up', amount_usd: '12.5', note: null },
    { id: first.id, kind: 'grant', amount_usd: '0.000000001', note: 'hello' },
  ])
})

test('a statement has pages, newest first', async () => {
  await ok('POST', 'accounts', { name: 'reader' })
  for (const amount_usd of ['1', '2', '3']) await ok('POST', 'accounts/reader/grants', { amount_usd })

  const first = await ok('GET', 'accounts/reader/statement?limit=2')
  const rest = await ok('GET', `accounts/reader/statement?limit=2&cursor=${first.next}`)

  expect(first.data.map(line => line['amount_usd'])).toEqual(['3', '2'])
  expect(rest).toMatchObject({ data: [{ amount_usd: '1' }], has_more: false, next: null })
})

test('a statement can be limited to kinds and to a time, and its pages keep to them', async () => {
  await ok('POST', 'accounts', { name: 'chooser' })
  for (const amount_usd of ['1', '2', '3']) await ok('POST', 'accounts/chooser/grants', { amount_usd })
  await ok('POST', 'accounts/chooser/grants', { amount_usd: '4', source: 'top_up' })
  await ok('POST', 'accounts/chooser/debits', { amount_usd: '5' })
  const amounts = async (query: string): Promise<readonly unknown[]> => {
    const { data, next } = await ok('GET', `accounts/chooser/statement?${query}`)
    return [...data.map(line => line['amount_usd']), next]
  }

  const first = await amounts('kind=grant&limit=2')
  const rest = await amounts(`kind=grant&limit=2&cursor=${String(first.at(-1))}`)
  const [{ at }] = (await ok('GET', 'accounts/chooser/statement?kind=top_up')).data as [{ at: string }]
  const after = new Date(Date.parse(at) + 1).toISOString()

  expect([...first, ...rest]).toEqual(['3', '2', expect.any(String), '1', null])
  expect(await amounts('kind=debit,top_up')).toEqual(['-5', '4', null])
  expect(await amounts(`kind=top_up&from=${at}&to=${after}`)).toEqual(['4', null])
  expect(await amounts(`kind=top_up&from=${after}`)).toEqual([null])
  expect(await amounts(`to=${at}`)).not.toEqual(await amounts(''))
  expect(await amounts('kind=loss')).toEqual([null])
})

test('a grant with an Idempotency-Key is credited once', async () => {
  await ok('POST', 'accounts', { name: 'careful' })
  const headers = { 'idempotency-key': 'invoice-17' }

  const first = await ok('POST', 'accounts/careful/grants', { amount_usd: '5' }, headers)
  const again = await ok('POST', 'accounts/careful/grants', { amount_usd: '5' }, headers)
  const other = await refusal('POST', 'accounts/careful/grants', { amount_usd: '6' }, headers)

  expect(again).toEqual({ ...first, is_repeat: true })
  expect(other).toMatchObject({ status: 409, code: 'idempotency_key_reuse' })
  expect(await ok('GET', 'accounts/careful')).toMatchObject({ available_usd: '5' })
})

test.each<[string, unknown, string]>([
  ['no amount', {}, 'amount_usd'],
  ['a JSON number', { amount_usd: 5 }, 'amount_usd'],
  ['an exponent', { amount_usd: '1e3' }, 'amount_usd'],
  ['ten decimals', { amount_usd: '0.0000000001' }, 'amount_usd'],
  ['zero', { amount_usd: '0' }, 'amount_usd'],
  ['a negative amount', { amount_usd: '-1' }, 'amount_usd'],
  ['more than a billion', { amount_usd: '1000000001' }, 'amount_usd'],
  ['an unknown source', { amount_usd: '1', source: 'cash' }, 'source'],
  ['a note that is not text', { amount_usd: '1', note: 1 }, 'note'],
  ['a long note', { amount_usd: '1', note: 'x'.repeat(501) }, 'note'],
  ['an unknown field', { amount_usd: '1', currency: 'EUR' }, 'currency'],
])('a grant with %s is refused with the field', async (_, body, param) => {
  await ok('POST', 'accounts', { name: `refused ${param} ${JSON.stringify(body).length}` }).catch(() => 0)

  const refused = await refusal('POST', 'accounts/grantee/grants', body)

  expect(refused).toMatchObject({ status: 400, code: 'invalid_field', param })
})

test('an Idempotency-Key with spaces is refused', async () => {
  const headers = { 'idempotency-key': 'two words' }

  const refused = await refusal('POST', 'accounts/grantee/grants', { amount_usd: '1' }, headers)

  expect(refused).toMatchObject({ status: 400, param: 'Idempotency-Key' })
})

test.each([
  ['accounts?limit=0', 'limit'],
  ['accounts?limit=501', 'limit'],
  ['accounts?limit=many', 'limit'],
  ['accounts?cursor=x', 'cursor'],
  ['audit?cursor=99999999999999999999', 'cursor'],
  ['usage?acount=ada', 'acount'],
  ['accounts/grantee/statement?before=1', 'before'],
  ['accounts/grantee/statement?kind=gift', 'kind'],
  ['accounts/grantee/statement?kind=grant,', 'kind'],
  ['accounts/grantee/statement?from=2026-11-01', 'from'],
  ['accounts/grantee/statement?to=yesterday', 'to'],
  ['accounts/grantee/statement?from=2026-12-01T00:00:00Z&to=2026-11-01T00:00:00Z', 'from'],
])('GET %s is refused with the parameter', async (path, param) => {
  const refused = await refusal('GET', path)

  expect(refused).toMatchObject({ status: 400, code: 'invalid_field', param })
})

test('usage without requests is an empty page', async () => {
  const usage = await ok('GET', 'usage?account=grantee')

  expect<object>(usage).toEqual({ data: [], has_more: false, next: null })
})

test('POST reconcile runs the reconciler and returns what it did', async () => {
  const pass = await ok('POST', 'reconcile')

  expect<object>(pass).toEqual({
    has_run: true,
    compensated: 0,
    compensated_usd: '0',
    closed: 0,
    expired: 0,
    jobs: {
      lost: 0,
      polled: 0,
      ended: 0,
      recovered: 0,
      released: 0,
      late_completions: 0,
      archived: 0,
      removed_files: 0,
      failed: 0,
    },
    failed: 0,
  })
})

test('POST verify checks the ledger', async () => {
  await ok('POST', 'accounts', { name: 'checked' })
  await ok('POST', 'accounts/checked/grants', { amount_usd: '1' })

  const verification = await ok('POST', 'verify')

  expect(verification).toMatchObject({ ok: true, problems: [] })
  expect(verification['entries']).toBeGreaterThan(0)
})
