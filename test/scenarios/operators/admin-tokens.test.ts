import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { ADMIN_KEY, startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { fakeClock, type FakeClock } from '../../support/fake-clock.ts'

const DAY_MS = 86_400_000

let clock: FakeClock
let gateway: TestGateway

beforeEach(async () => {
  clock = fakeClock()
  gateway = await startTestGateway({ overrides: { clock } })
})
afterEach(() => gateway.stop())

type Token = {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly token: string
  readonly last_used_on: string | null
  readonly revoked_at: string | null
  readonly granted_today_usd: string | null
}
type Answer = {
  readonly status: number
  readonly body: {
    readonly error?: {
      readonly code: string
      readonly type: string
      readonly message: string
      readonly param: string | null
    }
    readonly [member: string]: unknown
  }
}

function make(fields: object): Promise<Token> {
  return gateway.admin('POST', 'tokens', fields)
}

async function send(
  key: string,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${gateway.url}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Answer['body'] }
}

const refusalIn = ({ status, body }: Answer) => ({ status, code: body.error?.code })

describe('an admin token', () => {
  test('a token is shown once, with the prefix of admin tokens and the digits of a key', async () => {
    const made = await make({ name: 'prometheus', scopes: ['read'] })

    const shown = await gateway.admin<Token>('GET', 'tokens/prometheus')
    const list = await gateway.admin<{ data: Token[] }>('GET', 'tokens')

    expect(made.token).toMatch(/^tg_admin_[0-9A-Za-z]{43}$/)
    expect(made.token).toStartWith(made.prefix)
    expect(shown).toEqual({
      id: expect.stringMatching(/^tok_[0-9a-z]{26}$/),
      name: 'prometheus',
      prefix: made.prefix,
      scopes: ['read'],
      grants_per_day_usd: null,
      granted_today_usd: null,
      created_by: 'admin',
      created_at: new Date(clock.now()).toISOString(),
      expires_at: null,
      last_used_on: null,
      revoked_at: null,
      state: 'active',
    } as unknown as Token)
    expect(list.data).toEqual([shown])
    expect(await gateway.admin<Token>('GET', `tokens/${made.id}`)).toEqual(shown)
    expect(await gateway.admin<Token>('GET', `tokens/${made.prefix}`)).toEqual(shown)
  })

  test('a token works until it expires, and then has its own code', async () => {
    const expiresAt = new Date(clock.now() + DAY_MS).toISOString()
    const { id, token } = await make({ name: 'ci', scopes: ['read'], expires_at: expiresAt })

    clock.jump(DAY_MS - 1)
    const before = await send(token, 'GET', 'accounts')
    clock.advance(1)
    const after = await send(token, 'GET', 'accounts')

    expect(before.status).toBe(200)
    expect(refusalIn(after)).toEqual({ status: 401, code: 'admin_token_expired' })
    expect(after.body.error?.message).toBe(`The admin token "ci" (${id}) expired at ${expiresAt}.`)
  })

  test('a revoked token is refused from the next request on, and its name is free again', async () => {
    const { token, prefix } = await make({ name: 'ci', scopes: ['read'] })
    await gateway.admin('DELETE', `tokens/${prefix}`)

    const refused = await send(token, 'GET', 'accounts')
    const again = await gateway.admin<Token>('DELETE', `tokens/${prefix}`)
    const next = await make({ name: 'ci', scopes: ['read'] })

    expect(refusalIn(refused)).toEqual({ status: 401, code: 'admin_token_revoked' })
    expect(again.revoked_at).toBe(new Date(clock.now()).toISOString())
    expect((await send(next.token, 'GET', 'accounts')).status).toBe(200)
    expect((await gateway.admin<Token>('GET', 'tokens/ci')).id).toBe(next.id)
  })

  test.each([
    ['with an unknown text', `tg_admin_${'a'.repeat(43)}`, 'admin_token_unknown'],
    ['with a digit too few', `tg_admin_${'a'.repeat(42)}`, 'invalid_api_key'],
    ['that is no token', 'something-else', 'invalid_api_key'],
  ])('a key %s is refused with its own code', async (_, key, code) => {
    expect(refusalIn(await send(key, 'GET', 'accounts'))).toEqual({ status: 401, code })
  })

  test('a flood of unknown tokens is refused, and a known token still works', async () => {
    const { token } = await make({ name: 'ci', scopes: ['read'] })
    const unknown = (index: number) => `tg_admin_${String(index).padStart(43, '0')}`

    const flood = await Promise.all(
      Array.from(
        { length: 500 },
        async (_, index) => refusalIn(await send(unknown(index), 'GET', 'accounts')).code,
      ),
    )

    expect(new Set(flood)).toEqual(new Set(['admin_token_unknown']))
    expect((await send(token, 'GET', 'accounts')).status).toBe(200)
  })

  test('the first use of a day is noted', async () => {
    const { token } = await make({ name: 'ci', scopes: ['all'] })
    const usedOn = async () => {
      await send(token, 'GET', 'accounts')
      // A change commits after the note, so that the note is written when it replies.
      await send(token, 'POST', 'accounts', { name: `account at ${clock.now()}` })
      return (await gateway.admin<Token>('GET', 'tokens/ci')).last_used_on
    }

    const first = await usedOn()
    clock.jump(DAY_MS)
    const second = await usedOn()

    const today = clock.now()
    expect([first, second]).toEqual(
      [today - DAY_MS, today].map(at => new Date(at).toISOString().slice(0, 10)),
    )
  })

  test('the audit log names the token that made a change', async () => {
    const { id, token } = await make({ name: 'deploy bot', scopes: ['all'] })

    await send(token, 'POST', 'accounts', { name: 'ada' })
    const { data } = await gateway.admin<{ data: { actor: string }[] }>('GET', 'audit')

    expect(data.filter(({ actor }) => actor !== 'startup')).toMatchObject([
      { actor: `token:deploy bot (${id})`, action: 'account.create' },
      { actor: 'admin', action: 'token.create', detail: '"deploy bot" with all, without an expiry' },
    ])
    expect(JSON.stringify(data)).not.toContain(token)
  })

  test.each<[string, object, string]>([
    ['without a name', { scopes: ['read'] }, 'name'],
    ['with the name of an id', { name: 'tok_1', scopes: ['read'] }, 'name'],
    ['without scopes', { name: 'x' }, 'scopes'],
    ['with no scope', { name: 'x', scopes: [] }, 'scopes'],
    ['with an unknown scope', { name: 'x', scopes: ['write'] }, 'scopes'],
    ['with all scopes and another', { name: 'x', scopes: ['all', 'read'] }, 'scopes'],
    ['for grants without an amount', { name: 'x', scopes: ['grants'] }, 'grants_per_day_usd'],
    [
      'for grants of nothing',
      { name: 'x', scopes: ['grants'], grants_per_day_usd: '0' },
      'grants_per_day_usd',
    ],
    [
      'for grants of a number',
      { name: 'x', scopes: ['grants'], grants_per_day_usd: 5 },
      'grants_per_day_usd',
    ],
    [
      'with an amount but no grants',
      { name: 'x', scopes: ['read'], grants_per_day_usd: '5' },
      'grants_per_day_usd',
    ],
    ['that has expired', { name: 'x', scopes: ['read'], expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    ['that expires on a day', { name: 'x', scopes: ['read'], expires_at: '2099-01-01' }, 'expires_at'],
    ['with an unknown field', { name: 'x', scopes: ['read'], scope: 'read' }, 'scope'],
  ])('a token %s is refused, and the field is named', async (_, fields, param) => {
    const { status, body } = await send(ADMIN_KEY, 'POST', 'tokens', fields)

    expect({ status, code: body.error?.code, param: body.error?.param }).toEqual({
      status: 400,
      code: 'invalid_field',
      param,
    })
  })

  test('the name of a token that is not revoked is taken', async () => {
    await make({ name: 'ci', scopes: ['read'] })

    const second = await send(ADMIN_KEY, 'POST', 'tokens', { name: 'ci', scopes: ['read'] })

    expect(refusalIn(second)).toEqual({ status: 409, code: 'already_exists' })
  })

  test('a token makes tokens that do not outlive it, and no others', async () => {
    const expires_at = new Date(clock.now() + DAY_MS).toISOString()
    const { token } = await make({ name: 'parent', scopes: ['all'], expires_at })

    const unending = await send(token, 'POST', 'tokens', { name: 'unending', scopes: ['read'] })
    const later = new Date(clock.now() + DAY_MS + 1).toISOString()
    const longer = await send(token, 'POST', 'tokens', { name: 'longer', scopes: ['all'], expires_at: later })
    const child = await send(token, 'POST', 'tokens', { name: 'child', scopes: ['all'], expires_at })

    expect([unending, longer].map(({ status, body }) => [status, body.error?.param])).toEqual([
      [400, 'expires_at'],
      [400, 'expires_at'],
    ])
    expect(unending.body.error?.message).toBe(
      `"expires_at" must not be more than its creator has itself: all, until ${expires_at}.`,
    )
    expect(child.status).toBe(200)
    expect(child.body['created_by']).toMatch(/^token:parent \(tok_/)
  })

  test('the text of a token in a path is refused, and no reply repeats it', async () => {
    const { token } = await make({ name: 'ci', scopes: ['read'] })

    const asked = await send(ADMIN_KEY, 'DELETE', `tokens/${token}`)
    const none = await send(ADMIN_KEY, 'GET', 'tokens/nobody')

    expect(refusalIn(asked)).toEqual({ status: 400, code: 'invalid_field' })
    expect(asked.body.error?.message).not.toContain(token)
    expect(refusalIn(none)).toEqual({ status: 404, code: 'not_found' })
  })

  test('a token does not work on the routes of customers', async () => {
    const { token } = await make({ name: 'ci', scopes: ['all'] })

    const response = await gateway.chat(token, {
      model: 'sandbox-mini',
      messages: [{ role: 'user', content: 'Hi' }],
    })

    expect(response.status).toBe(401)
  })
})

describe('a token for grants', () => {
  const grant = (token: string, account: string, dollars: string, key?: string) =>
    send(
      token,
      'POST',
      `accounts/${account}/grants`,
      { amount_usd: dollars },
      key === undefined ? {} : { 'idempotency-key': key },
    )
  const bookkeeper = () => make({ name: 'bookkeeper', scopes: ['grants'], grants_per_day_usd: '50' })

  test('of 30 grants of 5 dollars that race for 50 dollars a day, ten are given', async () => {
    const { token } = await bookkeeper()
    const account = await gateway.account({ grant: '0' })

    const answers = await Promise.all(Array.from({ length: 30 }, () => grant(token, account.id, '5')))

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
    expect((await account.balance()).available_usd).toBe('50')
    expect((await gateway.admin<Token>('GET', 'tokens/bookkeeper')).granted_today_usd).toBe('50')
  })

  test('a grant above the rest of the day is refused with the limit, what was granted and the end of the day', async () => {
    const { token } = await bookkeeper()
    const { id } = await gateway.account({ grant: '0' })
    await grant(token, id, '40')

    const refused = await grant(token, id, '10.01')

    const resetsAt = new Date((Math.floor(clock.now() / DAY_MS) + 1) * DAY_MS).toISOString()
    expect(refused).toEqual({
      status: 403,
      body: {
        error: {
          message: `This admin token may grant 50 USD a day, of which 40 USD was granted today. A grant of 10.01 USD does not fit into the rest of 10 USD. The day ends at ${resetsAt} (UTC).`,
          type: 'permission_error',
          code: 'grants_per_day_exceeded',
          param: 'amount_usd',
        },
        grants_per_day_usd: '50',
        granted_today_usd: '40',
        remaining_usd: '10',
        resets_at: resetsAt,
      },
    })
  })

  test('the next day in UTC has its whole amount', async () => {
    const { token } = await bookkeeper()
    const { id } = await gateway.account({ grant: '0' })
    await grant(token, id, '50')
    const refused = await grant(token, id, '1')

    clock.jump(DAY_MS)
    const given = await grant(token, id, '50')

    expect([refused.status, given.status]).toEqual([403, 200])
  })

  test('a repeated grant costs nothing of the day', async () => {
    const { token } = await bookkeeper()
    const account = await gateway.account({ grant: '0' })
    const first = await grant(token, account.id, '50', 'order-1')

    const repeated = await grant(token, account.id, '50', 'order-1')

    expect([first.body['is_repeat'], repeated.body['is_repeat']]).toEqual([false, true])
    expect((await account.balance()).available_usd).toBe('50')
  })

  test('a token gives gifts only: a top-up and a debit need more', async () => {
    const { token } = await bookkeeper()
    const { id } = await gateway.account({ grant: '0' })

    const topUp = await send(token, 'POST', `accounts/${id}/grants`, { amount_usd: '1', source: 'top_up' })
    const debit = await send(token, 'POST', `accounts/${id}/debits`, { amount_usd: '1' })

    expect([topUp, debit].map(refusalIn)).toEqual([
      { status: 403, code: 'missing_scope' },
      { status: 403, code: 'missing_scope' },
    ])
    expect(debit.body.error?.message).toBe(
      'This needs an admin token with the scope "all". The token has the scope "grants".',
    )
  })

  test('the holder finds an account by its name, and the statement and the audit log show the grant', async () => {
    const { id: tokenId, token } = await bookkeeper()
    await gateway.admin('POST', 'accounts', { name: 'ada' })

    const found = await send(token, 'GET', 'accounts/ada')
    const given = await grant(token, 'ada', '5')
    const { data } = await gateway.admin<{ data: object[] }>('GET', 'audit')

    expect([found.status, given.status]).toEqual([200, 200])
    expect(data).toContainEqual(
      expect.objectContaining({ actor: `token:bookkeeper (${tokenId})`, action: 'account.grant' }),
    )
  })
})
