import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { linesOf, tollgate } from '../../../../test/support/cli-commands.ts'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { startCli } from '../../../../test/support/run-cli.ts'

const home = aDataFolder()

/** A key of `ada` with two secrets, whose first characters differ. */
async function aRotatedKey(folder: Record<string, string>) {
  for (;;) {
    const first = (await tollgate(['keys', 'create', 'ada'], folder)).out.trim()
    const prefix = first.slice(0, 12)
    const rotated = await tollgate(['keys', 'rotate', prefix, '--old-ends', '7d'], folder)
    if (!rotated.out.startsWith(prefix)) return { prefix, rotated }
  }
}

describe('on a stopped data folder', () => {
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

  test('without an account, the keys of all accounts are listed with the names of their accounts', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'all-keys') }
    for (const account of ['ada', 'bob']) {
      await tollgate(['accounts', 'create', account], folder)
      await tollgate(['keys', 'create', account, '--name', `key of ${account}`], folder)
    }

    const listed = await tollgate(['keys', 'list'], folder)
    const json = await tollgate(['keys', 'list', '--json'], folder)

    expect(listed).toMatchObject({ code: 0 })
    expect(listed.out).toMatch(/^ACCOUNT /)
    expect(listed.out).toMatch(/^ada .* key of ada /m)
    expect(listed.out).toMatch(/^bob .* key of bob /m)
    expect(JSON.parse(json.out).data).toHaveLength(2)
  })

  test('a key is rotated, both of its secrets are listed with their ends, and the lost one is revoked', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'rotated-keys') }
    await tollgate(['accounts', 'create', 'ada'], folder)
    const { prefix, rotated } = await aRotatedKey(folder)

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
})
