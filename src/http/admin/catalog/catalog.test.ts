import { afterAll, expect, test } from 'bun:test'
import { openAdminCalls, type Answer, type Row } from '../../../../test/support/admin-calls.ts'

const LITERAL = 'sk-literal-secret'
const PROVIDER = { kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', api_key: LITERAL }
const MODEL = {
  kind: 'chat',
  upstreams: [{ provider: 'main', model: 'x-1' }],
  pricing: { input_per_mtok: '2.5', output_per_mtok: '10' },
  max_output_tokens: 1000,
}

const { send, ok, refusal, close } = await openAdminCalls()
afterAll(close)

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
  ['PUT', 'models/bad', { ...MODEL, upstreams: [{ provider: 'gone', model: 'x' }] }, 'upstreams[0].provider'],
  ['PUT', 'providers/bad', { kind: 'openai-compatible' }, 'base_url'],
  ['PUT', 'providers/bad', { ...PROVIDER, id: 'other' }, 'id'],
  ['PUT', 'providers/bad', { ...PROVIDER, connect_timeout_s: 61 }, 'connect_timeout_s'],
  ['PUT', 'providers/bad', { ...PROVIDER, reuse_connections: 'no' }, 'reuse_connections'],
  ['PATCH', 'models/bad', { enabled: 'yes' }, 'enabled'],
  ['PATCH', 'models/bad', { price: 1 }, 'price'],
  ['PUT', 'catalog', { providers: [], models: [{ ...MODEL, id: 'bad' }] }, 'models[0].upstreams[0].provider'],
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
  await ok('PUT', 'providers/main', PROVIDER)
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
  await ok('PUT', 'providers/main', PROVIDER)
  await ok('PUT', 'models/whole', MODEL)
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
  await ok('PUT', 'providers/main', PROVIDER)
  await ok('PUT', 'models/edited', MODEL)
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
  await ok('PUT', 'providers/main', PROVIDER)
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

test('the edits of one row are listed with their differences, also of a deleted row', async () => {
  const chat = { kind: 'chat', enabled: false, upstreams: [{ provider: 'main', model: 'x' }] }
  for (const api_key of [LITERAL, `${LITERAL}-2`, LITERAL])
    await ok('PUT', 'providers/main', { ...PROVIDER, api_key })
  await ok('PUT', 'models/kept/x', chat)
  await ok('PUT', 'models/kept/x', { ...chat, description: 'New.' })
  await ok('DELETE', 'models/kept/x')

  const { data, next } = await ok('GET', 'catalog/history/model/kept/x?limit=2')
  const rest = await ok('GET', `catalog/history/model/kept%2Fx?cursor=${next}`)
  const providers = await ok('GET', 'catalog/history/provider/main')
  const unknown = await refusal('GET', 'catalog/history/model/none')
  const kind = await refusal('GET', 'catalog/history/models/none')

  expect(data).toMatchObject([
    { actor: 'admin', action: 'model.delete', change: 'removed', fields: [], row: null },
    {
      action: 'model.put',
      change: 'changed',
      fields: [{ field: 'description', before: null, after: 'New.' }],
      row: { id: 'kept/x', description: 'New.' },
    },
  ])
  expect(rest).toMatchObject({ data: [{ change: 'added', fields: [] }], next: null })
  expect(JSON.stringify(providers)).toContain('<another key>')
  expect(JSON.stringify(providers)).not.toContain('secret')
  expect(unknown).toMatchObject({ status: 404, message: 'The history has no model "none".' })
  expect(kind).toMatchObject({
    status: 404,
    message: expect.stringContaining('provider, model, price_list'),
  })
})

test('a dry run of an edit of a provider shows the fields that change, and changes nothing', async () => {
  await ok('PUT', 'providers/main', PROVIDER)
  const before = await ok('GET', 'providers/main')

  const shown = await ok('PUT', 'providers/main?dry_run=true', {
    ...before,
    api_key: 'env:PATH',
    read_timeout_s: 90,
  })
  const unkept = await refusal('PUT', 'providers/main?dry_run=true', {
    ...before,
    base_url: 'https://elsewhere.example.com/v1',
  })

  expect(shown).toMatchObject({
    dry_run: true,
    is_new: false,
    fields: expect.arrayContaining([{ field: 'api_key', before: '<stored>', after: 'env:PATH' }]),
    loses_key: true,
  })
  expect(unkept).toMatchObject({ status: 400 })
  expect(await ok('GET', 'providers/main')).toEqual(before)
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
