import type { Provider } from '../../domain/catalog/provider.ts'
import { readSize } from '../../domain/jobs/params.ts'
import type { MediaProvider } from '../../gateway/ports/providers/media-provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers/providers.ts'
import { addressOf, type Address, type SecretOf } from '../http/address.ts'
import type { MediaKindEntry } from '../media/media-kind.ts'
import { pollAt, submitTo, type SendMedia } from '../media/media-http.ts'
import { probeWith } from '../media/probe.ts'
import { createOf, ratioOf } from './create.ts'
import { pathOf, readCreated, readTask } from './wire.ts'

export const runwayKind: MediaKindEntry = {
  rules: {
    baseUrl: 'https://api.dev.runwayml.com',
    reportsCredits: true,
  },
  makes: ['image', 'video'],
  provider: runway,
  probe: probeRunway,
}

type RunwayPorts = { readonly send: SendMedia; readonly secretOf: SecretOf }

/** The API asks for pauses of at least five seconds, so a waiting client is not served at the usual pace of two. */
const POLL_EVERY_MS = 5000
const VERSION = '2024-11-06'

/**
 * The API of Runway: images and videos. A create cannot carry our id, and there is no list of tasks, so a submission
 * whose answer is lost is not recovered.
 */
export function runway({ send, secretOf }: RunwayPorts): MediaProvider {
  return {
    pollEveryMsMin: POLL_EVERY_MS,

    // Each query of a task signs new links for its clip.
    continuesFrom: () => ({ from: 'clip', linkTtlMs: Infinity }),

    sizeOf: shape => readSize(ratioOf(shape) ?? ''),

    async submit(call) {
      const { path, body } = createOf(call)
      const address = runwayAddress(call.provider, path, secretOf)
      return submitTo(address, body, call, { send, read: readCreated })
    },

    async poll(call) {
      const { provider, upstreamId } = call
      const address = runwayAddress(provider, pathOf(upstreamId), secretOf)
      return pollAt(address, call, { send, read: answer => readTask(answer, provider) })
    },
  }
}

/** The address of a path of the API. The row's headers can set another version of the API. */
function runwayAddress(
  provider: Provider,
  path: string,
  secretOf: SecretOf,
): Address | { readonly problem: string } {
  return addressOf(provider, path, secretOf, secret => ({
    'x-runway-version': VERSION,
    ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
  }))
}

/** Asks for the organization of the key, which costs nothing. Never throws; ends within five seconds. */
export function probeRunway(provider: Provider, { send, secretOf }: RunwayPorts): Promise<ProbeResult> {
  return probeWith(runwayAddress(provider, '/v1/organization', secretOf), provider, send)
}
