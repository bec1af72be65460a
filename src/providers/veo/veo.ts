import { readSize } from '../../domain/jobs/params.ts'
import { MS_PER_HOUR } from '../../domain/time.ts'
import type { MediaProvider, PollOutcome } from '../../gateway/ports/providers/media-provider.ts'
import { probeGemini, geminiAddress, KEY_HEADER } from '../gemini-api/gemini-api.ts'
import type { Address, SecretOf } from '../http/address.ts'
import { pollAt, submitTo, type SendMedia } from '../media/media-http.ts'
import type { MediaKindEntry } from '../media/media-kind.ts'
import { notCallable, unavailable } from '../media/outcomes.ts'
import { operationPath, readOperation, readSubmitted, submitBody, withKey } from './wire.ts'

export const veoKind: MediaKindEntry = {
  rules: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyHeader: 'x-goog-api-key',
  },
  makes: ['video'],
  provider: veo,
  probe: probeGemini,
}

type VeoPorts = { readonly send: SendMedia; readonly secretOf: SecretOf }

const POLL_EVERY_MS = 2000

/** By aspect ratio and resolution. */
const sizes: Readonly<Record<string, string>> = {
  '16:9 720p': '1280x720',
  '9:16 720p': '720x1280',
  '16:9 1080p': '1920x1080',
  '9:16 1080p': '1080x1920',
}

/**
 * Veo in the Gemini API: clips from text, from frames, from reference images, or from a clip to continue. Its answers
 * do not have our job id, and it has no list of operations. So a job whose answer was lost cannot be found, and the
 * hold of an unknown submission is released at its deadline.
 */
export function veo({ send, secretOf }: VeoPorts): MediaProvider {
  return {
    pollEveryMsMin: POLL_EVERY_MS,

    // The API keeps clips for two days. It continues only clips that it made itself, and knows them by their links.
    continuesFrom: () => ({ from: 'clip', linkTtlMs: 47 * MS_PER_HOUR }),

    sizeOf: ({ params }) =>
      readSize(sizes[`${params['aspect_ratio']} ${params['resolution'] ?? '720p'}`] ?? ''),

    async submit(call) {
      if (call.kind !== 'video') return notCallable('this kind of provider makes videos only')
      const model = call.model.replace(/^models\//, '')
      const address = geminiAddress(
        call.provider,
        `/models/${encodeURIComponent(model)}:predictLongRunning`,
        secretOf,
      )
      return submitTo(address, submitBody(call), call, { send, read: readSubmitted })
    },

    async poll(call) {
      const path = operationPath(call.upstreamId)
      if (path === undefined) return unavailable('the job was not made by this kind of provider')
      const address = geminiAddress(call.provider, path, secretOf)
      if ('problem' in address) return unavailable(address.problem)
      return pollAt(address, call, { send, read: answer => authorized(readOperation(answer), address) })
    },
  }
}

/** The links of a result, with the key for those that need it. */
function authorized(outcome: PollOutcome, { url, headers }: Address): PollOutcome {
  if (outcome.outcome !== 'finished') return outcome
  const own = { url, key: headers.get(KEY_HEADER) }
  return {
    ...outcome,
    result: { ...outcome.result, outputs: outcome.result.outputs.map(output => withKey(output, own)) },
  }
}
