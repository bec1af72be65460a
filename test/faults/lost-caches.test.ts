import { expect, test } from 'bun:test'
import { runServer } from '../support/postgres/run-server.ts'
import { redisProgram } from '../support/redis-server.ts'
import { loseCaches, startWithCaches } from './cache-faults.ts'

const server = await runServer()
const program = await redisProgram()

test.skipIf(server === undefined || program === undefined)(
  'two gateways whose cache or storage is lost, emptied or slow answer every text right, and charge exactly',
  async () => {
    const started = await startWithCaches(program!)
    try {
      await loseCaches(started, () => undefined, { isLong: false })

      expect(started.two.reported).toBeGreaterThan(0)
    } finally {
      await started.end()
    }
  },
)
