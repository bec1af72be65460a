import { afterAll, expect, test } from 'bun:test'
import { openAdminCalls, type Row } from '../../../../test/support/admin-calls.ts'

const LITERAL = 'sk-literal-secret'
const PROVIDER = { kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', api_key: LITERAL }

const { ok, refusal, close } = await openAdminCalls()
afterAll(close)

test('an account is created, found by id and by name, and listed', async () => {
  const made = await ok('POST', 'accounts', { name: ' ada ' })

  const byId = await ok('GET', `accounts/${made.id}`)
  const byName = await ok('GET', 'accounts/ada')
  const { data } = await ok('GET', 'accounts')

  expect<object>(made).toEqual({ id: expect.stringMatching(/^acct_[0-9a-z]{26}$/), name: 'ada' })
  expect(byId).toMatchObject({ ...made, available_usd: '0', held_usd: '0', sandbox_only: false })
  expect(byName).toEqual(byId)
  expect(data).toContainEqual(asListed(byId))
})

test('an unknown name is named, and near names are suggested', async () => {
  await ok('POST', 'accounts', { name: 'grace-lab' })
  await ok('PUT', 'providers/near-provider', PROVIDER)

  const account = await refusal('GET', 'accounts/grace-labs')
  const provider = await refusal('GET', 'providers/near-provder')
  const model = await refusal('DELETE', 'models/no-such-model-at-all')
  // The largest key begins with a lower digit.
  const key = await refusal('POST', 'keys/tg_live_zzzz/revoke')

  const status = 404
  expect(account).toMatchObject({
    status,
    message: 'There is no account "grace-labs". Did you mean "grace-lab"?',
  })
  expect(provider).toMatchObject({
    status,
    message: 'There is no provider "near-provder". Did you mean "near-provider"?',
  })
  expect(model).toMatchObject({ status, message: 'There is no model "no-such-model-at-all".' })
  expect(key).toMatchObject({
    status,
    message: 'There is no key with these first 12 characters.',
  })
  await ok('DELETE', 'providers/near-provider')
})

test('the keys of all accounts are listed with their accounts, and found by the name of one', async () => {
  const { id: account } = await ok('POST', 'accounts', { name: 'key lister' })
  const { id: project } = await ok('POST', `accounts/${account}/projects`, { name: 'search' })
  const { key: text, ...made } = await ok('POST', `accounts/${account}/keys`, { name: 'new', project })

  const all = await ok('GET', 'keys?limit=1')
  const found = await ok('GET', 'keys?search=KEY%20LIST')
  const refused = await refusal('GET', `keys?search=${'x'.repeat(201)}`)

  const { id, prefix, secrets } = made as Row
  expect(all['data']).toMatchObject([
    { id, prefix, secrets, name: 'new', project, account, account_name: 'key lister' },
  ])
  expect(found['data']).toEqual(all['data'])
  expect(JSON.stringify(found)).not.toContain(text)
  expect(refused).toMatchObject({ status: 400, param: 'search' })
})

test('an account whose name has a slash is found with the escaped name', async () => {
  const made = await ok('POST', 'accounts', { name: 'acme / north' })

  const found = await ok('GET', `accounts/${encodeURIComponent('acme / north')}`)

  expect(found.id).toBe(made.id)
})

test('a second account with the same name is refused', async () => {
  await ok('POST', 'accounts', { name: 'taken' })

  const refused = await refusal('POST', 'accounts', { name: 'taken' })

  expect(refused).toMatchObject({ status: 409, code: 'already_exists' })
})

test('accounts are listed in pages', async () => {
  for (const name of ['page 1', 'page 2', 'page 3']) await ok('POST', 'accounts', { name })
  const all = await ok('GET', 'accounts')

  const first = await ok('GET', 'accounts?limit=2')
  const rest = await ok('GET', `accounts?cursor=${first.next}`)

  expect(first).toMatchObject({ has_more: true })
  expect(rest).toMatchObject({ has_more: false, next: null })
  expect([...first.data, ...rest.data]).toEqual([...all.data])
})

test.each<[string, unknown, string | undefined]>([
  ['no name', {}, 'name'],
  ['a name that is not text', { name: 5 }, 'name'],
  ['an empty name', { name: '  ' }, 'name'],
  ['a name without a letter', { name: '..' }, 'name'],
  ['a name of two lines', { name: 'a\nb' }, 'name'],
  ['a name of 101 characters', { name: 'a'.repeat(101) }, 'name'],
  ['a name like an id', { name: 'acct_1' }, 'name'],
  ['an unknown field', { name: 'x', grant: '5' }, 'grant'],
])('an account with %s is refused with the field', async (_, body, param) => {
  const refused = await refusal('POST', 'accounts', body)

  expect(refused).toMatchObject({ status: 400, code: 'invalid_field', param })
})

test('a key is shown once, listed by its prefix, and revoked permanently', async () => {
  const { id } = await ok('POST', 'accounts', { name: 'key owner' })

  const made = await ok('POST', `accounts/${id}/keys`, { name: 'laptop' })
  const unnamed = await ok('POST', `accounts/${id}/keys`)
  const listed = await ok('GET', `accounts/${id}/keys`)
  const revoked = await ok('DELETE', `accounts/${id}/keys/${made.id}`)
  const again = await ok('POST', `keys/${made.id}/revoke`)

  expect(made.key).toMatch(/^tg_live_[0-9A-Za-z]{43}$/)
  expect(made).toMatchObject({ name: 'laptop', prefix: made.key.slice(0, 12) })
  expect(listed.data.map(row => row['id'])).toEqual([made.id, unnamed.id])
  expect(JSON.stringify(listed)).not.toContain(made.key)
  expect(revoked['revoked_at']).toBeString()
  expect(again).toEqual(revoked)
})

test('a key is found by its id, its first characters or its text, with its account', async () => {
  // In its own folder, no other key has the same first characters.
  const { ok: call, close: remove } = await openAdminCalls()
  const { id } = await call('POST', 'accounts', { name: 'key finder' })
  const { key: text, ...made } = await call('POST', `accounts/${id}/keys`, { name: 'laptop' })
  const key = asListed(made)

  const found = [
    await call('POST', 'keys/find', { key: made.id }),
    await call('POST', 'keys/find', { key: key['prefix'] }),
    await call('POST', 'keys/find', { key: text }),
  ]
  const revoked = await call('POST', `keys/${String(key['prefix'])}/revoke`)
  await remove()

  for (const [index, each] of found.entries())
    expect<object>(each).toEqual({
      ...key,
      found_secret: index === 0 ? null : key['prefix'],
      account: id,
      account_name: 'key finder',
    })
  expect(revoked).toMatchObject({ id: made.id, revoked_at: expect.any(String) })
})

test('no message repeats the text of a key', async () => {
  await ok('POST', 'accounts', { name: 'key hider' })
  const text = `tg_live_${'x'.repeat(43)}`

  const refusals = [
    await refusal('POST', 'keys/find', { key: text }),
    await refusal('POST', `keys/${text}/revoke`),
    await refusal('DELETE', `accounts/key%20hider/keys/${text}`),
    await refusal('GET', `keys/${text}`),
    await refusal('PATCH', `keys/${text}`, { limits: null }),
    await refusal('GET', `accounts/${text}`),
    await refusal('POST', `charges/${text}/refund`),
  ]

  expect(refusals.map(({ status }) => status)).toEqual([404, 400, 400, 400, 400, 404, 404])
  for (const { message } of refusals) expect(message).not.toContain(text.slice(0, 13))
})

test('a key is not revoked through the path of another account', async () => {
  await ok('POST', 'accounts', { name: 'key holder' })
  await ok('POST', 'accounts', { name: 'key thief' })
  const key = await ok('POST', 'accounts/key%20holder/keys')

  const refused = await refusal('DELETE', `accounts/key%20thief/keys/${key.id}`)

  expect(refused).toMatchObject({ status: 404, code: 'not_found' })
  const { data } = await ok('GET', 'accounts/key%20holder/keys')
  expect(data[0]).toMatchObject({ revoked_at: null })
})

test.each([
  ['GET', 'accounts/unknown'],
  ['POST', 'accounts/unknown/keys'],
  ['GET', 'accounts/unknown/keys'],
  ['POST', 'accounts/unknown/grants'],
  ['GET', 'accounts/unknown/statement'],
  ['GET', 'usage?account=unknown'],
  ['POST', 'keys/key_0/revoke'],
  ['GET', 'providers/unknown'],
  ['DELETE', 'providers/unknown'],
  ['GET', 'models/unknown'],
  ['DELETE', 'models/unknown'],
  ['GET', 'nothing'],
  ['GET', ''],
])('%s %s of a missing row is 404', async (method, path) => {
  const refused = await refusal(method, path)

  expect(refused).toMatchObject({ status: 404, code: 'not_found' })
})

/** The members of an account or a key that its list leaves out. */
const NOT_LISTED = new Set([
  'limits',
  'budgets',
  'per_model',
  'budget_usage',
  'key_defaults',
  'contacts',
  'warnings',
])

function asListed(reply: Row): Row {
  return Object.fromEntries(Object.entries(reply).filter(([name]) => !NOT_LISTED.has(name)))
}
