import type { MediaKind } from '../../../../src/domain/catalog/provider.ts'
import type { JobKind } from '../../../../src/domain/jobs/job.ts'
import type { Clock } from '../../../../src/gateway/ports/clock.ts'
import type { MediaProvider } from '../../../../src/gateway/ports/providers/media-provider.ts'
import type { SendMedia } from '../../../../src/providers/media/media-http.ts'
import type { SecretOf } from '../../../../src/providers/http/address.ts'
import { KEY_UNDER_TEST, type MediaFault, type MediaUnderTest } from '../../../conformance/media-provider.ts'
import { until } from '../../until.ts'
import { fakeClock } from '../../fake-clock.ts'
import { aSubmitCall } from '../../media-calls.ts'
import { literalSecret, mediaProviderRow } from '../../media-providers.ts'
import { refusedUrl } from '../../upstream.ts'
import type { ConnectSimulator } from '../connect-simulator.ts'
import type { PollBehaviorName, SubmitBehaviorName } from './behaviors.ts'
import type { Asked, Dialect } from './dialect.ts'
import { MediaSimulator } from './media-simulator.ts'

const JOB_MS = 5000

const submits: Partial<Record<MediaFault, SubmitBehaviorName>> = {
  rejected: 'reject_params',
  rejected_408: 'reject_408',
  rejected_409: 'reject_409',
  rate_limited: 'rate_limited',
  key_refused: 'key_refused',
  no_credit: 'out_of_credit',
  no_id: 'accept_no_id',
  html: 'accept_html',
  truncated: 'accept_truncated',
  empty: 'accept_empty',
  server_error_accepted: 'accept_504',
  server_error: 'drop_500',
  reply_lost: 'accept_reset',
  silent: 'accept_silence',
  generation_failed: 'fails',
  no_output: 'no_outputs',
  unknown_status: 'unknown_status',
}
const polls: Partial<Record<MediaFault, PollBehaviorName>> = {
  poll_refused: 'status_401',
  poll_server_error: 'status_500',
  poll_html: 'html',
}

/** An adapter, the API that it calls, and the path of a base URL. */
export type SimulatedKind = {
  readonly kind: MediaKind
  readonly path: string
  readonly dialect: Dialect
  readonly provider: (ports: {
    readonly send: SendMedia
    readonly clock: Clock
    readonly secretOf: SecretOf
  }) => MediaProvider
  /** Default: video. */
  readonly makes?: JobKind
  /** A model, or one for images and one for videos, where the name matters. */
  readonly model?: string | Readonly<Record<JobKind, string>>
  /** Whether its answers say how long a clip is. Default: true. */
  readonly reportsDuration?: boolean
  /** Whether it finds the job of a lost submit. Default: false. */
  readonly recovers?: boolean
  /** A key of the form that its rows have. Default: any text. */
  readonly key?: string
  /** Whether it may send a result in the answer itself. Default: false. */
  readonly sendsBytes?: boolean
  /** Its answers have at most this number of results. */
  readonly outputsMax?: number
  /** Whether its results may be links. Default: true. */
  readonly sendsLinks?: boolean
  /** The upstream id that the gateway stores. Default: the provider's id. */
  readonly upstreamIdOf?: (id: string, asked: Asked) => string
}

export function modelOf({ model }: Pick<SimulatedKind, 'model'>, makes: JobKind): string | undefined {
  return typeof model === 'object' ? model[makes] : model
}

/** For an API that does not take the key itself. Its dialect checks what requests carry. */
export type SimulatedAuth = { readonly key: string; readonly dialect: (clock: Clock) => Dialect }

/** An adapter in front of its simulator, for the conformance suite. */
export async function simulatedMedia(
  simulated: SimulatedKind,
  connect: ConnectSimulator,
  auth?: SimulatedAuth,
): Promise<MediaUnderTest> {
  const { kind, path, dialect, provider, makes = 'video' } = simulated
  const clock = fakeClock()
  let url = ''
  let calls = 0
  const options = { clock, jobMs: JOB_MS, url: () => url }
  const simulator =
    auth === undefined
      ? new MediaSimulator(dialect, { ...options, key: KEY_UNDER_TEST })
      : new MediaSimulator(auth.dialect(clock), options)
  const connection = await connect(request => simulator.handle(request), clock)
  url = connection.url
  return {
    provider: provider({ send: connection.send, clock, secretOf: literalSecret }),
    call(fault) {
      simulator.scriptSubmits(...[fault && submits[fault]].filter(behavior => behavior !== undefined))
      simulator.scriptPolls(...[fault && polls[fault]].filter(behavior => behavior !== undefined))
      const baseUrl = fault === 'refused_connection' ? refusedUrl() : connection.url + path
      const row = mediaProviderRow(kind, baseUrl, auth?.key ?? KEY_UNDER_TEST)
      // A prompt of its own, by which the job is found in the ledger.
      calls += 1
      const prompt = `A lighthouse at dawn, ${calls}`
      return aSubmitCall(row, {
        kind: makes,
        model: modelOf(simulated, makes) ?? 'upstream-model',
        prompt,
        ...(makes === 'video' ? { durationMs: 5000 } : {}),
      })
    },
    submits: () => simulator.creates,
    async passTimeout({ prompt, timeoutMs }) {
      const hasJob = () => simulator.ledger().some(job => job.prompt === prompt)
      await until('the provider has the request', () => hasJob() && clock.waiting > 0)
      clock.advance(timeoutMs)
    },
    finishJobs: async () => clock.advance(JOB_MS),
    close: connection.close,
  }
}
