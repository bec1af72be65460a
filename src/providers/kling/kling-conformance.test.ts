import { describe } from 'bun:test'
import {
  KEY_UNDER_TEST,
  mediaFaults,
  mediaProviderConforms,
  type MediaFault,
  type MediaUnderTest,
} from '../../../test/conformance/media-provider.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aSubmitCall } from '../../../test/support/media-calls.ts'
import { klingProvider, literalSecret } from '../../../test/support/media-providers.ts'
import {
  pollBehaviors,
  submitBehaviors,
  type PollBehavior,
  type SubmitBehavior,
} from '../../../test/support/simulators/kling-behaviors.ts'
import { KlingSimulator } from '../../../test/support/simulators/kling.ts'
import {
  inMemory,
  overSockets,
  type ConnectSimulator,
} from '../../../test/support/simulators/connect-simulator.ts'
import { refusedUrl } from '../../../test/support/upstream.ts'
import { until } from '../../../test/scenarios/until.ts'
import { kling } from './kling.ts'

const JOB_MS = 5000
const keys = { accessKey: 'access-under-test', secretKey: KEY_UNDER_TEST }

const submits: Partial<Record<MediaFault, SubmitBehavior>> = {
  rejected: submitBehaviors.reject_params,
  rejected_408: { accepts: false, answer: { status: 408, code: 1201 } },
  rejected_409: { accepts: false, answer: { status: 409, code: 1201 } },
  rate_limited: submitBehaviors.rate_limited,
  key_refused: submitBehaviors.key_refused,
  no_credit: submitBehaviors.out_of_credit,
  no_id: submitBehaviors.accept_no_id,
  html: submitBehaviors.accept_html,
  truncated: submitBehaviors.accept_truncated,
  empty: submitBehaviors.accept_empty,
  server_error_accepted: submitBehaviors.accept_504,
  server_error: submitBehaviors.drop_500,
  reply_lost: submitBehaviors.accept_reset,
  silent: submitBehaviors.accept_silence,
  generation_failed: submitBehaviors.fails,
  no_output: submitBehaviors.no_videos,
  unknown_status: submitBehaviors.unknown_status,
}
const polls: Partial<Record<MediaFault, PollBehavior>> = {
  poll_refused: pollBehaviors.status_401,
  poll_server_error: pollBehaviors.status_500,
  poll_html: pollBehaviors.html,
}

describe.each<[string, ConnectSimulator]>([
  ['without a network', inMemory],
  ['over sockets', overSockets],
])('kling %s', (_, connect) => {
  mediaProviderConforms(() => openKling(connect), {
    faults: [...mediaFaults],
    isSynchronous: false,
    makesVideos: true,
    hasKey: true,
  })
})

async function openKling(connect: ConnectSimulator): Promise<MediaUnderTest> {
  const clock = fakeClock()
  const simulator = new KlingSimulator({ clock, keys, jobMs: JOB_MS })
  const connection = await connect(request => simulator.handle(request), clock)
  return {
    provider: kling({ send: connection.send, clock, secretOf: literalSecret }),
    call(fault) {
      simulator.scriptSubmits(...[fault && submits[fault]].filter(behavior => behavior !== undefined))
      simulator.scriptPolls(...[fault && polls[fault]].filter(behavior => behavior !== undefined))
      const baseUrl = fault === 'refused_connection' ? refusedUrl() : connection.url
      const row = klingProvider(baseUrl, `${keys.accessKey},${keys.secretKey}`)
      return aSubmitCall(row, { kind: 'video', durationMs: 5000 })
    },
    submits: () => simulator.creates,
    async passTimeout({ jobId, timeoutMs }) {
      const hasJob = () => simulator.ledger().some(({ externalTaskId }) => externalTaskId === jobId)
      await until('the provider has the request', () => hasJob() && clock.waiting > 0)
      clock.advance(timeoutMs)
    },
    finishJobs: async () => clock.advance(JOB_MS),
    close: connection.close,
  }
}
