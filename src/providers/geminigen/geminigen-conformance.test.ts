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
])('geminigen %s', (_, connect) => {
  describe.each(['image', 'video'] as const)('makes a job: %s', makes => {
    mediaProviderConforms(() => simulatedMedia({ ...simulatedKinds.geminigen, makes }, connect), {
      faults: [...mediaFaults],
      isSynchronous: false,
      // The API does not report how long a clip is.
      makesVideos: false,
      hasKey: true,
      recovers: false,
    })
  })
})
