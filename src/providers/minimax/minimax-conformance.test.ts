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
])('minimax %s', (_, connect) => {
  describe.each(['minimaxV1', 'minimaxV2'] as const)('%s', name => {
    mediaProviderConforms(() => simulatedMedia(simulatedKinds[name], connect), {
      // In v1, a success without a file is not finished.
      faults: mediaFaults.filter(fault => name === 'minimaxV2' || fault !== 'no_output'),
      isSynchronous: false,
      // v1 does not report how long a clip is.
      makesVideos: name === 'minimaxV2',
      hasKey: true,
      recovers: false,
    })
  })
})
