import { describe } from 'bun:test'
import { mediaFaults, mediaProviderConforms } from '../../../test/conformance/media-provider.ts'
import { simulatedKinds } from '../../../test/support/simulators/media/simulated-kinds.ts'
import { simulatedMedia } from '../../../test/support/simulators/media/simulated-media.ts'
import {
  inMemory,
  overSockets,
  type ConnectSimulator,
} from '../../../test/support/simulators/connect-simulator.ts'

describe.each<[string, ConnectSimulator]>([
  ['without a network', inMemory],
  ['over sockets', overSockets],
])('fal %s', (_, connect) => {
  describe.each([
    ['image', false],
    ['video', true],
  ] as const)('for one %s', (makes, makesVideos) => {
    mediaProviderConforms(() => simulatedMedia({ ...simulatedKinds.fal, makes }, connect), {
      faults: [...mediaFaults],
      isSynchronous: false,
      makesVideos,
      hasKey: true,
      recovers: false,
    })
  })
})
