import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { aDataFolder } from '../../support/data-folder.ts'
import { startGatewayProcess, type GatewayProcess } from '../../support/gateway-process.ts'
import { runCli } from '../../support/run-cli.ts'

/** A gateway whose commands go through a proxy, which can lose the answers of the requests that move money. */
const dataDir = aDataFolder()
const folder = { TOLLGATE_DATA_DIR: dataDir }
const MOVES_MONEY = /\/(grants|debits|refund)$/

let gateway: GatewayProcess
let isLosing = false

const proxy = createServer((request, response) => void forward(request, response))

async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', url = '', headers } = request
  const content = await buffer(request)
  const sent = Object.entries(headers).filter(([name]) => name !== 'host' && name !== 'content-length')
  const answer = await fetch(gateway.url + url, {
    method,
    headers: Object.fromEntries(sent) as Record<string, string>,
    ...(content.length === 0 ? {} : { body: content }),
  })
  const text = await answer.text()
  if (isLosing && MOVES_MONEY.test(url)) response.destroy()
  else response.writeHead(answer.status).end(text)
}

beforeAll(async () => {
  gateway = await startGatewayProcess(dataDir)
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as { port: number }
  const path = join(dataDir, 'server.json')
  const file = JSON.parse(readFileSync(path, 'utf8')) as object
  writeFileSync(path, JSON.stringify({ ...file, url: `http://127.0.0.1:${port}` }))
})

afterAll(async () => {
  proxy.close()
  await gateway.stop()
})

function run(...args: string[]) {
  return runCli(args, folder)
}

async function losing<Result>(work: () => Promise<Result>): Promise<Result> {
  isLosing = true
  try {
    return await work()
  } finally {
    isLosing = false
  }
}

async function availableOf(account: string): Promise<string> {
  const { out } = await run('balance', account, '--json')
  return (JSON.parse(out) as { available_usd: string }).available_usd
}

/** The key that a command made, as it printed it before its request and in its error. */
function madeKey(err: string): string {
  const [, key = ''] = /^Idempotency key: (cli-\S+)\n/.exec(err) ?? []
  expect(err).toContain(`--idempotency-key ${key}: it moves at most once.`)
  return key
}

test.each([
  ['grant', ['grant', 'ada', '5'], '15'],
  ['debit', ['accounts', 'debit', 'bob', '4'], '6'],
])(
  'a %s whose answer is lost moves its money once, if it is repeated with the key that was printed',
  async (_, command, available) => {
    const account = command.at(-2)!
    await run('accounts', 'create', account, '--grant', '10')

    const lost = await losing(() => run(...command))
    const repeated = await run(...command, '--idempotency-key', madeKey(lost.err))

    expect(lost).toMatchObject({ code: 1, out: '' })
    expect(repeated).toMatchObject({ code: 0, out: expect.stringContaining('Nothing was ') })
    expect(await availableOf(account)).toBe(available)
  },
  120_000,
)

test('a partial refund whose answer is lost gives its money back once', async () => {
  await run('accounts', 'create', 'cy', '--grant', '10')
  const key = (await run('keys', 'create', 'cy')).out.trim()
  const chat = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  await chat.arrayBuffer()
  const refund = ['refund', chat.headers.get('x-request-id')!, '--amount', '0.000001']

  const lost = await losing(() => run(...refund))
  const afterLost = await availableOf('cy')
  const repeated = await run(...refund, '--idempotency-key', madeKey(lost.err))

  expect(repeated).toMatchObject({ code: 0, out: expect.stringContaining('Nothing was given back now') })
  expect(await availableOf('cy')).toBe(afterLost)
}, 120_000)

test('with --json, the error of a lost answer has the key', async () => {
  await run('accounts', 'create', 'eve')

  const lost = await losing(() => run('grant', 'eve', '5', '--json'))
  const { error, idempotency_key: key } = JSON.parse(lost.out) as {
    error: { code: string }
    idempotency_key: string
  }
  const repeated = await run('grant', 'eve', '5', '--json', '--idempotency-key', key)

  expect(error.code).toBe('server_unreachable')
  expect(JSON.parse(repeated.out)).toMatchObject({ is_repeat: true, idempotency_key: key })
  expect(await availableOf('eve')).toBe('5')
}, 120_000)

test('the first credit of a new account can be repeated as a grant', async () => {
  const lost = await losing(() => run('accounts', 'create', 'fay', '--grant', '3'))
  const [, account = ''] = /Repeat "tollgate grant (acct_\w+) 3"/.exec(lost.err) ?? []

  const repeated = await run('grant', account, '3', '--idempotency-key', madeKey(lost.err))

  expect(repeated.out).toContain('Nothing was credited now')
  expect(await availableOf('fay')).toBe('3')
}, 120_000)
