import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CATALOG, spawned, startServer, tollgate } from '../../../../test/support/cli-commands.ts'
import { aDataFolder } from '../../../../test/support/data-folder.ts'

const home = aDataFolder()

describe('on a stopped data folder', () => {
  test('a catalog is imported and exported as a file, and its models are switched on and off', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'catalog') }
    const file = join(home, 'catalog.yaml')
    const copy = join(home, 'copy.yaml')
    writeFileSync(file, CATALOG)

    const imported = await tollgate(['catalog', 'import', file], folder)
    const off = await tollgate(['models', 'off', 'meta/x'], folder)
    const listed = await tollgate(['models', 'list'], folder)
    const on = await tollgate(['models', 'on', 'meta/x', '--json'], folder)
    const exported = await tollgate(['catalog', 'export', copy], folder)
    const again = await tollgate(['catalog', 'import', copy, '--json'], folder)

    expect(imported.out).toBe('The catalog is now at revision 1 (providers: 1, models: 1).\n')
    expect(off.out).toBe('meta/x is off.\n')
    expect(listed.out).toMatch(/meta\/x +chat +off +input_per_mtok 1, output_per_mtok 2 +main/)
    expect(JSON.parse(on.out)).toMatchObject({ id: 'meta/x', enabled: true })
    expect(exported.code).toBe(0)
    expect(readFileSync(copy, 'utf8')).not.toContain('sk-literal-secret')
    expect(JSON.parse(again.out)).toMatchObject({ providers: 1, models: 1 })
  })

  test('an import names the environment variables that are not set', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'variables') }
    const file = join(home, 'variables.yaml')
    writeFileSync(file, CATALOG.replace("'sk-literal-secret'", 'env:NO_SUCH_KEY'))

    const text = await tollgate(['catalog', 'import', file], folder)
    const json = await tollgate(['catalog', 'import', file, '--json'], folder)

    expect(text.code).toBe(0)
    expect(text.err).toStartWith(
      'The catalog names environment variables that are not set here: NO_SUCH_KEY. Set them for "tollgate serve".\n',
    )
    expect(JSON.parse(json.out)).toMatchObject({ missing_variables: ['NO_SUCH_KEY'] })
  })

  test('an import and the doctor warn about what a provider bills and no row prices', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'unpriced') }
    const file = join(home, 'unpriced.yaml')
    const provider =
      '{id: openai, kind: openai-compatible, base_url: "https://api.openai.com/v1", routes: [chat]}'
    const pricing = '{input_per_mtok: "1", output_per_mtok: "2"}'
    const model = `{id: gpt-x, kind: chat, upstreams: [{provider: openai, model: x}], pricing: ${pricing}, max_output_tokens: 9}`
    writeFileSync(file, `providers: [${provider}]\nmodels: [${model}]\n`)

    const text = await tollgate(['catalog', 'import', file], folder)
    const json = await tollgate(['catalog', 'import', file, '--json'], folder)
    const doctor = await tollgate(['doctor'], folder)

    expect(text.code).toBe(0)
    expect(text.err).toContain(
      'Model "gpt-x": provider "openai" bills service_tier, web_search_options beside',
    )
    expect(JSON.parse(json.out)).toMatchObject({ models: 1, warnings: [expect.stringContaining('gpt-x')] })
    expect(doctor.out).toMatch(/warning +prices +Model "gpt-x": provider "openai" bills/)
  })

  test('an import that removes rows needs --yes, --dry-run shows it, and rollback brings them back', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'removals') }
    const [file, other] = [join(home, 'two.yaml'), join(home, 'other.yaml')]
    writeFileSync(file, CATALOG)
    writeFileSync(other, CATALOG.replace('meta/x', 'meta/y').replace("'sk-literal-secret'", 'env:PATH'))
    await tollgate(['catalog', 'import', file], folder)

    const shown = await tollgate(['catalog', 'import', other, '--dry-run'], folder)
    const refused = await tollgate(['catalog', 'import', other], folder)
    const imported = await tollgate(['catalog', 'import', other, '--yes'], folder)
    const history = await tollgate(['catalog', 'history', '--json'], folder)
    const back = await tollgate(['catalog', 'rollback', '1', '--yes'], folder)
    const same = await tollgate(['catalog', 'import', file, '--dry-run'], folder)

    expect(shown).toMatchObject({
      code: 0,
      out: [
        '~ provider main (loses its stored key)',
        '    api_key: "<stored>" → "env:PATH"',
        '+ model meta/y',
        '- model meta/x',
        '',
        '1 added, 1 changed, 1 removed. Nothing was changed yet. Removing rows or stored keys needs --yes.',
        '',
      ].join('\n'),
    })
    expect(refused.code).toBe(1)
    expect(refused.err).toStartWith(
      'This would remove the stored key of provider "main", model "meta/x", so nothing was changed. To keep a stored key, write api_key: <stored>. ' +
        'Repeat the command with --dry-run to see all changes, or with --yes to make them.\n',
    )
    expect(imported.out).toBe('The catalog is now at revision 2 (providers: 1, models: 1).\n')
    expect(JSON.parse(history.out)).toMatchObject({ data: [{ revision: 2 }, { revision: 1 }] })
    expect(back.out).toBe('The catalog is now at revision 3 (providers: 1, models: 1).\n')
    expect(same.out).toBe('Nothing would change. The catalog stays at revision 3.\n')
  })

  test('a first import removes the rows of the sandbox without --yes', async () => {
    const dataDir = join(home, 'after-sandbox')
    const file = join(home, 'own.yaml')
    writeFileSync(file, CATALOG)
    const server = await startServer(dataDir)

    const { code, out } = await spawned(['catalog', 'import', file], { TOLLGATE_DATA_DIR: dataDir })
    server.kill('SIGTERM')
    await server.exited

    expect({ code, out }).toEqual({
      code: 0,
      out: 'The catalog is now at revision 2 (providers: 1, models: 1).\n',
    })
  })

  test('a catalog file with a mistake is refused with the line', async () => {
    const file = join(home, 'wrong.yaml')
    writeFileSync(file, 'providers: []\nmodels:\n  - id: x\n    kind: chatt\n')

    const { code, err } = await tollgate(['catalog', 'import', file], {
      TOLLGATE_DATA_DIR: join(home, 'wrong'),
    })

    expect(code).toBe(1)
    expect(err).toStartWith('line 4, column 5: models[0].kind is "chatt"')
  })

  test('a catalog file that cannot be read or written is an error', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'unwritable') }
    await tollgate(['accounts', 'create', 'ada'], folder)

    const read = await tollgate(['catalog', 'import', join(home, 'none.yaml')], folder)
    const written = await tollgate(['catalog', 'export', join(home, 'none', 'catalog.yaml')], folder)

    expect(read).toMatchObject({
      code: 2,
      err: expect.stringContaining('none.yaml cannot be read: there is no such file or folder.'),
    })
    expect(written).toMatchObject({
      code: 2,
      err: expect.stringContaining('catalog.yaml cannot be written: there is no such file or folder.'),
    })
  })
})
