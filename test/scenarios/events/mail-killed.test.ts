import { expect, test } from 'bun:test'
import { aDataFolder } from '../../support/data-folder.ts'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { startToKill } from '../books/reported-costs.ts'
import { until } from '../../support/until.ts'

const ROUNDS = 3
const CREDITS_A_ROUND = 12

function ask(gateway: GatewayProcess, path: string, body: object): Promise<Response> {
  return fetch(`${gateway.url}/admin/api/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}` },
    body: JSON.stringify(body),
  })
}

test('after each kill -9, every credit that was answered is mailed, and with one id however often', async () => {
  const dataDir = aDataFolder()
  const server = await startMailServer()
  const settings = {
    TOLLGATE_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    TOLLGATE_MAIL_FROM: 'alerts@example.com',
    TOLLGATE_ALERT_EMAILS: 'ops@example.com',
  }
  const answered: string[] = []
  let gateway = await startToKill(dataDir, settings)
  await ask(gateway, 'accounts', { name: 'ada' })

  for (let round = 0; round < ROUNDS; round += 1) {
    const before = server.received.length
    for (let number = 0; number < CREDITS_A_ROUND; number += 1) {
      // An amount of its own names the credit.
      const amount_usd = `${round + 1}.${number + 1}1`
      const reply = await ask(gateway, 'accounts/ada/grants', { amount_usd })
      if (reply.status === 200) answered.push(amount_usd)
    }
    // Some of them are still waiting, and one is being sent.
    await until('mails arrive', () => server.received.length > before + 2)
    await gateway.kill()
    gateway = await startToKill(dataDir, settings)
  }
  /** The ids of the mails about a credit. */
  const idsOf = (amount: string) =>
    new Set(
      server.received
        .filter(({ text }) => text.includes(`\nAmount: ${amount} USD\n`))
        .map(({ headers }) => headers.find(line => line.startsWith('Message-ID: '))),
    )
  await until('every credit is mailed', () => answered.every(amount => idsOf(amount).size > 0), 60_000)
  await gateway.kill()
  await server.stop()

  expect(answered).toHaveLength(ROUNDS * CREDITS_A_ROUND)
  expect(answered.filter(amount => idsOf(amount).size !== 1)).toEqual([])
}, 120_000)
