import type { MediaKind } from '../../../../src/domain/catalog/provider.ts'
import type { JobKind } from '../../../../src/domain/jobs/job.ts'
import type { Clock } from '../../../../src/gateway/ports/clock.ts'
import type {
  AcceptedJob,
  MediaProvider,
  SubmitCall,
} from '../../../../src/gateway/ports/providers/media-provider.ts'
import type { SendMedia, MediaRequest } from '../../../../src/providers/media/media-http.ts'
import type { SecretOf } from '../../../../src/providers/http/address.ts'
import { fakeClock } from '../../fake-clock.ts'
import { accepted, aSubmitCall } from '../../media-calls.ts'
import { literalSecret, mediaProviderRow } from '../../media-providers.ts'
import { simulatedSend } from '../simulated-send.ts'
import type { Dialect } from './dialect.ts'
import { MediaSimulator, type MediaSimulatorOptions } from './media-simulator.ts'

export const JOB_MS = 5000
const KEY = 'key-1'

export type AdapterSetup = {
  readonly kind: MediaKind
  readonly dialect: Dialect
  readonly provider: (ports: {
    readonly send: SendMedia
    readonly clock: Clock
    readonly secretOf: SecretOf
  }) => MediaProvider
  readonly baseUrl: string
  readonly makes: JobKind
  readonly model: string
}

/** An adapter in front of its simulator, without a network. `sent` has the requests of the adapter, in order. */
export function openAdapter(setup: AdapterSetup, options: Partial<MediaSimulatorOptions> = {}) {
  const { kind, dialect, baseUrl, makes, model } = setup
  const clock = fakeClock()
  const url = new URL(baseUrl).origin
  const simulator = new MediaSimulator(dialect, {
    clock,
    key: KEY,
    jobMs: JOB_MS,
    url: () => url,
    ...options,
  })
  const sent: MediaRequest[] = []
  const send = simulatedSend(request => simulator.handle(request), clock)
  const provider = setup.provider({
    clock,
    secretOf: literalSecret,
    send: async request => {
      sent.push(request)
      return send(request)
    },
  })
  const row = mediaProviderRow(kind, baseUrl, KEY)
  const aCall = (change: Partial<SubmitCall> = {}): SubmitCall =>
    aSubmitCall(row, { kind: makes, model, ...(makes === 'video' ? { durationMs: 5000 } : {}), ...change })
  const submitted = async (call = aCall()): Promise<AcceptedJob> => {
    const outcome = await provider.submit(call)
    if (outcome.outcome !== 'accepted') throw new Error(`The submit was ${outcome.outcome}.`)
    return accepted(call, outcome.upstreamId)
  }
  return { clock, simulator, sent, provider, row, aCall, submitted }
}
