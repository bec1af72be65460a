import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rejection } from '../../../test/support/rejection.ts'
import { openAdmin } from '../../app.ts'
import { systemClock } from '../../app/system-clock.ts'
import { readConfig } from '../../config/config.ts'
import { GatewayError } from '../../domain/errors.ts'
import { bodyMemory } from '../../gateway/byte-budgets/body-budgets.ts'
import { adminAccess, adminKeyCheck } from './admin-access.ts'
import { localRequest, adminApi } from './admin-api.ts'
import type { RequestContext } from '../request-context.ts'
import type { AdminPorts } from './ports.ts'

const LITERAL = 'sk-literal-secret'
const PROVIDER = { kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', api_key: LITERAL }
const MODEL = {
  kind: 'chat',
  upstreams: [{ provider: 'main', model: 'x-1' }],
  pricing: { input_per_mtok: '2.5', output_per_mtok: '10' },
  max_output_tokens: 1000,
}

/** The common members of replies. A test that needs other members compares the whole reply. */
type Answer = {
  readonly id: string
  readonly key: string
  readonly next: string
  readonly data: readonly Row[]
  readonly error: { readonly code: string; readonly message: string; readonly param?: string }
  readonly [name: string]: unknown
}
type Row = { readonly [name: string]: unknown }

let dataDir: string
let admin: Awaited<ReturnType<typeof openAdmin>>

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'tollgate-admin-'))
  admin = await openAdmin(readConfig({ TOLLGATE_DATA_DIR: dataDir }))
})

afterAll(async () => {
  await admin.close()
  rmSync(dataDir, { recursive: true, force: true })
})

describe('accounts and keys', () => {
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
    const key = await refusal('POST', 'keys/tg_live_abcd/revoke')

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
    const { id } = await ok('POST', 'accounts', { name: 'key finder' })
    const { key: text, ...made } = await ok('POST', `accounts/${id}/keys`, { name: 'laptop' })
    const key = asListed(made)

    const found = [
      await ok('POST', 'keys/find', { key: made.id }),
      await ok('POST', 'keys/find', { key: key['prefix'] }),
      await ok('POST', 'keys/find', { key: text }),
    ]
    const revoked = await ok('POST', `keys/${String(key['prefix'])}/revoke`)

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
})

describe('money', () => {
  test('a grant is credited exactly, and is in the statement', async () => {
    await ok('POST', 'accounts', { name: 'grantee' })

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
    const verification = await ok('POST', 'verify')

    expect(verification).toMatchObject({ ok: true, problems: [] })
    expect(verification['entries']).toBeGreaterThan(0)
  })
})

