import { describe } from 'bun:test'
import { mediaFaults, mediaProviderConforms } from '../../../test/conformance/media-provider.ts'
import { simulatedMedia } from '../../../test/support/simulators/media/simulated-media.ts'
import { veoDialect } from '../../../test/support/simulators/media/veo.ts'
import {
  inMemory,
  overSockets,
  type ConnectSimulator,
} from '../../../test/support/simulators/connect-simulator.ts'
import { veo } from './veo.ts'

describe.each<[string, ConnectSimulator]>([
  ['without a network', inMemory],
  ['over sockets', overSockets],
])('veo %s', (_, connect) => {
  const open = () =>
    simulatedMedia({ kind: 'veo', path: '/v1beta', dialect: veoDialect, provider: veo }, connect)
  mediaProviderConforms(open, {
    faults: [...mediaFaults],
    isSynchronous: false,
    // The API does not report how long a clip is.
    makesVideos: false,
    hasKey: true,
    recovers: false,
  })
})
