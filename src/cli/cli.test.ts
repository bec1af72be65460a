import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { until } from '../../test/scenarios/until.ts'
import { startCli } from '../../test/support/run-cli.ts'
import { addUsd, usd } from '../domain/money.ts'
import { main } from './main.ts'

const CLI = resolve(import.meta.dirname, '../cli.ts')
const CATALOG = `
providers:
  - { id: main, kind: openai-compatible, base_url: 'http://127.0.0.1:9/v1', api_key: 'sk-literal-secret' }
models:
  - id: meta/x
    kind: chat
    upstreams: [{ provider: main, model: x-1 }]
    pricing: { input_per_mtok: '1', output_per_mtok: '2' }
    max_output_tokens: 100
`

/** A start of this working copy leaves books here, which other starts report. */
const OWN_DATA = resolve(import.meta.dirname, '../../data')
const ownBooks = existsSync(join(OWN_DATA, 'tollgate.db')) ? [OWN_DATA] : []

type Ran = { readonly code: number; readonly out: string; readonly err: string }

let home: string

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'tollgate-cli-'))
})

afterAll(() => {
  rmSync(home, { recursive: true, force: true })
})

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
  test('an account gets money and a key, and the ledger balances', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'stopped') }

    const created = await tollgate(['accounts', 'create', 'ada', '--grant', '12.50'], folder)
    const key = await tollgate(['keys', 'create', 'ada', '--name', 'laptop'], folder)
    const granted = await tollgate(['grant', 'ada', '0.000000001', '--source', 'top_up', '--json'], folder)
    const balance = await tollgate(['balance', 'ada'], folder)
    const statement = await tollgate(['statement', 'ada', '--limit', '1', '--json'], folder)
    const verified = await tollgate(['verify'], folder)

    expect(created.out).toMatch(/^Created account ada \(acct_\w+\) with 12\.5 USD\.\n$/)
    expect(key.out).toMatch(/^tg_live_\w{43}\n$/)
    expect(key.err).toContain('not shown again')
    expect(JSON.parse(granted.out)).toMatchObject({ amount_usd: '0.000000001' })
    expect(balance.out).toBe('available  12.500000001 USD\nheld       0 USD\n')
    expect(JSON.parse(statement.out)).toMatchObject({ data: [{ kind: 'top_up' }], has_more: true })
    expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('The books balance') })
  })

  test('a token for grants needs an amount a day, and the refusal names the option', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'token-terms') }
    await tollgate(['accounts', 'create', 'ada'], folder)
    const create = ['admin-tokens', 'create', 'bookkeeper', '--scope', 'grants']

    const refused = await tollgate(create, folder)
    const made = await tollgate([...create, '--grants-per-day', '50', '--json'], folder)

    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('needs --grants-per-day USD') })
    expect(JSON.parse(made.out)).toMatchObject({
      scopes: ['grants'],
      grants_per_day_usd: '50',
      expires_at: null,
    })
  })

  test('a large credit needs a yes, and a small one does not', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'large'), TOLLGATE_GRANT_CONFIRM_USD: '100' }
    const questions: string[] = []
    const says = (answer: boolean) => async (question: string) => {
      questions.push(question)
      return answer
    }

    const created = await tollgate(['accounts', 'create', 'bob', '--grant', '100.5'], folder)
    await tollgate(['accounts', 'create', 'ada', '--grant', '100'], folder)
    const refused = await tollgate(['grant', 'ada', '100.000000001'], folder)
    const json = await tollgate(['grant', 'ada', '101', '--json'], folder, says(true))
    const denied = await tollgate(['grant', 'ada', '101'], folder, says(false))
    const before = await tollgate(['balance', 'ada'], folder)
    const agreed = await tollgate(['grant', 'ada', '101'], folder, says(true))
    const flagged = await tollgate(['grant', 'ada', '200', '--yes'], folder)
    const after = await tollgate(['balance', 'ada'], folder)

    expect([created.code, refused.code, json.code, denied.code]).toEqual([2, 2, 2, 1])
    expect(refused.err).toContain(
      'A credit of 100.000000001 USD is more than 100 USD. Repeat the command with --yes.',
    )
    expect(before.out).toStartWith('available  100 USD')
    expect([agreed.code, flagged.code]).toEqual([0, 0])
    expect(after.out).toStartWith('available  401 USD')
    expect(questions).toEqual(Array(2).fill('A credit of 101 USD is more than 100 USD. Make it? [y/N] '))
    expect((await tollgate(['balance', 'bob'], folder)).code).toBe(1)
  })

  test('money is taken and given back, and an account is suspended and resumed', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'corrected') }
    await tollgate(['accounts', 'create', 'ada', '--grant', '5'], folder)

    const debited = await tollgate(['accounts', 'debit', 'ada', '2', '--idempotency-key', 'a'], folder)
    const repeated = await tollgate(['accounts', 'debit', 'ada', '2', '--idempotency-key', 'a'], folder)
    const refused = await tollgate(['accounts', 'debit', 'ada', '4'], folder)
    const allowed = await tollgate(['accounts', 'debit', 'ada', '4', '--allow-negative'], folder)
    const unknown = await tollgate(['refund', 'req_00000000000000000000000000'], folder)
    const suspended = await tollgate(['accounts', 'suspend', 'ada'], folder)
    const resumed = await tollgate(['accounts', 'resume', 'ada'], folder)

    expect(debited.out).toBe('Took 2 USD. ada has 3 USD available.\n')
    expect(repeated.out).toStartWith('Nothing was taken now: this idempotency key took 2 USD before (op_')
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        'The account has 3 USD available. A larger debit needs "allow_negative". On the command line, that is --allow-negative.',
      ),
    })
    expect(allowed.out).toBe('Took 4 USD. ada has -1 USD available.\n')
    expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('There is no charge') })
    expect(suspended.out).toMatch(/^ada is suspended since 20/)
    expect(resumed.out).toBe('ada is active.\n')
  })

  test('a backup is written and restored, and the old books are kept', async () => {
    const settings = { TOLLGATE_DATA_DIR: join(home, 'backed-up') }
    await tollgate(['accounts', 'create', 'ada', '--grant', '25'], settings)
    const file = join(home, 'books.db')
    const catalog = join(home, 'backed-up.yaml')
    writeFileSync(catalog, CATALOG)
    await tollgate(['catalog', 'import', catalog], settings)

    const backup = await tollgate(['backup', file], settings)
    await tollgate(['accounts', 'debit', 'ada', '5'], settings)
    const again = await tollgate(['backup', file, '--json'], settings)
    const refused = await tollgate(['restore', file, '--json'], settings)
    const restored = await tollgate(['restore', file, '--replace', 'a trial', '--json'], settings)
    const balance = await tollgate(['balance', 'ada'], settings)

    expect(backup.code).toBe(0)
    expect(backup.out).toContain(`Backup: ${file} (`)
    expect(backup.err).toContain('The backup does not have secret.key.')
    expect(again.code).toBe(1)
    expect(JSON.parse(again.out)).toMatchObject({ error: { code: 'already_exists' } })
    expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('--replace REASON')])
    expect(JSON.parse(restored.out)).toMatchObject({
      file,
      data_dir: settings.TOLLGATE_DATA_DIR,
      finished_interrupted: false,
      has_secret_key: true,
      replaced: expect.stringContaining(join(settings.TOLLGATE_DATA_DIR, 'replaced-')),
    })
    expect(balance.out).toContain('25')
  })

  test('a command that only reads creates no secret.key, so that a later restore still says that it is missing', async () => {
    const from = { TOLLGATE_DATA_DIR: join(home, 'with-key') }
    const to = { TOLLGATE_DATA_DIR: join(home, 'without-key') }
    const file = join(home, 'with-key.db')
    const catalog = join(home, 'with-key.yaml')
    writeFileSync(catalog, CATALOG)
    await tollgate(['catalog', 'import', catalog], from)
    await tollgate(['backup', file], from)

    await tollgate(['restore', file], to)
    const reads = await Promise.all([tollgate(['models', 'list'], to), tollgate(['verify', '--help'], to)])
    const verified = await tollgate(['verify'], to)
    const again = await tollgate(['restore', file, '--replace', 'a trial'], to)
    const hasKey = existsSync(join(to.TOLLGATE_DATA_DIR, 'secret.key'))
    const imported = await tollgate(['catalog', 'import', catalog], to)

    expect([...reads, verified, again].map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(hasKey).toBe(false)
    expect(again.err).toContain('Put your secret.key into')
    expect(imported.code).toBe(0)
    expect(existsSync(join(to.TOLLGATE_DATA_DIR, 'secret.key'))).toBe(true)
    expect((await tollgate(['models', 'list'], to)).code).toBe(0)
  })

  test('reconcile runs once and prints what it did', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'reconciled') }
    await tollgate(['accounts', 'create', 'ada'], folder)

    const text = await tollgate(['reconcile'], folder)
    const json = await tollgate(['reconcile', '--json'], folder)

    expect(text.code).toBe(0)
    expect(text.out).toContain('Late answers charged and given back: 0 (0 USD).')
    expect(text.out).toContain('Running jobs polled: 0, of which 0 had ended.')
    const nothing = { has_run: true, compensated: 0, compensated_usd: '0', closed: 0, expired: 0, failed: 0 }
    expect(JSON.parse(json.out)).toEqual({
      ...nothing,
      jobs: expect.objectContaining({ polled: 0, failed: 0 }),
    })
  })

  test('a repeated grant with the same idempotency key says that nothing was credited', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'repeated') }
    await tollgate(['accounts', 'create', 'ada'], folder)
    const grant = ['grant', 'ada', '5', '--idempotency-key', 'invoice-17']

    const first = await tollgate(grant, folder)
    await tollgate(['grant', 'ada', '1'], folder)
    const second = await tollgate(grant, folder)
    const json = await tollgate([...grant, '--json'], folder)

    expect(first.out).toBe('Credited 5 USD. ada has 5 USD available.\n')
    expect(second.code).toBe(0)
    expect(second.out).toMatch(
      /^Nothing was credited now: this idempotency key credited 5 USD before \(op_\w+\)\.\n$/,
    )
    expect(JSON.parse(json.out)).toMatchObject({ is_repeat: true })
  })

  test('a command that moves money prints the key that it made, and moves it once for this key', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'made-keys') }
    const created = await tollgate(['accounts', 'create', 'ada', '--grant', '9'], folder)

    const printed: string[] = []
    for (const command of [
      ['grant', 'ada', '5'],
      ['accounts', 'debit', 'ada', '2'],
    ]) {
      const first = await tollgate(command, folder)
      const [, key = ''] = /^Idempotency key: (cli-[\w-]{36})\n/.exec(first.err) ?? []
      printed.push(key)
      const repeated = await tollgate([...command, '--idempotency-key', key], folder)
      expect(repeated.out).toStartWith('Nothing was ')
      expect(repeated.err).not.toContain('Idempotency key:')
    }
    const json = await tollgate(['grant', 'ada', '1', '--json'], folder)

    expect(created.err).toStartWith('Idempotency key: cli-')
    expect(new Set(printed).size).toBe(2)
    expect(JSON.parse(json.out)).toMatchObject({ idempotency_key: expect.stringMatching(/^cli-/) })
    expect(json.err).toBe('')
    expect((await tollgate(['balance', 'ada'], folder)).out).toStartWith('available  13 USD')
  })

  test('a renamed and revoked key is listed with its new name and its state', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'keys') }
    await tollgate(['accounts', 'create', 'ada'], folder)
    const { id } = JSON.parse((await tollgate(['keys', 'create', 'ada', '--json'], folder)).out) as {
      id: string
    }

    const renamed = await tollgate(['keys', 'rename', id, 'laptop'], folder)
    const revoked = await tollgate(['keys', 'revoke', id], folder)
    const listed = await tollgate(['keys', 'list', 'ada'], folder)

    expect(renamed.out).toBe(`The key ${id} is now named laptop.\n`)
    expect(listed.out).toContain(' laptop ')
    expect(revoked.code).toBe(0)
    expect(listed.out).toMatch(/ revoked 20\d\d-/)
  })

  test('an account is renamed, and closed once it is empty', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'closed-accounts') }
    await tollgate(['accounts', 'create', 'ada', '--grant', '5'], folder)

    const renamed = await tollgate(['accounts', 'rename', 'ada', 'eve'], folder)
    const full = await tollgate(['accounts', 'close', 'eve'], folder)
    await tollgate(['accounts', 'debit', 'eve', '5'], folder)
    const closed = await tollgate(['accounts', 'close', 'eve'], folder)
    const listed = await tollgate(['accounts', 'list'], folder)
    const granted = await tollgate(['grant', 'eve', '5'], folder)

    expect(renamed.out).toMatch(/^The account acct_\w+ is now named eve\.\n$/)
    expect(full.code).toBe(1)
    expect(full.err).toContain(
      '5 USD is available. Take the money with a debit of 5 USD. Then close it again.',
    )
    expect(closed.out).toMatch(/^eve is closed since 20/)
    expect(listed.out).toMatch(/eve .* closed 20/)
    expect(granted.err).toContain('This account is closed, so it takes no credits.')
  })

  test('a key is rotated, both of its secrets are listed with their ends, and the lost one is revoked', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'rotated-keys') }
    await tollgate(['accounts', 'create', 'ada'], folder)
    const first = (await tollgate(['keys', 'create', 'ada'], folder)).out.trim()
    const prefix = first.slice(0, 12)

    const rotated = await tollgate(['keys', 'rotate', prefix, '--old-ends', '7d'], folder)
    const second = rotated.out.trim()
    const listed = await tollgate(['keys', 'list', 'ada'], folder)
    const again = await tollgate(['keys', 'rotate', prefix], folder)
    const back = await tollgate(['keys', 'revoke-secret', prefix, `${second.slice(0, 12)}…`], folder)
    const ended = await tollgate(['keys', 'show', second], folder)
    const wrong = await tollgate(['keys', 'rotate', prefix, '--old-ends', 'soon'], folder)
    const tooLate = await tollgate(['keys', 'rotate', prefix, '--old-ends', '99d'], folder)

    expect(second).toMatch(/^tg_live_[0-9A-Za-z]{43}$/)
    expect(rotated.err).toContain(`The old secret ${prefix}… ends 20`)
    expect(listed.out).toMatch(new RegExp(`${second.slice(0, 12)}….*active; ${prefix}… ends 20`))
    expect(again).toMatchObject({ code: 1, out: '' })
    expect(again.err).toContain('Revoke one of the two before you rotate the key again')
    expect(back.out).toMatch(new RegExp(`^Secrets of key_\\w+ that work: ${prefix}…\\.\n$`))
    expect(ended.out).toMatch(/asked {4}tg_live_\w{4}… ended 20.*, so requests with it are refused/)
    expect(wrong).toMatchObject({ code: 2, out: '' })
    expect(tooLate.code).toBe(2)
    expect(tooLate.err).toContain('Write 30d or less: an old secret works for at most 30 days.')
    for (const { out, err } of [listed, again, back, ended]) expect(out + err).not.toContain(second)
  })

  test('a key that is "-" is read from standard input', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'typed-keys') }
    await tollgate(['accounts', 'create', 'ada'], folder)
    const key = (await tollgate(['keys', 'create', 'ada'], folder)).out
    const child = startCli(['keys', 'show', '-'], folder, new TextEncoder().encode(key))

    const out = await new Response(child.stdout).text()

    expect(await child.exited).toBe(0)
    expect(out).toStartWith(`key      ${key.slice(0, 12)}…\nid       key_`)
  })

  test('a key is shown and revoked by its text or its first characters, and its text is never printed', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'found-keys') }
    await tollgate(['accounts', 'create', 'ada'], folder)
    const key = (await tollgate(['keys', 'create', 'ada'], folder)).out.trim()
    const prefix = key.slice(0, 12)

    const byText = await tollgate(['keys', 'show', key], folder)
    const byPrefix = await tollgate(['keys', 'show', `${prefix}…`], folder)
    const set = await tollgate(['keys', 'set', key, '--rpm', '60'], folder)
    const revoked = await tollgate(['keys', 'revoke', key], folder)
    const after = await tollgate(['keys', 'show', prefix], folder)
    const refused = [
      await tollgate(['keys', 'revoke', `tg_live_${'x'.repeat(43)}`], folder),
      await tollgate(['balance', key], folder),
      await tollgate(['balance', key, '--json'], folder),
      await tollgate([key], folder),
      await tollgate([key, '--json'], folder),
      await tollgate(['grant', 'ada', key], folder),
    ]

    expect(byText.out).toStartWith(`key      ${prefix}…\nid       key_`)
    expect(byText.out).toMatch(/account {2}ada \(acct_\w+\)\nproject {2}none\n/)
    expect(byText.out).toEndWith(
      linesOf(
        'expires  never',
        'used     never',
        'state    active',
        'models   all',
        'routes   all',
        'from     all addresses',
        'limits   none',
      ),
    )
    expect(byPrefix.out).toBe(byText.out)
    expect(set.out).toEndWith('\nlimits   60 requests per minute\n')
    expect(revoked.out).toStartWith(`Revoked ${prefix}… (key_`)
    expect(after.out).toContain('state    revoked 20')
    expect(refused.map(({ code }) => code)).toEqual([1, 1, 1, 2, 2, 2])
    for (const { out, err } of [byText, set, revoked, after, ...refused])
      expect(out + err).not.toMatch(/tg_live_[0-9A-Za-z]{5}/)
  })

  test('keys are created and changed with what they may use, and disabled and enabled', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'restricted-keys') }
    await tollgate(['accounts', 'create', 'ada'], folder)
    const restricted = [
      '--model',
      'gpt-*',
      '--model',
      'claude-x',
      '--route',
      'messages',
      '--address',
      '10.0.0.0/8',
    ]
    const create = [
      'keys',
      'create',
      'ada',
      '--name',
      'ci',
      '--rpm',
      '60',
      '--expires',
      '2099-01-31',
      ...restricted,
    ]
    const key = (await tollgate(create, folder)).out.trim()

    const shown = await tollgate(['keys', 'show', key], folder)
    const changes = [
      '--model',
      'none',
      '--address',
      'none',
      '--expires',
      'none',
      '--rpm',
      'none',
      '--route',
      'images',
    ]
    const set = await tollgate(['keys', 'set', key, ...changes], folder)
    const perModel = await tollgate(['keys', 'set', key, '--rpm', '5', '--for-model', 'gpt-x'], folder)
    const budget = ['keys', 'set', key, '--rpm', 'none', '--budget', 'day=5', '--for-model', 'gpt-x']
    const budgeted = await tollgate(budget, folder)
    const disabled = await tollgate(['keys', 'disable', key], folder)
    const listed = await tollgate(['keys', 'list', 'ada'], folder)
    const enabled = await tollgate(['keys', 'enable', key], folder)
    const past = await tollgate(['keys', 'set', key, '--expires', '2020-01-01'], folder)
    const refused = [
      await tollgate(['keys', 'set', key, '--route', 'chat'], folder),
      await tollgate(['keys', 'set', key, '--address', '10.0.0.1/8'], folder),
      await tollgate(['keys', 'set', key, '--expires', 'soon'], folder),
      await tollgate(['keys', 'set', key], folder),
    ]

    expect(shown.out).toEndWith(
      linesOf(
        'expires  2099-01-31T00:00:00.000Z',
        'used     never',
        'state    active',
        'models   gpt-*, claude-x',
        'routes   messages',
        'from     10.0.0.0/8',
        'limits   60 requests per minute',
      ),
    )
    expect(set.out).toEndWith(
      linesOf(
        'expires  never',
        'used     never',
        'state    active',
        'models   all',
        'routes   images',
        'from     all addresses',
        'limits   none',
      ),
    )
    expect(perModel.out).toEndWith('\nlimits   5 requests per minute with gpt-x\n')
    expect(budgeted.err).toStartWith('There is no model "gpt-x" now.')
    expect(budgeted.out).toEndWith('\nlimits   5 USD a day with gpt-x (0 spent, 5 left)\n')
    expect(disabled.out).toMatch(/^Disabled tg_live_\w{4}… \(key_\w+\)\. /)
    expect(listed.out).toMatch(/ – +– +disabled 20\d\d-/)
    expect(enabled.out).toMatch(/^Enabled tg_live_\w{4}… .* Its state is: active\.\n$/)
    expect(past).toMatchObject({
      code: 2,
      err: expect.stringContaining('--expires must be in the future; to end a key now, disable it.'),
    })
    expect(refused.map(({ code }) => code)).toEqual([2, 2, 2, 2])
    expect(refused[1]!.err).toContain('Write 10.0.0.0/8, which begins at its first address')
  })

  test('a command that needs the sums of an earlier version adds them up itself', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'earlier') }
    await tollgate(['accounts', 'create', 'ada'], folder)
    const database = new Database(join(home, 'earlier', 'tollgate.db'))
    database.run('UPDATE usage_rebuild SET charges_to = 5, costs_to = 5')
    database.close()

    const set = await tollgate(['accounts', 'set', 'ada', '--budget', 'month=20'], folder)

    expect(set).toMatchObject({ code: 0, out: expect.stringContaining('20 USD a month (0 spent, 20 left)') })
  })

  test('projects are created with limits, renamed, listed and closed, and keys are created in them', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'projects') }
    await tollgate(['accounts', 'create', 'ada'], folder)
    const create = ['projects', 'create', 'ada', 'web', '--budget', 'month=20', '--json']
    const { id } = JSON.parse((await tollgate(create, folder)).out) as { id: string }

    const key = (await tollgate(['keys', 'create', 'ada', '--project', 'web'], folder)).out.trim()
    const set = await tollgate(['projects', 'set', id, '--rpm', '60', '--tpm', 'none'], folder)
    const renamed = await tollgate(['projects', 'rename', id, 'site'], folder)
    const shownKey = await tollgate(['keys', 'show', key], folder)
    const closed = await tollgate(['projects', 'close', id], folder)
    const [shown, listed] = [
      await tollgate(['projects', 'show', id], folder),
      await tollgate(['projects', 'list', 'ada'], folder),
    ]
    const late = await tollgate(['keys', 'create', 'ada', '--project', 'site'], folder)
    const usage = await tollgate(['projects', 'usage', id, '--by', 'model'], folder)
    const csv = await tollgate(
      ['projects', 'usage', id, '--csv', '--from', '2026-11-01', '--to', '2026-12-01'],
      folder,
    )

    expect(set.out).toBe(`Limits of ${id}:\n60 requests per minute\n20 USD a month (0 spent, 20 left)\n`)
    expect(renamed.out).toBe(`The name of ${id} is site.\n`)
    expect(shownKey.out).toContain(`\nproject  ${id}\n`)
    expect(closed.out).toBe(`Closed site (${id}). Requests with its keys are now refused.\n`)
    expect(shown.out).toMatch(/^name {5}site\nid {7}proj_\w+\naccount {2}acct_\w+\n/)
    expect(listed.out).toMatch(/site +proj_\w+ .* closed 20/)
    expect(usage.out).toBe('No usage.\n')
    expect(csv.out.trim()).toBe(
      'day,charges,input_tokens,output_tokens,images,seconds,cost_usd,compensated_usd,provider_cost_usd,margin_usd,' +
        'charges_without_cost',
    )
    expect(late).toMatchObject({ code: 2, err: expect.stringContaining('The project "site" is closed.') })
  })

  test('new keys begin with the defaults of the gateway and of their account, and with the limits of the command', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'key-defaults') }
    await tollgate(['accounts', 'create', 'ada'], folder)

    const before = await tollgate(['key-defaults', 'show'], folder)
    const ofGateway = await tollgate(['key-defaults', 'set', '--rpm', '60', '--budget', 'day=1'], folder)
    const ofAccount = await tollgate(['key-defaults', 'set', '--account', 'ada', '--rpm', '30'], folder)
    const create = ['keys', 'create', 'ada', '--budget', 'day=none', '--budget', 'month=20']
    const key = (await tollgate(create, folder)).out.trim()
    const free = (await tollgate([...create, '--rpm', 'none'], folder)).out.trim()
    const unset = await tollgate(['keys', 'set', free, '--budget', 'month=none', '--tpm', 'none'], folder)

    expect(before.out).toBe('New keys get no defaults from the gateway.\n')
    expect(unset.out).toEndWith('\nlimits   none\n')
    expect(ofGateway.out).toBe(
      'New keys get these defaults from the gateway:\n60 requests per minute\n1 USD a day\n',
    )
    expect(ofAccount.out).toMatch(/^New keys get these defaults from acct_\w+:\n30 requests per minute\n$/)
    expect((await tollgate(['key-defaults', 'show', '--account', 'ada'], folder)).out).toBe(ofAccount.out)
    expect((await tollgate(['keys', 'show', key], folder)).out).toContain(
      '\nlimits   30 requests per minute; 20 USD a month (0 spent, 20 left)\n',
    )
  })

  test('defaults of the settings of new keys are set, shown and removed', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'setting-defaults') }
    await tollgate(['accounts', 'create', 'ada'], folder)
    const set = (...options: string[]) => tollgate(['key-defaults', 'set', ...options], folder)

    const changed = await set('--model', 'gpt-*', '--route', 'images', '--expires-in', '90d', '--rpm', '60')
    const fewer = await set(
      '--model',
      'none',
      '--rpm',
      'none',
      '--address',
      '10.0.0.0/8',
      '--expires-in',
      '36h',
    )
    const key = (await tollgate(['keys', 'create', 'ada'], folder)).out.trim()
    const shown = await tollgate(['keys', 'show', key], folder)
    const wrong = await set('--expires-in', '2027-01-01')

    expect(changed.out).toBe(
      linesOf(
        'New keys get these defaults from the gateway:',
        '60 requests per minute',
        'models gpt-*',
        'routes images',
        'expire 90 days after their creation',
      ),
    )
    expect(fewer.out).toBe(
      linesOf(
        'New keys get these defaults from the gateway:',
        'routes images',
        'only from 10.0.0.0/8',
        'expire 36 hours after their creation',
      ),
    )
    expect(shown.out).toMatch(/\nexpires  20\d\d-/)
    expect(shown.out).toContain('\nmodels   all\nroutes   images\nfrom     10.0.0.0/8\n')
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('Write a time from 1s to 3650d') })
  })

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

  test('verify exits with 1 and names the first wrong entry of a tampered ledger', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'tampered') }
    await tollgate(['accounts', 'create', 'ada', '--grant', '5'], folder)
    tamper(join(home, 'tampered', 'tollgate.db'))

    const text = await tollgate(['verify'], folder)
    const json = await tollgate(['verify', '--json'], folder)

    expect(text.code).toBe(1)
    expect(text.out).toStartWith('The books do not balance. The first wrong entry is ')
    expect(json.code).toBe(1)
    expect(JSON.parse(json.out)).toMatchObject({ ok: false })
  })

  test('verify reports that the books do not match their anchor, and not that they do not balance', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'lost-anchor') }
    await tollgate(['accounts', 'create', 'ada', '--grant', '5'], folder)
    writeFileSync(join(home, 'lost-anchor', 'anchor.json'), '{"node":"main","number":9999,"hash":"00"}\n')

    const { code, out, err } = await tollgate(['verify'], folder)

    expect(code).toBe(1)
    expect(out).toStartWith('The books do not match their anchor.\n')
    expect(err).toContain('See "If the database lost commits" in docs/books.md.')
  })

  test('doctor exits with 1 if no model is on', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'doctor') }
    await tollgate(['accounts', 'create', 'ada'], folder)

    const { code, out } = await tollgate(['doctor'], folder)

    expect(code).toBe(1)
    expect(out).toContain('No server is running on this data folder.')
    expect(out).toMatch(/FAILED +catalog +No model is on/)
  })

  test('doctor counts all models, including unfinished ones', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'counted') }
    const file = join(home, 'counted.yaml')
    const draft = '  - { id: soon, kind: chat, enabled: false, upstreams: [{ provider: main, model: y }] }\n'
    writeFileSync(file, CATALOG + draft)
    await tollgate(['catalog', 'import', file], folder)

    const { out } = await tollgate(['doctor'], folder)

    expect(out).toMatch(/ok +catalog +1 of 2 models are on/)
  })

  test('the file of a killed server is ignored', async () => {
    const dataDir = join(home, 'stale')
    await tollgate(['accounts', 'create', 'ada'], { TOLLGATE_DATA_DIR: dataDir })
    const gone = Bun.spawn(['true'])
    await gone.exited
    writeFileSync(join(dataDir, 'server.json'), JSON.stringify({ url: 'http://127.0.0.1:9', pid: gone.pid }))

    const { code, out } = await tollgate(['balance', 'ada'], { TOLLGATE_DATA_DIR: dataDir })

    expect({ code, out }).toEqual({ code: 0, out: 'available  0 USD\nheld       0 USD\n' })
  })
})