describe('catalog', () => {
  test('a provider is stored, shown without its secret, and keeps its key when it is sent back', async () => {
    const put = await ok('PUT', 'providers/main', PROVIDER)

    const shown = await ok('GET', 'providers/main')
    const putBack = await ok('PUT', 'providers/main', shown)
    const { data } = await ok('GET', 'providers')

    expect(put).toMatchObject({ id: 'main', api_key: '<stored>' })
    expect(shown).toEqual(put)
    expect(putBack).toEqual(put)
    expect(data).toEqual([put])
    expect(JSON.stringify([put, shown, data])).not.toContain(LITERAL)
  })

  test('a key from the environment is shown as the name of its variable', async () => {
    const put = await ok('PUT', 'providers/env', { ...PROVIDER, api_key: 'env:MAIN_API_KEY' })

    expect(put['api_key']).toBe('env:MAIN_API_KEY')
    expect<object>(await ok('DELETE', 'providers/env')).toEqual({ id: 'env', deleted: true })
  })

  test('a provider shows its connect limit and its reuse of connections unless they are the defaults', async () => {
    const limits = { connect_timeout_s: 2.5, reuse_connections: false }

    const set = await ok('PUT', 'providers/main', { ...PROVIDER, ...limits })
    const defaults = { connect_timeout_s: 5, reuse_connections: true }
    const reset = await ok('PUT', 'providers/main', { ...PROVIDER, ...defaults })

    expect(set).toMatchObject(limits)
    for (const field of Object.keys(defaults)) expect(reset).not.toContainKey(field)
  })

  test('a model is created, switched off and on, replaced and deleted', async () => {
    await ok('PUT', 'providers/main', PROVIDER)

    const put = await ok('PUT', 'models/gpt-x', MODEL)
    const off = await ok('PATCH', 'models/gpt-x', { enabled: false })
    const on = await ok('PATCH', 'models/gpt-x', { enabled: true })
    const replaced = await ok('PUT', 'models/gpt-x', { ...MODEL, max_output_tokens: 7 })
    const deleted = await ok('DELETE', 'models/gpt-x')

    expect(put).toMatchObject({ id: 'gpt-x', enabled: true, max_output_tokens: 1000 })
    expect(off).toMatchObject({ enabled: false })
    expect(on).toEqual(put)
    expect(replaced).toMatchObject({ max_output_tokens: 7 })
    expect<object>(deleted).toEqual({ id: 'gpt-x', deleted: true })
    expect(await refusal('GET', 'models/gpt-x')).toMatchObject({ status: 404 })
  })

  test('a model whose id has slashes is found with and without escapes', async () => {
    await ok('PUT', 'providers/main', PROVIDER)
    const put = await ok('PUT', 'models/meta/x', MODEL)

    expect(put.id).toBe('meta/x')
    expect(await ok('GET', 'models/meta%2Fx')).toEqual(put)
    expect(await ok('DELETE', 'models/meta/x')).toMatchObject({ id: 'meta/x' })
  })

  test('a disabled model without a price is stored, and cannot be switched on', async () => {
    await ok('PUT', 'providers/main', PROVIDER)
    const draft = { ...MODEL, pricing: undefined, enabled: false }

    const put = await ok('PUT', 'models/draft', draft)
    const refused = await refusal('PATCH', 'models/draft', { enabled: true })

    expect(put).toMatchObject({ id: 'draft', enabled: false })
    expect(refused).toMatchObject({ status: 400, code: 'invalid_field', param: 'pricing' })
    expect((await ok('GET', 'models')).data.map(row => row['id'])).toContain('draft')
    await ok('DELETE', 'models/draft')
  })

  test.each<[string, string, unknown, string]>([
    ['PUT', 'models/bad', { ...MODEL, pricing: { input_per_mtok: 2.5 } }, 'pricing.input_per_mtok'],
    ['PUT', 'models/bad', { ...MODEL, id: 'other' }, 'id'],
    [
      'PUT',
      'models/bad',
      { ...MODEL, upstreams: [{ provider: 'gone', model: 'x' }] },
      'upstreams[0].provider',
    ],
    ['PUT', 'providers/bad', { kind: 'openai-compatible' }, 'base_url'],
    ['PUT', 'providers/bad', { ...PROVIDER, id: 'other' }, 'id'],
    ['PUT', 'providers/bad', { ...PROVIDER, connect_timeout_s: 61 }, 'connect_timeout_s'],
    ['PUT', 'providers/bad', { ...PROVIDER, reuse_connections: 'no' }, 'reuse_connections'],
    ['PATCH', 'models/bad', { enabled: 'yes' }, 'enabled'],
    ['PATCH', 'models/bad', { price: 1 }, 'price'],
    [
      'PUT',
      'catalog',
      { providers: [], models: [{ ...MODEL, id: 'bad' }] },
      'models[0].upstreams[0].provider',
    ],
  ])('%s %s with an invalid row is refused with the field: %#', async (method, path, body, param) => {
    await ok('PUT', 'providers/main', PROVIDER)

    const refused = await refusal(method, path, body)

    expect(refused).toMatchObject({ status: 400, code: 'invalid_field', param })
  })

  test('a provider that a model uses cannot be deleted', async () => {
    await ok('PUT', 'providers/main', PROVIDER)
    await ok('PUT', 'models/user', MODEL)

    const refused = await refusal('DELETE', 'providers/main')

    expect(refused).toMatchObject({ status: 400, code: 'invalid_field' })
    await ok('DELETE', 'models/user')
  })

  test('the whole catalog is exported and imported without a change, as JSON and as YAML', async () => {
    await ok('PUT', 'providers/main', PROVIDER)
    await ok('PUT', 'models/whole', MODEL)
    const json = await ok('GET', 'catalog')
    const yaml = await (await send('GET', 'catalog?format=yaml')).text()

    const putJson = await ok('PUT', 'catalog', json)
    const putYaml = await send('PUT', 'catalog', yaml, { 'content-type': 'application/yaml' })
    const accepted = await send('GET', 'catalog', undefined, { accept: 'application/yaml' })

    expect(putJson).toEqual({ ...json, missing_variables: [], warnings: [] })
    expect(await putYaml.json()).toEqual(putJson)
    expect(accepted.headers.get('content-type')).toBe('application/yaml')
    expect(await accepted.text()).toBe(yaml)
    expect(yaml).not.toContain(LITERAL)
  })

  test('a dry run shows what a catalog would change, and changes nothing', async () => {
    const before = await ok('GET', 'catalog')
    const providers = [{ id: 'fresh', ...PROVIDER }]

    const shown = await ok('PUT', 'catalog?dry_run=true', { providers, models: [] })

    expect(shown).toMatchObject({
      dry_run: true,
      revision: before['revision'],
      changes: expect.arrayContaining([
        { kind: 'provider', id: 'fresh', change: 'added', fields: [], loses_key: false },
        { kind: 'provider', id: 'main', change: 'removed', fields: [], loses_key: true },
      ]),
      removals: expect.arrayContaining(['provider "main" with its stored key']),
      missing_variables: [],
      warnings: [],
    })
    expect(await ok('GET', 'catalog')).toEqual(before)
  })

  test('with allow_removals=false, a catalog that removes rows or stored keys is refused and names them', async () => {
    const { api_key: _, ...keyless } = PROVIDER
    const before = await ok('GET', 'catalog')
    const current = before as unknown as {
      readonly providers: readonly Row[]
      readonly models: readonly Row[]
    }
    const { models } = current
    const providers = current.providers.map(row => (row['id'] === 'main' ? { id: 'main', ...keyless } : row))

    const rows = await refusal('PUT', 'catalog?allow_removals=false', { ...current, models: [] })
    const key = await refusal('PUT', 'catalog?allow_removals=false', { providers, models })
    const wrong = await refusal('PUT', 'catalog?allow_removals=no', { providers, models })

    const status = 409
    const code = 'removals_not_allowed'
    expect(rows).toMatchObject({ status, code, message: expect.stringContaining('model "whole"') })
    expect(key).toMatchObject({
      status,
      code,
      message:
        'This would remove the stored key of provider "main", so nothing was changed. To keep a stored key, write api_key: <stored>.',
    })
    expect(wrong).toMatchObject({ status: 400, param: 'allow_removals' })
    expect(await ok('GET', 'catalog')).toEqual(before)
  })

  test('an edit from an earlier revision is refused if another edit came first', async () => {
    const { revision, data } = await ok('GET', 'models')
    const [model] = data
    const path = `models/${String(model?.['id'])}?revision=${Number(revision)}`
    await ok('PUT', path, { ...model, description: 'The first operator.' })

    const second = await refusal('PUT', path, { ...model, description: 'The second operator.' })
    const preview = await refusal('PUT', `${path}&dry_run=true`, { ...model })
    const rollback = await refusal('POST', `catalog/rollback?revision=${Number(revision)}`, { revision: 1 })

    expect(second).toMatchObject({ status: 409, code: 'catalog_changed', param: 'revision' })
    expect(preview).toMatchObject({ status: 409, code: 'catalog_changed' })
    expect(rollback).toMatchObject({ status: 409, code: 'catalog_changed' })
    const { description } = await ok('GET', `models/${String(model?.['id'])}`)
    expect(description).toBe('The first operator.')
  })

  test('two revisions are compared field by field, and without keys', async () => {
    const { revision: from } = await ok('GET', 'catalog')
    await ok('PUT', 'providers/main', { ...PROVIDER, api_key: 'sk-another-long-secret' })
    const { revision: to } = await ok('GET', 'catalog')

    const shown = await ok('GET', `catalog/changes?from=${Number(from)}&to=${Number(to)}`)
    const unknown = await refusal('GET', `catalog/changes?from=${Number(to) + 5}`)

    expect(shown).toMatchObject({
      from,
      to,
      changes: [
        {
          kind: 'provider',
          id: 'main',
          change: 'changed',
          fields: [{ field: 'api_key', before: '<stored>', after: '<another key>' }],
        },
      ],
    })
    expect(unknown).toMatchObject({ status: 404 })
  })

  test('the catalog goes back to an earlier revision, with the stored keys of that time', async () => {
    const before = await ok('GET', 'catalog')
    const { revision } = before as unknown as { readonly revision: number }
    await ok('PUT', 'catalog', { providers: [], models: [] })

    const { data } = await ok('GET', 'catalog/history?limit=2')
    const shown = await ok('POST', 'catalog/rollback?dry_run=true', { revision })
    const restored = await ok('POST', 'catalog/rollback', { revision })
    const unknown = await refusal('POST', 'catalog/rollback', { revision: revision + 9 })

    const { updated_at: _, revision: __, ...rows } = before
    expect(data).toMatchObject([
      { revision: revision + 1, actor: 'admin', action: 'catalog.replace', subject: 'catalog' },
      { revision },
    ])
    expect(shown).toMatchObject({ dry_run: true, removals: [] })
    expect(restored).toMatchObject({ ...rows, revision: revision + 2 })
    expect(unknown).toMatchObject({
      status: 404,
      message: `The history has no revision ${revision + 9}. The catalog is at revision ${revision + 2}.`,
    })
  })

  test('an imported catalog names the environment variables that are not set, each once, and PATH is set', async () => {
    const from = (id: string, variable: string) => ({ ...PROVIDER, id, api_key: `env:${variable}` })
    const before = await ok('GET', 'catalog')
    const providers = [from('main', 'NO_SUCH_KEY'), from('spare', 'PATH'), from('third', 'NO_SUCH_KEY')]

    const imported = await ok('PUT', 'catalog', { providers, models: [] })
    const again = await ok('PUT', 'catalog', imported)

    expect(imported['missing_variables']).toEqual(['NO_SUCH_KEY'])
    expect(again).toEqual(imported)
    await ok('PUT', 'catalog', { ...before, providers: [{ id: 'main', ...PROVIDER }] })
  })

  test('a catalog whose provider bills more than its rows price is imported, with a warning each time', async () => {
    const before = await ok('GET', 'catalog')
    const provider = { ...PROVIDER, id: 'openai', base_url: 'https://api.openai.com/v1', routes: ['chat'] }
    const model = {
      id: 'gpt-x',
      kind: 'chat',
      upstreams: [{ provider: 'openai', model: 'x' }],
      pricing: { input_per_mtok: '1', output_per_mtok: '2' },
      max_output_tokens: 100,
    }
    const refusing = { ...model, refuse_fields: { service_tier: ['default'], web_search_options: [] } }

    const imported = await ok('PUT', 'catalog', { providers: [provider], models: [model] })
    const again = await ok('PUT', 'catalog', imported)
    const shown = await ok('PUT', 'catalog?dry_run=true', { providers: [provider], models: [refusing] })
    const report = await ok('GET', 'doctor')

    const warning = expect.stringMatching(
      /^Model "gpt-x": provider "openai" bills service_tier, web_search_options /,
    )
    expect(imported['warnings']).toEqual([warning])
    expect(again).toEqual(imported)
    expect(shown['warnings']).toEqual([])
    expect(report['checks']).toContainEqual({ name: 'prices', ok: true, is_warning: true, detail: warning })
    await ok('PUT', 'catalog', { ...before, providers: [{ id: 'main', ...PROVIDER }] })
  })

  test('an invalid catalog file is refused with the line and the field, and changes nothing', async () => {
    const before = await ok('GET', 'catalog')
    const yaml = 'providers: []\nmodels:\n  - id: x\n    kind: chatt\n'

    const response = await send('PUT', 'catalog', yaml, { 'content-type': 'application/yaml' })
    const { error } = (await response.json()) as Answer

    expect(response.status).toBe(400)
    expect(error).toMatchObject({ code: 'invalid_field', param: 'models[0].kind' })
    expect(error.message).toStartWith('line 4, column 5: models[0].kind is "chatt"')
    expect(await ok('GET', 'catalog')).toEqual(before)
  })
})

