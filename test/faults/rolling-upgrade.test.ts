import { expect, test } from 'bun:test'
import { runServer } from '../support/postgres/run-server.ts'
import { upgradeNodesOnce } from './rolling-upgrade.ts'

const server = await runServer()

test.skipIf(server === undefined)(
  'two gateways are upgraded one after the other without a failed request, and a too old one drains',
  async () => {
    expect(await upgradeNodesOnce(server!)).toBeGreaterThan(0)
  },
)
