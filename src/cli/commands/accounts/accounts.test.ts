import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { tollgate } from '../../../../test/support/cli-commands.ts'
import { aDataFolder } from '../../../../test/support/data-folder.ts'

const home = aDataFolder()

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
})