describe('every route', () => {
  test('every change writes a row to the audit log', async () => {
    await ok('POST', 'accounts', { name: 'audited' })
    await ok('POST', 'accounts/audited/grants', { amount_usd: '1' })
    const key = await ok('POST', 'accounts/audited/keys')
    await ok('POST', `keys/${key.id}/revoke`)
    await ok('PUT', 'providers/audited', PROVIDER)
    await ok('PUT', 'models/audited', { ...MODEL, upstreams: [{ provider: 'audited', model: 'x' }] })
    await ok('PATCH', 'models/audited', { enabled: false })
    await ok('DELETE', 'models/audited')
    await ok('DELETE', 'providers/audited')

    // The gateway itself writes one line after its first anchor, at any time.
    const { data: all } = await ok('GET', 'audit?limit=10')
    const data = all.filter(({ actor }) => actor === 'admin').slice(0, 9)

    expect(data.map(({ action }) => action)).toEqual([
      'provider.delete',
      'model.delete',
      'model.off',
      'model.put',
      'provider.put',
      'key.revoke',
      'key.create',
      'account.grant',
      'account.create',
    ])
    const details = Object.fromEntries(data.map(line => [line['action'], line['detail']]))
    expect(details).toMatchObject({
      'account.grant': expect.stringMatching(/^1 USD by op_\w+$/),
      'model.off': expect.stringMatching(/^{"enabled":false,"pricing":/),
      'key.create': null,
    })
  })

  test('doctor reports the checks and the settings, without secrets', async () => {
    await ok('PUT', 'providers/main', PROVIDER)

    const report = await ok('GET', 'doctor')

    expect(report['checks']).toContainEqual({ name: 'store', ok: true, detail: 'The store can be read.' })
    expect(report['checks']).toContainEqual({
      name: 'provider main',
      ok: false,
      detail: expect.stringContaining('Does not respond'),
    })
    expect(report['settings']).toContainEqual({
      name: 'TOLLGATE_PORT',
      value: expect.any(String),
      default: '8787',
      is_set: expect.any(Boolean),
    })
    expect(JSON.stringify(report)).not.toContain(LITERAL)
  })

  test.each([
    ['DELETE', 'accounts', 'GET, HEAD, POST'],
    ['POST', 'models/gpt-x', 'GET, HEAD, PUT, PATCH, DELETE'],
    ['GET', 'backups', 'POST'],
  ])('%s %s is 405 with the allowed methods', async (method, path, allow) => {
    const response = await send(method, path)

    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe(allow)
  })

  test.each<[string, string | Uint8Array<ArrayBuffer>, number, string]>([
    ['half a JSON', '{"name": ', 400, 'invalid_json'],
    ['a list', '["name"]', 400, 'invalid_json'],
    ['a control character', '\u000b', 400, 'invalid_json'],
    ['bytes that are not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 400, 'invalid_json'],
    ['more than 8 MB', 'x'.repeat((8 << 20) + 1), 413, 'request_too_large'],
  ])('a body of %s is refused', async (_, body, status, code) => {
    const response = await send('POST', 'accounts', body)
    const { error } = (await response.json()) as Answer

    expect(response.status).toBe(status)
    expect(error.code).toBe(code)
  })
})

describe('the admin key', () => {
  const handler = adminApi(
    {} as AdminPorts,
    adminAccess('right-key', {} as AdminPorts),
    bodyMemory(128 << 20, systemClock),
  )

  test.each<[string, Record<string, string>]>([
    ['no key', {}],
    ['another key', { authorization: 'Bearer wrong-key' }],
    ['the key with a suffix', { authorization: 'Bearer right-key2' }],
    ['the key in another scheme', { authorization: 'Basic right-key' }],
    ['the key in another header', { 'x-api-key': 'right-key' }],
  ])('a request with %s is refused before it is read', async (_, headers) => {
    const request = localRequest(new Request('http://localhost/admin/api/nothing', { headers }))

    const refused = await rejection(handler({ request } as RequestContext))

    expect(refused).toMatchObject({ code: 'invalid_api_key' })
  })

  test('a request with the key reaches the routes', async () => {
    const headers = { authorization: 'bearer right-key' }
    const request = localRequest(new Request('http://localhost/admin/api/nothing', { headers }))

    const refused = await rejection(handler({ request } as RequestContext))

    expect(refused).toBeInstanceOf(GatewayError)
    expect(refused).toMatchObject({ code: 'not_found' })
    expect(adminKeyCheck('right-key')(request)).toBe(true)
  })
})

function send(
  method: string,
  path: string,
  body?: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return admin.handle(
    new Request(`http://localhost/admin/api/${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    }),
  )
}

async function ok(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await send(method, path, body === undefined ? undefined : JSON.stringify(body), headers)
  const answer = (await response.json()) as Answer
  if (response.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
  return answer
}

/** A reply with limits as lists show it. */
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

async function refusal(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ readonly status: number } & Answer['error']> {
  const response = await send(method, path, body === undefined ? undefined : JSON.stringify(body), headers)
  return { status: response.status, ...((await response.json()) as Answer).error }
}
