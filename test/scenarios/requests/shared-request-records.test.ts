import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.ts'
import { aDatabase } from '../../support/postgres/databases.ts'
import { runServer } from '../../support/postgres/run-server.ts'
import { until } from '../../support/until.ts'

type Listed = { readonly data: readonly { readonly id: string; readonly status: number }[] }

const server = await runServer()

describe.skipIf(server === undefined)('the records of requests of two gateways on one database', () => {
  let environment: Record<string, string>
  let gateways: readonly [TestGateway, TestGateway]
  let ada: TestAccount

  beforeAll(async () => {
    environment = {
      TOLLGATE_DATABASE_URL: await aDatabase(server!),
      TOLLGATE_SECRET_KEY: Buffer.alloc(32).toString('base64'),
    }
    const start = (name: string) =>
      startTestGateway({
        environment: { ...environment, TOLLGATE_NODE_NAME: name, TOLLGATE_REQUEST_RECORDS_DAYS: '7' },
      })
    gateways = [await start('one'), await start('two')]
    ada = await gateways[0].account()
  })
  afterAll(async () => {
    for (const gateway of gateways) await gateway.stop()
  })

  function chat(gateway: TestGateway, content: string) {
    const messages = [{ role: 'user', content }]
    return gateway.chat(ada.key, { model: 'sandbox-chat', max_tokens: 100, messages })
  }

  const idsFrom = async (gateway: TestGateway) =>
    (await gateway.admin<Listed>('GET', 'requests')).data.map(({ id }) => id)

  test('each gateway lists and shows the requests of both', async () => {
    const [one, two] = gateways
    const first = await chat(one, 'one')
    await first.text()
    const second = await chat(two, 'two')
    await second.text()
    const ids = [second, first].map(reply => reply.headers.get('x-request-id') ?? '')

    await until('both nodes have written', async () => {
      const written = await idsFrom(two)
      return ids.every(id => written.includes(id))
    })
    const shown = await two.admin('GET', `requests/${ids[1]}`)

    // The two know the time of the database to a few milliseconds, so either request may be the newer one.
    const listed = await idsFrom(one)
    expect(listed.toSorted()).toEqual(ids.toSorted())
    expect(await idsFrom(two)).toEqual(listed)
    expect(shown).toMatchObject({ id: ids[1], account: ada.id })
  })

  test('a gateway whose records are switched off deletes those of the database', async () => {
    const [one] = gateways
    await (await chat(one, 'kept until then')).text()
    await until('the record is written', async () => (await idsFrom(one)).length > 0)

    const off = await startTestGateway({ environment })
    await until('the records are deleted', async () => (await idsFrom(one)).length === 0)
    await off.stop()

    expect((await chat(one, 'later')).status).toBe(200)
  })
})