describe('on a running server', () => {
  test('usage is a list, and as CSV has every charged request and job with their account', async () => {
    const dataDir = join(home, 'usage')
    const folder = { TOLLGATE_DATA_DIR: dataDir }
    const server = await startServer(dataDir)
    const { url } = JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8')) as { url: string }
    const key = (await spawned(['keys', 'create', 'demo'], folder)).out.trim()
    const post = (path: string, body: object) =>
      fetch(`${url}/v1/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const chat = await post('chat/completions', {
      model: 'sandbox-chat',
      messages: [{ role: 'user', content: 'Hello' }],
    })
    const image = await post('images/generations', { model: 'sandbox-image', prompt: 'A fox' })
    await Promise.all([chat.text(), image.text()])
    const yesterday = new Date(Date.now() - 86_400_000).toISOString()

    const listed = await spawned(['usage', '--account', 'demo', '--from', yesterday], folder)
    const csv = await spawned(['usage', '--csv'], folder)
    const charge = chat.headers.get('x-request-id')!
    await spawned(['refund', charge, '--amount', '0.000001'], folder)
    const refunded = await spawned(['usage', '--account', 'demo', '--from', yesterday], folder)
    const refundedCsv = await spawned(['usage', '--csv'], folder)
    const none = await spawned(
      ['usage', '--csv', '--from', '2020-01-01T00:00:00Z', '--to', '2020-01-02T00:00:00Z'],
      folder,
    )
    const wrong = await spawned(['usage', '--csv', '--from', 'yesterday'], folder)
    server.kill('SIGTERM')
    await server.exited

    expect(listed.out).toMatch(/sandbox-image +1 images +0\.\d+ +0\n.*sandbox-chat +\d+ \+ \d+ tokens/)
    expect(listed.out).toMatch(
      /\n\nCharges: 2\. Cost: 0\.\d+ USD\.\nProvider cost: 0 USD\. Margin: 0\.\d+ USD\.\n/,
    )
    const [head, imageLine, chatLine, end, ...others] = csv.out.split('\r\n')
    expect(head).toStartWith('id,created_at,account,account_name,key,route,model,provider,input_tokens,')
    expect(head).toContain(',cost_usd,provider_cost_usd,source,')
    expect(imageLine).toMatch(/^img_\w+,20\S+,acct_\w+,demo,key_\w+,images\S*,sandbox-image,/)
    expect(chatLine).toMatch(/^req_\w+,20\S+,acct_\w+,demo,key_\w+,chat,sandbox-chat,/)
    expect([end, others]).toEqual(['', []])
    expect(refunded.out).toContain(` refund of ${charge}  -0.000001  –\n`)
    const [, net = '', given] = /Cost: (\S+) USD, net of refunds of (\S+) USD\.\n/.exec(refunded.out) ?? []
    const [refundHead, refundLine, ...chargeLines] = refundedCsv.out.trimEnd().split('\r\n')
    expect(refundHead).toBe(head)
    expect(refundLine).toMatch(
      /^op_\w+,20\S+,acct_\w+,demo,key_\w+,chat,sandbox-chat,sandbox,{20}-0.000001,,,,req_\w+,,,$/,
    )
    expect(chargeLines).toEqual([imageLine!, chatLine!])
    const costColumn = refundHead!.split(',').indexOf('cost_usd')
    const costs = [refundLine!, ...chargeLines].map(line => usd(line.split(',')[costColumn]!))
    expect(given).toBe('0.000001')
    expect(usd(net)).toBe(costs.reduce(addUsd))
    expect(none.out.split('\r\n')).toEqual([head!, ''])
    expect(wrong).toMatchObject({ code: 2, out: '' })
    expect(wrong.err).toContain('Write a day in UTC such as 2026-11-01, or a time')
  }, 120_000)

  test('commands use its admin API, and two signals stop it once, with 0', async () => {
    const dataDir = join(home, 'running')
    const folder = { TOLLGATE_DATA_DIR: dataDir }
    const server = await startServer(dataDir)

    // The admin key must not be sent to a proxy.
    const proxied = { ...folder, HTTP_PROXY: 'http://127.0.0.1:9' }
    const created = await spawned(['accounts', 'create', 'ada', '--grant', '3', '--json'], proxied)
    const listed = await spawned(['accounts', 'list'], folder)
    const where = await spawned(['doctor', '--json'], folder)
    const wrongKey = await spawned(['balance', 'ada'], { ...folder, TOLLGATE_ADMIN_KEY: 'another-key' })
    const second = await spawned(['serve'], { ...folder, TOLLGATE_PORT: '0' })
    server.kill('SIGTERM')
    server.kill('SIGINT')

    expect(JSON.parse(created.out)).toMatchObject({ name: 'ada', available_usd: '3' })
    expect(listed.out).toMatch(/^ada +acct_\w+ +3 +0 +active$/m)
    expect(JSON.parse(where.out)).toMatchObject({ ok: true, server: expect.stringMatching(/^http:/) })
    expect(wrongKey.code).toBe(1)
    expect(wrongKey.err).toContain('Set TOLLGATE_ADMIN_KEY')
    expect(second.code).toBe(1)
    expect(second.err).toContain('in use by another tollgate process')
    expect(await server.exited).toBe(0)
    expect(existsSync(join(dataDir, 'server.json'))).toBe(false)
    expect((await spawned(['balance', 'ada'], folder)).out).toStartWith('available  3 USD')
  }, 120_000)

  test('a token in TOLLGATE_ADMIN_KEY gives a command its rights, until it is revoked', async () => {
    const dataDir = join(home, 'tokens')
    const folder = { TOLLGATE_DATA_DIR: dataDir }
    await spawned(['accounts', 'create', 'ada'], folder)
    const server = await startServer(dataDir)
    const bookkeeper = [
      'create',
      'bookkeeper',
      '--scope',
      'grants',
      '--grants-per-day',
      '50',
      '--expires',
      '90d',
    ]

    const created = await spawned(['admin-tokens', ...bookkeeper], folder)
    const withToken = { ...folder, TOLLGATE_ADMIN_KEY: created.out.trim() }
    const granted = await spawned(['grant', 'ada', '40'], withToken)
    const above = await spawned(['grant', 'ada', '11'], withToken)
    const usage = await spawned(['usage'], withToken)
    const listed = await spawned(['admin-tokens', 'list'], folder)
    const revoked = await spawned(['admin-tokens', 'revoke', created.out.trim()], folder)
    const refused = await spawned(['balance', 'ada'], withToken)
    const audit = await spawned(['audit'], folder)
    server.kill('SIGTERM')
    await server.exited
    const alone = await spawned(['balance', 'ada'], withToken)
    const started = await spawned(['serve'], { ...withToken, TOLLGATE_PORT: '0' })

    expect(created.out).toMatch(/^tg_admin_[0-9A-Za-z]{43}\n$/)
    expect(created.err).toMatch(/The id of this token is tok_\w+\. It expires at 20/)
    expect(granted.out).toStartWith('Credited 40 USD.')
    expect(above).toMatchObject({ code: 1, err: expect.stringContaining('the rest of 10 USD') })
    expect(usage.err).toContain(
      'needs an admin token with the scope "read". The token has the scope "grants".',
    )
    expect(usage.err).toContain('Set TOLLGATE_ADMIN_KEY to the admin key, or to a token that may do this.')
    expect(listed.out).toMatch(
      /tg_admin_\w{4}… +tok_\w+ +bookkeeper +grants \(40 of 50 USD today\) .* active/,
    )
    expect(revoked.out).toMatch(/^Revoked bookkeeper, tg_admin_\w{4}… \(tok_/)
    expect(refused.err).toContain('was revoked at')
    expect(audit.out).toMatch(/token:bookkeeper \(tok_\w+\) +account\.grant/)
    for (const { code, err } of [alone, started]) {
      expect(code).toBe(1)
      expect(err).toContain('TOLLGATE_ADMIN_KEY is the admin token "bookkeeper"')
      expect(err).not.toContain(created.out.trim())
    }
  }, 120_000)

  test('a stop logs what it waits for, and a second signal ends it at once', async () => {
    const dataDir = join(home, 'impatient')
    const server = await startServer(dataDir)
    const { url } = JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8')) as { url: string }
    const log = server.stdout.pipeThrough(new TextDecoderStream()).getReader()
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    const key = readFileSync(join(dataDir, 'admin.key'), 'utf8').trim()
    socket.write('POST /admin/api/accounts HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\n')
    socket.write(`authorization: Bearer ${key}\r\ncontent-length: 100\r\n\r\n`)
    // The gateway waits for the body of this request now.
    await once(socket, 'data')

    server.kill('SIGTERM')
    let text = ''
    while (!text.includes('"stopping"')) text += (await log.read()).value ?? ''
    await until('a later signal has ended it', () => {
      server.kill('SIGTERM')
      return server.exitCode !== null
    })

    expect(text).toContain('"running_requests":1')
    expect(server.exitCode).toBe(1)
    socket.destroy()
  })

  test('standard output has only the log, with and without --json', async () => {
    const server = await startServer(join(home, 'log'), ['--json'])
    server.kill('SIGTERM')

    const lines = (await new Response(server.stdout).text()).trimEnd().split('\n')

    expect(lines.map(line => (JSON.parse(line) as { message: string }).message)).toEqual([
      'listening',
      ...(ownBooks.length === 0 ? [] : ['this start created new books, and there are others']),
      'stopping',
      'stopped',
    ])
  })

  test('a server outlives the reader of its log, and still stops with 0', async () => {
    const dataDir = join(home, 'unread')
    const server = await startServer(dataDir)
    const { url } = JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8')) as { url: string }
    await server.stdout.cancel()

    const statuses: number[] = []
    for (let asked = 0; asked < 3; asked += 1) {
      statuses.push((await fetch(`${url}/v1/models`)).status)
      // Log lines are written later. This command delays the next request until after that.
      await spawned(['balance', 'demo'], { TOLLGATE_DATA_DIR: dataDir })
    }
    server.kill('SIGTERM')

    expect(statuses).toEqual([401, 401, 401])
    expect(await server.exited).toBe(0)
  })

  test('a port in use is named', async () => {
    const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    const port = String(taken.port)

    const { code, err } = await spawned(['serve'], {
      TOLLGATE_DATA_DIR: join(home, 'port'),
      TOLLGATE_PORT: port,
    })
    await taken.stop(true)

    expect(code).toBe(1)
    expect(err).toContain(`Port ${port} on 127.0.0.1 is in use by another program.`)
  })

  test('an address of another machine is named', async () => {
    const { code, err } = await spawned(['serve'], {
      TOLLGATE_DATA_DIR: join(home, 'address'),
      TOLLGATE_HOST: '999.1.1.1',
    })

    expect(code).toBe(1)
    expect(err).toContain('Cannot listen on 999.1.1.1, port 8787')
    expect(err).toContain('TOLLGATE_HOST')
  })

  test('if the port of a first start is in use, the next start creates and shows the keys', async () => {
    const dataDir = join(home, 'second-try')
    const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    await spawned(['serve'], { TOLLGATE_DATA_DIR: dataDir, TOLLGATE_PORT: String(taken.port) })
    await taken.stop(true)

    const server = await startServer(dataDir)
    server.kill('SIGTERM')
    const shown = await new Response(server.stderr).text()

    expect(shown).toMatch(/sandbox key +tg_live_/)
    expect(shown).toMatch(/admin key +tg_admin_/)
  })
})

/** The lines as a command prints them. */
function linesOf(...lines: readonly string[]): string {
  return lines.map(line => `${line}\n`).join('')
}

/** Runs one command in this process. */
async function tollgate(
  args: readonly string[],
  settings: Record<string, string> = {},
  confirm?: (question: string) => Promise<boolean>,
): Promise<Ran> {
  let out = ''
  let err = ''
  const code = await main(args, {
    version: '0.0.0',
    environment: settings,
    loadApp: () => import('../app.ts'),
    out: text => (out += text),
    err: text => (err += text),
    confirm,
  })
  return { code, out, err }
}

/** Runs one command in its own process. */
async function spawned(
  args: readonly string[],
  settings: Record<string, string> = {},
  cwd = home,
): Promise<Ran> {
  const child = spawn(args, settings, cwd)
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, err }
}

/** Resolves when the server has written its address. */
async function startServer(
  dataDir: string,
  options: readonly string[] = [],
): Promise<ReturnType<typeof spawn>> {
  const child = spawn(['serve', ...options], { TOLLGATE_DATA_DIR: dataDir, TOLLGATE_PORT: '0' })
  while (!existsSync(join(dataDir, 'server.json'))) {
    if (child.exitCode !== null) throw new Error(await new Response(child.stderr).text())
    await Bun.sleep(5)
  }
  return child
}

function spawn(args: readonly string[], settings: Record<string, string>, cwd = home) {
  return Bun.spawn([process.execPath, CLI, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], BUN_CONFIG_MAX_HTTP_REQUESTS: '1024', ...settings },
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

/** Changes the amount of the first entry in the database. */
function tamper(path: string): void {
  const database = new Database(path)
  const triggers = database.query<{ name: string }, []>(
    "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'operations'",
  )
  for (const { name } of triggers.all()) database.run(`DROP TRIGGER ${name}`)
  database.run('UPDATE operations SET amount_1 = amount_1 + 10000000 WHERE id = 1')
  database.close()
}
