import type { Provider } from '../../src/domain/catalog/provider.ts'
import type { JobKind } from '../../src/domain/jobs/job.ts'
import type { Clock } from '../../src/gateway/ports/clock.ts'
import type { MediaProvider } from '../../src/gateway/ports/providers/media-provider.ts'
import type { SendMedia } from '../../src/providers/media/media-http.ts'
import { openAiImages } from '../../src/providers/openai-images/openai-images.ts'
import type { SecretOf } from '../../src/providers/http/address.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { mediaProviderRow, openAiImagesProvider } from '../support/media-providers.ts'
import type { PollBehaviorName, SubmitBehaviorName } from '../support/simulators/media/behaviors.ts'
import { MediaSimulator } from '../support/simulators/media/media-simulator.ts'
import { simulatedKinds } from '../support/simulators/media/simulated-kinds.ts'
import { modelOf, type SimulatedKind } from '../support/simulators/media/simulated-media.ts'
import {
  imageBehaviors,
  OpenAiImagesSimulator,
  type ImageBehaviorName,
} from '../support/simulators/openai-images.ts'
import type { SimulatedReply, SimulatedRequest } from '../support/simulators/simulated-reply.ts'

const URL = 'http://simulator'
const KEY = 'key-1'
const JOB_MS = 5000

/** A provider in front of its simulator. */
export type Subject = {
  readonly name: string
  readonly makes: JobKind
  readonly model: string
  readonly isSynchronous: boolean
  readonly open: (clock: ReturnType<typeof fakeClock>) => OpenSubject
}

export type OpenSubject = {
  readonly row: Provider
  provider(ports: {
    readonly send: SendMedia
    readonly clock: Clock
    readonly secretOf: SecretOf
  }): MediaProvider
  handle(request: SimulatedRequest): SimulatedReply
  /** False where the simulator does not have the behavior, because the provider cannot behave like that. */
  scriptSubmit(name: SubmitBehaviorName): boolean
  scriptPoll(name: PollBehaviorName): boolean
  creates(): number
}

function simulated(kind: SimulatedKind): Subject {
  const { makes = 'video', dialect } = kind
  return {
    name: kind.dialect.name,
    makes,
    model: modelOf(kind, makes) ?? 'upstream-model',
    isSynchronous: dialect.isSynchronous === true,
    open(clock) {
      // A key of a form of its own is checked by the dialect, if at all.
      const key = kind.key === undefined ? { key: KEY } : {}
      const simulator = new MediaSimulator(dialect, { clock, ...key, jobMs: JOB_MS, url: () => URL })
      return {
        row: mediaProviderRow(kind.kind, URL + kind.path, kind.key ?? KEY),
        provider: ports => kind.provider(ports),
        handle: request => simulator.handle(request),
        scriptSubmit(name) {
          simulator.scriptSubmits(name)
          return true
        },
        scriptPoll(name) {
          simulator.scriptPolls(name)
          return true
        },
        creates: () => simulator.creates,
      }
    },
  }
}

/** What the simulator of OpenAI's images calls the same behaviors. */
const imageNames: Partial<Record<SubmitBehaviorName, ImageBehaviorName>> = {
  accept_reset: 'image_reset',
  accept_silence: 'image_silence',
  accept_504: 'image_504',
  drop_500: 'server_error',
  reject_params: 'invalid_value',
  reject_safety: 'moderation_blocked',
  reject_408: 'status_408',
  reject_409: 'status_409',
  rate_limited: 'rate_limit',
  out_of_credit: 'insufficient_quota',
  key_refused: 'invalid_key',
  drop_redirect: 'redirect',
  accept_no_id: 'error_in_success',
  accept_html: 'image_html',
  accept_truncated: 'image_truncated',
  accept_empty: 'image_empty',
  no_outputs: 'no_image',
}

const imagesSubject: Subject = {
  name: 'openai-images',
  makes: 'image',
  model: 'gpt-image-1',
  isSynchronous: true,
  open() {
    const simulator = new OpenAiImagesSimulator(KEY)
    return {
      row: openAiImagesProvider(`${URL}/v1`, KEY),
      provider: openAiImages,
      handle: request => simulator.handle(request),
      scriptSubmit(name) {
        const own = imageNames[name]
        if (own === undefined || !(own in imageBehaviors)) return false
        simulator.script(own)
        return true
      },
      scriptPoll: () => false,
      creates: () => simulator.ledger().length,
    }
  },
}

/** All kinds of providers of images and videos, by name. */
export const subjects: readonly Subject[] = [
  ...Object.values<SimulatedKind>(simulatedKinds).map(simulated),
  imagesSubject,
].toSorted((left, right) => (left.name < right.name ? -1 : 1))
