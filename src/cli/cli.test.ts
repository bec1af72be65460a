import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CATALOG, ownBooks, spawned, tollgate } from '../../test/support/cli-commands.ts'
import { aDataFolder } from '../../test/support/data-folder.ts'

const home = aDataFolder()

describe('without a data folder', () => {
  test('--help lists every command, the exit codes and where to find the settings', async () => {
    const { code, out } = await spawned(['--help'])

    expect(code).toBe(0)
    for (const word of [
      'serve',
      'accounts',
      'keys',
      'grant',
      'balance',
      'statement',
      'catalog',
      'models',
      'jobs',
      'backup',
      'restore',
      'migrate-store',
    ]) {
      expect(out).toContain(`  ${word} `)
    }
    expect(out).toContain('Exit codes: 0')
    expect(out).toContain('tollgate serve --help')
  })

  test('help COMMAND prints the same as COMMAND --help', async () => {
    const [asked, flagged] = [await tollgate(['help', 'grant']), await tollgate(['grant', '--help'])]

    expect(asked).toEqual(flagged)
    expect(asked.code).toBe(0)
  })

  test('serve --help lists the settings', async () => {
    const { code, out } = await tollgate(['serve', '--help'])

    expect(code).toBe(0)
    expect(out).toContain('TOLLGATE_PORT (8787)')
    expect(Math.max(...out.split('\n').map(line => line.length))).toBeLessThan(90)
  })

  test.each([
    [['acounts']],
    [['balance']],
    [['balance', 'ada', '--jsn']],
    [['grant', 'ada', 'ten']],
    [['grant', 'ada', '10', '--source', 'gift']],
    [['statement', 'ada', '--limit', '0']],
    [['statement', 'ada', '--limit', '501']],
    [['jobs', 'list', '--limit', 'ten']],
    [['admin-tokens', 'create', 'ci']],
    [['admin-tokens', 'create', 'ci', '--scope', 'write']],
    [['admin-tokens', 'create', 'ci', '--scope', 'read', '--expires', '90']],
    [['models']],
    [[]],
  ])('the wrong arguments %p exit with 2', async args => {
    const { code, out, err } = await tollgate(args)

    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).not.toBe('')
  })

  test('with --json, wrong arguments are reported as JSON', async () => {
    const { code, out, err } = await tollgate(['acounts', '--json'])

    expect({ code, err }).toEqual({ code: 2, err: '' })
    expect(JSON.parse(out)).toEqual({
      error: {
        message: "unknown command 'acounts' (Did you mean accounts?)",
        type: 'command_error',
        code: 'invalid_argument',
      },
    })
  })

  test.each([[[]], [['models']]])(
    'with --json and no command, %p, the JSON says that it is missing',
    async args => {
      const { code, out } = await tollgate([...args, '--json'])

      expect(code).toBe(2)
      expect(JSON.parse(out)).toMatchObject({
        error: { message: 'The command is missing. Use --help to list the commands.' },
      })
    },
  )

  test('wrong settings exit with 2 and are reported together', async () => {
    const settings = { TOLLGATE_PORT: 'x', TOLLGATE_DATA: '/data' }

    const text = await spawned(['balance', 'ada'], settings)
    const json = await tollgate(['balance', 'ada', '--json'], settings)

    expect(text.code).toBe(2)
    expect(text.err.trim().split('\n')).toEqual([
      'TOLLGATE_PORT is "x". It must be a whole number from 0 to 65535.',
      'TOLLGATE_DATA is not a setting. Did you mean TOLLGATE_DATA_DIR? Rename or unset it.',
    ])
    expect(JSON.parse(json.out)).toMatchObject({
      error: { code: 'invalid_setting', problems: text.err.trim().split('\n') },
    })
  })

  test('a command that only reads does not create a missing data folder', async () => {
    const folder = join(home, 'nowhere')

    const { code, err } = await tollgate(['balance', 'ada'], { TOLLGATE_DATA_DIR: folder })

    expect(code).toBe(1)
    expect(err).toContain(`There is no data folder at ${folder}.`)
    expect(existsSync(folder)).toBe(false)
  })

  test('doctor shows the settings before the first start, and says that there is no store yet', async () => {
    const folder = join(home, 'nowhere')
    const environment = { TOLLGATE_DATA_DIR: folder, TOLLGATE_PORT: '9000' }

    const { code, out } = await tollgate(['doctor'], environment)
    const json = await tollgate(['doctor', '--json'], environment)

    expect([code, json.code]).toEqual([0, 0])
    expect(out).toContain('There is no store yet.')
    expect(out).toMatch(/TOLLGATE_PORT +9000 +set/)
    expect(JSON.parse(json.out)).toMatchObject({
      server: null,
      ok: true,
      checks: [{ name: 'store', ok: true, is_warning: true, detail: expect.stringContaining(folder) }],
      settings: expect.arrayContaining([
        { name: 'TOLLGATE_PORT', value: '9000', default: '8787', is_set: true },
      ]),
    })
    expect(existsSync(folder)).toBe(false)
  })

  test('a command that only reads does not make a data folder of another folder', async () => {
    const folder = join(home, 'photos')
    mkdirSync(folder)

    const { code, err } = await tollgate(['balance', 'ada'], { TOLLGATE_DATA_DIR: folder })

    expect(code).toBe(1)
    expect(err).toContain(`There is no data folder at ${folder}.`)
    expect(readdirSync(folder)).toEqual([])
  })

  test('serve refuses a start that would limit concurrent calls', async () => {
    const { code, err } = await tollgate(['serve'])

    expect(code).toBe(2)
    expect(err).toContain('bin/tollgate')
  })
})

