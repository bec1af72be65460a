import { describe } from 'bun:test'
import {
  KEY_UNDER_TEST,
  mediaFaults,
  mediaProviderConforms,
} from '../../../test/conformance/media-provider.ts'
import {
  inMemory,
  overSockets,
  type ConnectSimulator,
} from '../../../test/support/simulators/connect-simulator.ts'
import { klingDialect } from '../../../test/support/simulators/media/kling.ts'
import { simulatedKinds } from '../../../test/support/simulators/media/simulated-kinds.ts'
import { simulatedMedia, type SimulatedAuth } from '../../../test/support/simulators/media/simulated-media.ts'

const keys = { accessKey: 'access-under-test', secretKey: KEY_UNDER_TEST }

describe.each<[string, ConnectSimulator]>([
  ['without a network', inMemory],
  ['over sockets', overSockets],
])('kling %s', (_, connect) => {
  const auth: SimulatedAuth = {
    key: `${keys.accessKey},${keys.secretKey}`,
    dialect: clock => klingDialect({ keys, nowMs: () => clock.now() }),
  }
  mediaProviderConforms(() => simulatedMedia(simulatedKinds.kling, connect, auth), {
    faults: [...mediaFaults],
    isSynchronous: false,
    makesVideos: true,
    hasKey: true,
  })
})
