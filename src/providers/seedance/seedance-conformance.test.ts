import { describe } from 'bun:test'
import { mediaFaults, mediaProviderConforms } from '../../../test/conformance/media-provider.ts'
import {
  inMemory,
  overSockets,
  type ConnectSimulator,
} from '../../../test/support/simulators/connect-simulator.ts'
import { simulatedKinds } from '../../../test/support/simulators/media/simulated-kinds.ts'
import { simulatedMedia } from '../../../test/support/simulators/media/simulated-media.ts'

describe.each<[string, ConnectSimulator]>([
  ['without a network', inMemory],
  ['over sockets', overSockets],
])('seedance %s', (_, connect) => {
  mediaProviderConforms(() => simulatedMedia(simulatedKinds.seedance, connect), {
    faults: [...mediaFaults],
    isSynchronous: false,
    makesVideos: true,
    hasKey: true,
    recovers: false,
  })
})