describe('the data folder', () => {
  test('the data folder is printed as an absolute path, with new books and with others, and not with --json', async () => {
    const work = mkdtempSync(join(home, 'work-'))
    const create = ['accounts', 'create', 'ada']
    const inFolder = (cwd: string, args: readonly string[]) => spawned(args, {}, cwd)
    mkdirSync(join(work, 'today'))

    const first = await inFolder(work, create)
    const second = await inFolder(join(work, 'today'), create)
    const read = await inFolder(work, ['balance', 'ada'])
    const refused = await inFolder(work, ['balance', 'bob'])
    const json = await inFolder(work, ['balance', 'ada', '--json'])

    expect(first.err).toStartWith(
      `Data folder: ${join(work, 'data')}\nThis command created new, empty books.`,
    )
    expect(second.err).toContain(
      `created new, empty books. There are other books in ${[join(work, 'data'), ...ownBooks].join(' and in ')}. To use them,`,
    )
    expect(read.err).toBe(`Data folder: ${join(work, 'data')}\n`)
    expect(refused.err).toEndWith(`\nData folder: ${join(work, 'data')}\n`)
    expect(json.err).toBe('')
  })

  test('the data folder with a damaged database is named, with what to do', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'damaged') }
    await tollgate(['accounts', 'create', 'ada'], folder)
    const database = join(home, 'damaged', 'tollgate.db')
    const bytes = readFileSync(database)
    writeFileSync(database, bytes.fill(0xff, 4096))

    const { code, err } = await tollgate(['balance', 'ada'], folder)
    const json = await tollgate(['balance', 'ada', '--json'], folder)

    expect(code).toBe(1)
    expect(err).toStartWith(`The database ${database} is damaged. Stop the gateway, move the file`)
    expect(JSON.parse(json.out)).toMatchObject({ error: { code: 'data_folder_unusable' } })
  })

  test('the data folder that is a file is named, with the setting', async () => {
    const file = join(home, 'a-file')
    writeFileSync(file, '')

    const { code, err } = await tollgate(['accounts', 'create', 'ada'], { TOLLGATE_DATA_DIR: file })

    expect({ code, err }).toEqual({
      code: 1,
      err: `The data folder ${file} cannot be used, because it or a part of its path is a file. Set TOLLGATE_DATA_DIR to another path.\n`,
    })
  })
})

describe('on a stopped data folder', () => {
  test('an error is printed as a sentence, or in the envelope of the API', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'refusals') }
    await tollgate(['accounts', 'create', 'ada'], folder)

    const text = await tollgate(['accounts', 'create', 'ada'], folder)
    const json = await tollgate(['balance', 'unknown', '--json'], folder)

    expect(text).toMatchObject({ code: 1, out: '' })
    expect(text.err).toContain('ada')
    expect(json).toMatchObject({ code: 1, err: '' })
    expect(JSON.parse(json.out)).toMatchObject({ error: { code: 'not_found', type: 'not_found_error' } })
  })

  test('a long output is written completely to a slow reader', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'long') }
    const file = join(home, 'long.yaml')
    const rows = Array.from({ length: 3000 }, (_, at) =>
      CATALOG.split('models:\n')[1]!.replace('meta/x', `x-${at}`),
    )
    writeFileSync(file, `${CATALOG.split('models:\n')[0]}models:\n${rows.join('')}`)
    await tollgate(['catalog', 'import', file], folder)

    const { out } = await spawned(['models', 'list', '--json'], folder)

    expect((JSON.parse(out) as { data: unknown[] }).data).toHaveLength(3000)
  })
})
