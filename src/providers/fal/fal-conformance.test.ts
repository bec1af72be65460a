import { describe } from 'bun:test'
import { mediaFaults, mediaProviderConforms } from '../../../test/conformance/media-provider.ts'
import { falDialect } from '../../../test/support/simulators/media/fal.ts'
import { simulatedMedia } from '../../../test/support/simulators/media/simulated-media.ts'
import {
  inMemory,
  overSockets,
  type ConnectSimulator,
} from '../../../test/support/simulators/connect-simulator.ts'
import { fal } from './fal.ts'

describe.each<[string, ConnectSimulator]>([
  ['without a network', inMemory],
  ['over sockets', overSockets],
])('fal %s', (_, connect) => {
  const simulated = { kind: 'fal', path: '', dialect: falDialect, provider: fal } as const
  const models = { image: 'fal-ai/flux/dev', video: 'fal-ai/kling-video/v2.1/text-to-video' } as const
  const traits = {
    faults: [...mediaFaults],
    isSynchronous: false,
    hasKey: true,
    recovers: false,
  }

  describe('for images', () => {
    const open = () => simulatedMedia({ ...simulated, makes: 'image', model: models.image }, connect)
    mediaProviderConforms(open, { ...traits, makesVideos: false })
  })
  describe('for videos', () => {
    const open = () => simulatedMedia({ ...simulated, makes: 'video', model: models.video }, connect)
    mediaProviderConforms(open, { ...traits, makesVideos: true })
  })
})
