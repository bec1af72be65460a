import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect, test } from 'bun:test'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { main } from '../../main.ts'

const dataDir = aDataFolder()
const CATALOG = {
  providers: [
    { id: 'main', kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', api_key: 'sk-literal' },
    {
      id: 'unset',
      kind: 'openai-compatible',
      base_url: 'http://127.0.0.1:9/v1',
      api_key: 'env:NO_SUCH_PROVIDER_KEY',
    },
  ],
  models: [
    chatModel('priced', 'main', { pricing: { input_per_mtok: '2.5', output_per_mtok: '10' } }),
    chatModel('keyless', 'unset', { pricing: 'free' }),
    chatModel('resold', 'main', {
      pricing: 'upstream_cost',
      markup: '1.2',
      ceiling_pricing: { input_per_mtok: '20', output_per_mtok: '100' },
    }),
    chatModel('draft', 'main', { enabled: false }),
  ],
}

function chatModel(id: string, provider: string, change: object): object {
  return { id, kind: 'chat', upstreams: [{ provider, model: 'x' }], max_output_tokens: 100, ...change }
}

beforeAll(async () => {
  await tollgate('accounts', 'create', 'ada', '--grant', '5')
  await tollgate('accounts', 'create', 'bob')
  await tollgate('accounts', 'suspend', 'bob')
})

beforeEach(() => tollgate('catalog', 'import', importable(CATALOG), '--yes'))

test('models list prints the prices and says which models cannot be called, and why', async () => {
  const listed = await tollgate('models', 'list')

  expect(listed).toMatch(/^priced +chat +on +input_per_mtok 2\.5, output_per_mtok 10 +main$/m)
  expect(listed).toMatch(/^keyless +chat +on, see below +free +unset$/m)
  expect(listed).toMatch(/^resold +chat +on +the cost of the provider × 1\.2 +main$/m)
  expect(listed).toMatch(/^draft +chat +off, see below +– +main$/m)
  expect(listed).toEndWith(
    [
      '',
      '',
      'keyless: It cannot be called: provider "unset": the environment variable NO_SUCH_PROVIDER_KEY is not set.',
      'draft: It is unfinished: it has no price.',
      '',
    ].join('\n'),
  )
})

test('providers list prints where each key comes from, and never a key', async () => {
  const listed = await tollgate('providers', 'list')

  expect(listed).toMatch(/^main +openai-compatible +<stored> +http:/m)
  expect(listed).toMatch(/^unset +openai-compatible +env:NO_SUCH_PROVIDER_KEY +http:/m)
  expect(listed).not.toContain('sk-literal')
})

test('providers states prints each provider with its circuits, and none has failed at first', async () => {
  expect(await tollgate('providers', 'states')).toMatch(/^main +healthy +– +–$/m)
})

test('providers test says why a provider does not work, and exits with 1', async () => {
  const failure = await tollgate('providers', 'test', 'main').catch((error: Error) => error.message)
  const unknown = await tollgate('providers', 'test', 'mian').catch((error: Error) => error.message)

  expect(failure).toMatch(/exited with 1: [^]*main FAILED \(\d+ ms\): /)
  expect(unknown).toContain('Did you mean "main"?')
})

test('accounts list and accounts show say which accounts are suspended', async () => {
  const [listed, shown] = [await tollgate('accounts', 'list'), await tollgate('accounts', 'show', 'bob')]

  expect(listed).toMatch(/^ada +acct_\w+ +5 +0 +active$/m)
  expect(listed).toMatch(/^bob +acct_\w+ +0 +0 +suspended 20\S+Z$/m)
  expect(shown).toMatch(/^name +bob\nid +acct_\w+\nstate +suspended 20\S+Z\navailable +0 USD\nheld +0 USD\n/)
})

test('the history and the audit log say which rows an import added, changed and removed', async () => {
  await tollgate('catalog', 'import', importable({ providers: [], models: [] }), '--yes')
  await tollgate('catalog', 'import', importable(CATALOG))
  const [main] = CATALOG.providers
  const models = [
    chatModel('priced', 'main', { pricing: { input_per_mtok: '3', output_per_mtok: '10' } }),
    chatModel('extra', 'main', { pricing: 'free' }),
  ]
  await tollgate('catalog', 'import', importable({ providers: [main], models }), '--yes')

  const [history, audit] = [await tollgate('catalog', 'history'), await tollgate('audit', '--limit', '1')]
  const { data } = JSON.parse(await tollgate('catalog', 'history', '--json')) as { data: object[] }

  expect(history).toMatch(
    /- provider unset, ~ model priced, \+ model extra, - model draft, - model keyless and 1 more$/m,
  )
  expect(data[0]).toMatchObject({
    change_count: 6,
    changes: expect.arrayContaining([{ kind: 'model', id: 'extra', change: 'added' }]),
  })
  expect(data[1]).toMatchObject({ change_count: 6 })
  expect(audit).toContain(
    'admin  catalog.replace  catalog  added model "extra"; changed model "priced"; removed provider "unset", model "keyless", model "resold", model "draft"\n',
  )
})

test('catalog changes lists the rows and fields that differ, and catalog history those of one row', async () => {
  const withPrice = (input: string) => ({
    providers: [CATALOG.providers[0]],
    models: [chatModel('traced', 'main', { pricing: { input_per_mtok: input, output_per_mtok: '10' } })],
  })
  const revision = async () => {
    const { data } = JSON.parse(await tollgate('catalog', 'history', '--json')) as {
      data: readonly { readonly revision: number }[]
    }
    return String(data[0]?.revision)
  }
  await tollgate('catalog', 'import', importable(withPrice('1')), '--yes')
  const from = await revision()
  await tollgate('catalog', 'import', importable(withPrice('2')), '--yes')

  const changes = await tollgate('catalog', 'changes', from)
  const same = await tollgate('catalog', 'changes', from, from)
  const edits = await tollgate('catalog', 'history', '--model', 'traced')
  const two = await tollgate('catalog', 'history', '--model', 'traced', '--provider', 'main').catch(String)

  expect(changes).toBe('~ model traced\n    pricing.input_per_mtok: "1" → "2"\n')
  expect(same).toBe('The revisions have the same rows.\n')
  expect(edits).toMatch(
    /^~ changed in revision \d+, \S+Z, by admin\n {4}pricing.input_per_mtok: "1" → "2"\n\+ added in revision/,
  )
  expect(two).toContain('cannot be used with')
})

test('a revision that only changed the order names no rows', async () => {
  const first = {
    providers: [CATALOG.providers[0]],
    models: ['a', 'b'].map(id => chatModel(id, 'main', { pricing: 'free' })),
  }
  await tollgate('catalog', 'import', importable(first), '--yes')
  await tollgate('catalog', 'import', importable({ ...first, models: first.models.toReversed() }), '--yes')

  expect(await tollgate('catalog', 'history', '--limit', '1')).toMatch(/only the order$/m)
})

test('backups lists the backups that were made, and says which files are gone', async () => {
  const [kept, gone] = [join(dataDir, 'kept.backup'), join(dataDir, 'gone.backup')]
  const none = await tollgate('backups')
  await tollgate('backup', kept)
  await tollgate('backup', gone)
  rmSync(gone)

  const listed = await tollgate('backups')

  expect(none).toBe('No backups.\n')
  expect(listed).toMatch(/^\S+Z +not here +admin +\S+gone.backup\n\S+Z +\d+ bytes +admin +\S+kept.backup$/m)
})

test('margins without charges say so, and print the header of the CSV', async () => {
  const shown = await tollgate('margins', '--by', 'provider')
  const csv = await tollgate('margins', '--csv', '--from', '2026-11-01', '--to', '2026-12-01')

  expect(shown.trim()).toBe('No charges.')
  expect(csv.trim()).toBe(
    'model,charges,revenue_usd,provider_cost_usd,losses_usd,margin_usd,charges_without_cost,losses_without_cost',
  )
})

let files = 0

/** The path of a file with this catalog. */
function importable(catalog: object): string {
  files += 1
  const file = join(dataDir, `catalog-${files}.yaml`)
  writeFileSync(file, JSON.stringify(catalog))
  return file
}

async function tollgate(...args: string[]): Promise<string> {
  let [out, err] = ['', '']
  const code = await main(args, {
    version: '0.0.0',
    environment: { TOLLGATE_DATA_DIR: dataDir },
    loadApp: () => import('../../../app.ts'),
    out: text => (out += text),
    err: text => (err += text),
  })
  if (code !== 0) throw new Error(`${args.join(' ')} exited with ${code}: ${err}${out}`)
  return out
}
