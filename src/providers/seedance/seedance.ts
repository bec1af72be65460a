import type { Provider } from '../../domain/catalog/provider.ts'
import { MS_PER_HOUR } from '../../domain/time.ts'
import type { MediaProvider } from '../../gateway/ports/providers/media-provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers/providers.ts'
import { findJsonObject } from '../../protocol/json/parse-json.ts'
import { addressOf, type SecretOf } from '../http/address.ts'
import { pollAt, submitTo, type SendMedia, type MediaAnswer } from '../media/media-http.ts'
import type { MediaKindEntry } from '../media/media-kind.ts'
import { notCallable } from '../media/outcomes.ts'
import { probeAt } from '../media/probe.ts'
import { isOperatorError, readArkError, readSubmitted, readTask, submitBody } from './wire.ts'

export const seedanceKind: MediaKindEntry = {
  rules: {
    baseUrl: 'https://ark.ap-southeast.bytepluses.com/api/v3',
  },
  makes: ['video'],
  provider: seedance,
  probe: probeSeedance,
}

type SeedancePorts = { readonly send: SendMedia; readonly secretOf: SecretOf }

const POLL_EVERY_MS = 2000
const TASKS = '/contents/generations/tasks'

/**
 * Seedance on BytePlus ModelArk or Volcengine Ark. The list of tasks has no id of ours, so a job whose answer was lost
 * cannot be found exactly. The hold of an unknown submission is released at its deadline.
 */
export function seedance({ send, secretOf }: SeedancePorts): MediaProvider {
  return {
    pollEveryMsMin: POLL_EVERY_MS,

    // Links expire after a day.
    continuesFrom: () => ({ from: 'clip', linkTtlMs: 23 * MS_PER_HOUR }),

    async submit(call) {
      if (call.kind !== 'video') return notCallable('this kind of provider makes videos only')
      const address = addressOf(call.provider, TASKS, secretOf)
      return submitTo(address, submitBody(call), call, { send, read: readSubmitted })
    },

    async poll(call) {
      const address = addressOf(call.provider, `${TASKS}/${encodeURIComponent(call.upstreamId)}`, secretOf)
      return pollAt(address, call, { send, read: readTask })
    },
  }
}

/** Requests a page of one task, which costs nothing. Never throws; ends within five seconds. */
export async function probeSeedance(
  provider: Provider,
  { send, secretOf }: SeedancePorts,
): Promise<ProbeResult> {
  const query = { page_num: '1', page_size: '1' }
  return probeAt(addressOf(provider, TASKS, secretOf), provider, { send, judge, query })
}

function judge({ status, body }: MediaAnswer): ProbeResult {
  const error = readArkError(body)
  const shown = error?.code === undefined ? `status ${status}` : `status ${status}, code ${error.code}`
  if (status === 401) return { ok: false, detail: `Refuses its key (${shown}).` }
  if (status === 403 || isOperatorError(error))
    return { ok: false, detail: `Refuses the account (${shown}).` }
  const isApi = error !== undefined || Array.isArray(findJsonObject(body)?.['items'])
  if (!isApi || status === 404 || status >= 500)
    return { ok: false, detail: `Responds, but not like the Ark API (${shown}).` }
  return { ok: true, detail: `Responds (${shown}).` }
}
