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
])('gemini-images %s', (_, connect) => {
  mediaProviderConforms(() => simulatedMedia(simulatedKinds.geminiImages, connect), {
    faults: [...mediaFaults],
    isSynchronous: true,
    makesVideos: false,
    hasKey: true,
    recovers: false,
  })
})
