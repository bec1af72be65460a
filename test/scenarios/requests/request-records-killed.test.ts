import { join } from 'node:path'
import { rmSync } from 'node:fs'
import { expect, test } from 'bun:test'
import { aDataFolder } from '../../support/data-folder.ts'
import { checkReported, makeCustomer, startToKill } from '../books/reported-costs.ts'
import { until } from '../../support/until.ts'

type RequestsBody = { readonly data: readonly { readonly id: string; readonly cost_usd: string | null }[] }

test('kill -9 loses at most the last batch of records, and the books are sound with and without them', async () => {
  const dataDir = aDataFolder()
  const killed = await startToKill(dataDir)
  const customer = await makeCustomer(killed)
  const headers = { 'x-api-key': customer.key, 'content-type': 'application/json' }
  const chat = async (count: number) => {
    const costs = new Map<string, string | null>()
    for (let number = 0; number < count; number += 1) {
      const content = `${count} ${number}`
      const body = JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content }] })
      const response = await fetch(`${killed.url}/v1/chat/completions`, { method: 'POST', headers, body })
      await response.text()
      costs.set(response.headers.get('x-request-id') ?? '', response.headers.get('x-service-cost-usd'))
    }
    return costs
  }
  const recordsOf = async (url: string) =>
    (await (await fetch(`${url}/v1/requests?limit=100`, { headers })).json()) as RequestsBody
  const early = await chat(5)
  // A list has all that was recorded before it, so these are written.
  await until('the records are written', async () => (await recordsOf(killed.url)).data.length === early.size)
  const late = await chat(20)
  await killed.kill()

  const restarted = await startToKill(dataDir)
  const kept = new Set((await recordsOf(restarted.url)).data.map(({ id }) => id))
  await checkReported(restarted, customer, new Map([...early, ...late]), new Map())
  await restarted.kill()
  for (const suffix of ['', '-wal', '-shm'])
    rmSync(join(dataDir, `requests.sqlite${suffix}`), { force: true })
  const without = await startToKill(dataDir)
  await checkReported(without, customer, new Map([...early, ...late]), new Map())
  const afterLoss = await recordsOf(without.url)
  await without.kill()

  expect([...early.keys()].filter(id => !kept.has(id))).toEqual([])
  expect([...kept].filter(id => !early.has(id) && !late.has(id))).toEqual([])
  expect(afterLoss.data).toEqual([])
})
