import { describe } from 'bun:test'
import {
  mediaProviderConforms,
  type MediaFault,
  type MediaUnderTest,
} from '../../../../test/conformance/media-provider.ts'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { aSubmitCall } from '../../../../test/support/media-calls.ts'
import { sandboxProvider } from '../../../../test/support/media-providers.ts'
import { sandboxMedia, VIDEO_MS } from './sandbox-media.ts'

/** How a prompt asks for each fault. Faults of a wire format are missing, because the sandbox has no wire format. */
const directives = {
  rejected: 'reject=BAD_INPUT',
  rejected_408: 'reject=BAD_INPUT status=408',
  rejected_409: 'reject=BAD_INPUT status=409',
  rate_limited: 'status=429 retry_after_s=7',
  key_refused: 'status=401',
  no_credit: 'status=402',
  no_id: 'submit=no_id',
  server_error_accepted: 'submit=unknown',
  server_error: 'submit=lost',
  silent: 'submit=hang',
  refused_connection: 'submit=not_sent',
  generation_failed: 'fail=TOO_DARK',
  no_output: 'result=empty',
  unknown_status: 'upstream_status=dreaming',
  poll_server_error: 'poll_failures=1',
} as const satisfies Partial<Record<MediaFault, string>>

const faults = Object.keys(directives) as (keyof typeof directives)[]

describe('the sandbox as a provider of videos', () => {
  mediaProviderConforms(openSandbox, { faults, isSynchronous: false, makesVideos: true, hasKey: false })
})

async function openSandbox(): Promise<MediaUnderTest> {
  const clock = fakeClock()
  return {
    provider: sandboxMedia({ clock }),
    call(fault) {
      const directive = faults.find(known => known === fault)
      const prompt = directive === undefined ? 'A bay' : `A bay [sandbox ${directives[directive]}]`
      return aSubmitCall(sandboxProvider, { kind: 'video', durationMs: 4000, prompt })
    },
    passTimeout: async ({ timeoutMs }) => clock.advance(timeoutMs),
    finishJobs: async () => clock.advance(VIDEO_MS),
    close: async () => {},
  }
}
