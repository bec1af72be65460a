import type { Provider } from '../../domain/catalog/provider.ts'
import { MS_PER_MINUTE } from '../../domain/time.ts'
import type { MediaProvider } from '../../gateway/ports/providers/media-provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers/providers.ts'
import { addressOf, type SecretOf } from '../http/address.ts'
import type { MediaKindEntry } from '../media/media-kind.ts'
import { pollAt, submitTo, type SendMedia } from '../media/media-http.ts'
import { probeWith } from '../media/probe.ts'
import { createOf, pathOf, readCreated, readPrediction } from './wire.ts'

export const replicateKind: MediaKindEntry = {
  rules: {
    baseUrl: 'https://api.replicate.com/v1',
  },
  makes: ['image', 'video'],
  provider: replicate,
  probe: probeReplicate,
}

type ReplicatePorts = { readonly send: SendMedia; readonly secretOf: SecretOf }

const POLL_EVERY_MS = 2000

/**
 * Replicate: images and videos of many models. Only the address of a webhook could carry our id in a create, so a
 * submit whose answer is lost is not recovered. The list of predictions shows their inputs, and two jobs can have the
 * same.
 */
export function replicate({ send, secretOf }: ReplicatePorts): MediaProvider {
  return {
    pollEveryMsMin: POLL_EVERY_MS,

    // The API removes the results of a job an hour after its end. Some minutes are left for the model to start.
    continuesFrom: () => ({ from: 'clip', linkTtlMs: 50 * MS_PER_MINUTE }),

    async submit(call) {
      const { path, body } = createOf(call)
      const address = addressOf(call.provider, path, secretOf)
      return submitTo(address, body, call, { send, read: readCreated })
    },

    async poll(call) {
      const address = addressOf(call.provider, pathOf(call.upstreamId), secretOf)
      return pollAt(address, call, { send, read: readPrediction })
    },
  }
}

/** Asks for the account of the key, which costs nothing. Never throws; ends within five seconds. */
export function probeReplicate(provider: Provider, { send, secretOf }: ReplicatePorts): Promise<ProbeResult> {
  return probeWith(addressOf(provider, '/account', secretOf), provider, send)
}
