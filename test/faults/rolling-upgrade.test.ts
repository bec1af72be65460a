import { expect, test } from 'bun:test'
import { runServer } from '../support/postgres/run-server.ts'
import { upgradeNodes } from './rolling-upgrade.ts'
import { TwoGateways } from './two-gateways.ts'

// Six starts of gateways take too long for each run of all tests.
const isSkipped = process.env['TEST_FAULTS'] !== 'on' || (await runServer()) === undefined

test.skipIf(isSkipped)(
  'two gateways are upgraded one after the other without a failed request, and a too old one drains',
  async () => {
    const two = await TwoGateways.start()
    try {
      await upgradeNodes(two, 1, () => undefined)

      expect(two.reported).toBeGreaterThan(0)
    } finally {
      await two.end()
    }
  },
)
