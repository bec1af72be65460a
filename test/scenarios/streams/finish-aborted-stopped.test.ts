import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { aDataFolder } from '../../support/data-folder.ts'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { chunk, EVENT_STREAM, head } from '../../support/upstream-replies.ts'
import { startUpstream, type Exchange, type Upstream } from '../../support/upstream.ts'
import { checkReported, makeCustomer, startToKill, type Customer } from '../books/reported-costs.ts'
import { chatModel } from '../gateways/scripted-gateway.ts'
import { DONE, FINISH, HEL, LO, usage } from '../../support/stream-frames.ts'
import { until } from '../../support/until.ts'

/** Its texts are eight tokens, also if a busy machine starts the tokenizer too late and they are counted roughly. */
const MESSAGES = [{ role: 'user', content: 'a b c d' }]

let dataDir: string
let upstream: Upstream
let gateway: GatewayProcess
let customer: Customer

beforeEach(async () => {
  upstream = startUpstream()
  dataDir = aDataFolder()
  const main = { id: 'main', kind: 'openai-compatible', base_url: upstream.baseUrl, finish_aborted: true }
  const catalog = { providers: [main], models: [chatModel('gpt-x')] }
  writeFileSync(join(dataDir, 'catalog.json'), JSON.stringify(catalog))
  await start()
  customer = await makeCustomer(gateway)
})
afterEach(async () => {
  await gateway.kill()
  upstream.close()
})

async function start(drainS = '30'): Promise<void> {
  gateway = await startToKill(dataDir, {
    TOLLGATE_CATALOG: join(dataDir, 'catalog.json'),
    TOLLGATE_DRAIN_S: drainS,
    TOLLGATE_METRICS_PUBLIC: 'on',
    TOLLGATE_LOG_LEVEL: 'info',
  })
}

/** A stream that is read on, because its client has disconnected after its first output. */
async function finishing(): Promise<Exchange> {
  const taken = upstream.hold()
  const client = new AbortController()
  const asked = fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-x', messages: MESSAGES, stream: true }),
    signal: client.signal,
  })
  const exchange = await taken
  await exchange.write(head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' }) + chunk(HEL))
  await (await asked).body!.getReader().read()
  client.abort()
  await until('the gateway reads on', async () => {
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
    return metrics.includes('\ntollgate_finishing_streams 1\n')
  })
  return exchange
}

function isStopping(): Promise<void> {
  return until('the gateway stops', () => gateway.output().includes('"stopping"'))
}

/** The time between the last log lines `stopping` and `stopped`. */
function stoppedWithinMs(): number {
  const atMs = (message: string) => {
    const line = gateway
      .output()
      .split('\n')
      .findLast(text => text.includes(`"${message}"`))
    return Date.parse((JSON.parse(line ?? '{}') as { time: string }).time)
  }
  return atMs('stopped') - atMs('stopping')
}

/** The costs of all charges, after a restart. */
async function chargedAfterRestart(): Promise<readonly string[]> {
  await start()
  const charged = new Map<string, string>()
  await checkReported(gateway, customer, new Map(), charged)
  return [...charged.values()]
}

test('a stop waits until the stream of a client that has disconnected is finished, and charges it', async () => {
  const exchange = await finishing()

  const stopped = gateway.stop()
  await isStopping()
  await exchange.write(chunk(LO + FINISH + usage() + DONE))

  expect(await stopped).toBe(0)
  expect(await chargedAfterRestart()).toEqual(['0.00007'])
})

test('at the drain limit, the stream of a client that has disconnected is cut and charged for what was received', async () => {
  await gateway.stop()
  await start('0.2')
  const exchange = await finishing()

  const exitCode = await gateway.stop()

  await exchange.closed
  expect(exitCode).toBe(0)
  expect(await chargedAfterRestart()).toEqual(['0.000026'])
})

test('at the drain limit, the stop does not wait for a call without an answer', async () => {
  await gateway.stop()
  await start('0.2')
  const taken = upstream.hold()
  const asked = fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-x', messages: MESSAGES }),
  }).catch(() => 'disconnected')
  const exchange = await taken

  const exitCode = await gateway.stop()

  await exchange.closed
  expect(exitCode).toBe(0)
  expect(await asked).toBe('disconnected')
  expect(stoppedWithinMs()).toBeLessThan(4000)
  expect(await chargedAfterRestart()).toEqual([])
})

test('a second signal ends the gateway at once, and the stream is not charged', async () => {
  await finishing()
  const stopped = gateway.stop()
  await isStopping()

  // Signals within 100 ms count as one. `process.kill` would throw if the process had ended already.
  const signals = setInterval(() => void gateway.stop(), 110)
  const exitCode = await stopped
  clearInterval(signals)

  expect(exitCode).toBe(1)
  expect(await chargedAfterRestart()).toEqual([])
})

test('a kill ends the stream, and it is not charged', async () => {
  await finishing()

  await gateway.kill()

  expect(await chargedAfterRestart()).toEqual([])
})
