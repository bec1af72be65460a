import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chat, startLimitedGateway, type LimitedGateway } from '../gateways/limited-gateway.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { until } from '../../support/until.ts'

let gateway: LimitedGateway

beforeEach(async () => {
  gateway = await startLimitedGateway()
})
afterEach(() => gateway.stop())

/** The error of an admin request that is refused. */
async function refused(path: string, body: object = {}): Promise<string> {
  const error = await gateway.admin('POST', path, body).catch((reason: Error) => reason)
  return (error as Error).message
}

test('an account with a running request is closed after the request has ended and its money was taken', async () => {
  const holder = await gateway.aKey()
  const path = `accounts/${holder.accountId}`
  const open = gateway.gate()
  const running = gateway.send(holder, chat({ model: 'dollar' }))
  await until('a request runs', () => gateway.upstream.requests.length === 1)

  const during = await refused(`${path}/close`)
  open()
  await (await running).text()
  await gateway.admin('POST', `${path}/debits`, { amount_usd: '999' })
  const closed = await gateway.admin('POST', `${path}/close`)

  expect(during).toContain('it has 1 running request, for which 1 USD is held, and 999 USD is available.')
  expect(during).toContain('"open_requests":1')
  expect(closed).toMatchObject({ available_usd: '0', closed_at: expect.any(String) })
  expect(await gateway.admin('POST', 'verify')).toMatchObject({ ok: true })
})

test('the keys of a closed account are refused on every route, and its books are still read', async () => {
  const holder = await gateway.aKey()
  const path = `accounts/${holder.accountId}`
  await gateway.admin('POST', `${path}/debits`, { amount_usd: '1000' })
  await gateway.admin('POST', `${path}/close`)

  const sent = await gateway.send(holder, chat({ model: 'gpt-x' }))
  const read = await fetch(`${gateway.url}/v1/balance`, { headers: { 'x-api-key': holder.key } })

  const refusal = {
    status: 401,
    type: 'authentication_error',
    code: 'account_closed',
    message: 'This account is closed. Contact support.',
  }
  expect(sent.headers.get('x-should-retry')).toBe('false')
  expect(await refusalOf(sent)).toMatchObject(refusal)
  expect(await refusalOf(read)).toMatchObject(refusal)
  expect(await refused(`${path}/grants`, { amount_usd: '1' })).toContain('409')
  expect(await refused(`${path}/keys`)).toContain('"code":"already_closed"')
  expect(await gateway.admin('GET', `${path}/statement`)).toMatchObject({
    data: [{ amount_usd: '-1000' }, { amount_usd: '1000' }],
  })
})

test('an account is renamed by the admin API, and found by its new name', async () => {
  const { accountId } = await gateway.aKey()
  await gateway.admin('POST', 'accounts', { name: 'ben' })

  const renamed = await gateway.admin('PATCH', `accounts/${accountId}`, { name: ' eve ' })
  const taken = await gateway.admin('PATCH', `accounts/${accountId}`, { name: 'ben' }).catch(String)
  const wrong = await gateway.admin('PATCH', `accounts/${accountId}`, { name: 'acct_x' }).catch(String)

  expect(renamed).toMatchObject({ id: accountId, name: 'eve' })
  expect(await gateway.admin('GET', 'accounts/eve')).toMatchObject({ id: accountId })
  expect(taken).toContain('409')
  expect(wrong).toContain('400')
})
