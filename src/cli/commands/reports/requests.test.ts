import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestGateway, type TestAccount, type TestGateway } from '../../../../test/support/gateway.ts'
import type { Ask } from '../../ask.ts'
import { listRequests, showRequest } from './requests.ts'

let gateway: TestGateway
let ada: TestAccount
let ask: Ask
/** The paths that were asked for. */
const asked: string[] = []

beforeAll(async () => {
  gateway = await startTestGateway()
  ask = ({ method, path, json }) => {
    asked.push(path)
    return gateway.admin(method, path, json)
  }
  ada = await gateway.account({ grant: '10' })
})
afterAll(() => gateway.stop())

/** What is the same in every run. */
function fixed(text: string): string {
  return text
    .replaceAll(/\b(req|acct|key|op|vid)_[0-9a-z]{26}/g, '$1_…')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/[\d.]+ ms/g, '<n> ms')
}

async function aChat(): Promise<string> {
  const response = await gateway.chat(ada.key, {
    model: 'sandbox-chat',
    max_tokens: 5,
    messages: [{ role: 'user', content: 'Hi' }],
  })
  await response.text()
  return response.headers.get('x-request-id')!
}

test('requests show prints why a request was charged, each price and the refunds', async () => {
  const id = await aChat()
  await gateway.admin('POST', `charges/${id}/refund`, { note: 'an apology' })

  const { text } = await showRequest(ask, id)

  expect(fixed(text).split('\n')).toEqual([
    'req_…  charged',
    '0.000065 USD was charged for 6 input tokens and 5 output tokens.',
    '0.000065 USD of it was refunded.',
    'Its record is not kept, so its status and its duration are not known.',
    '',
    'account    account 1 (acct_…)',
    'charge     0.000065 USD at <time>',
    'usage      input_tokens 6, output_tokens 5 (reported)',
    'served by  sandbox-chat at sandbox',
    'provider   bills 0 USD',
    'prices     those at the time of the request',
    'sum        0.000065 USD, rounded up to 0.000065 USD',
    '',
    'ITEM    QUANTITY  USD  PER      AMOUNT USD',
    'input   6         2.5  1000000  0.000015',
    'output  5         10   1000000  0.00005',
    '',
    'REFUND                         USD       NOTE        AT',
    'op_…  0.000065  an apology  <time>',
  ])
})

test('requests show prints a credit by its id in the statement', async () => {
  const { data } = await gateway.admin<{ data: { id: string }[] }>('GET', `accounts/${ada.id}/statement`)

  const { text } = await showRequest(ask, data.at(-1)!.id)

  expect(fixed(text)).toBe(
    [
      'op_…  grant',
      '',
      'account  account 1 (acct_…)',
      'amount   10 USD',
      'note     –',
      'created  <time>',
    ].join('\n'),
  )
})

test('requests list looks a whole key up, so that no URL has its text', async () => {
  asked.length = 0

  await listRequests(ask, { key: ada.key, failed: true, user: 'u-1', tag: 'team=search', limit: '5' })

  const [lookup, list] = asked
  expect(lookup).toBe('keys/find')
  expect(list).toMatch(/^requests\?/)
  expect(Object.fromEntries(new URLSearchParams(list!.split('?')[1]))).toEqual({
    failed: 'true',
    user: 'u-1',
    tag: 'team=search',
    key: expect.stringMatching(/^key_/) as string,
    limit: '5',
  })
})
