import type { Provider } from '../../domain/catalog/provider.ts'
import type { MediaProvider } from '../../gateway/ports/media-provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers.ts'
import { findJsonObject } from '../../protocol/json/parse-json.ts'
import { addressOf, type SecretOf } from '../http/address.ts'
import { PROBE_TIMEOUT_MS, submitTo, type SendMedia, type MediaAnswer } from '../media/media-http.ts'
import type { MediaKindEntry } from '../media/media-kind.ts'
import { notCallable, unavailable } from '../media/outcomes.ts'
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

const POLL_EVERY_MS = 5000
const HOUR_MS = 3_600_000
const TASKS = '/contents/generations/tasks'

/**
 * Seedance on BytePlus ModelArk or Volcengine Ark. The list of tasks has no id of ours, so a job whose answer was lost
 * cannot be found exactly. The hold of an unknown submission is released at its deadline.
 */
export function seedance({ send, secretOf }: SeedancePorts): MediaProvider {
  return {
    pollEveryMsMin: POLL_EVERY_MS,

    // Links expire after a day.
    continuesFrom: () => ({ from: 'clip', linkTtlMs: 23 * HOUR_MS }),

    async submit(call) {
      if (call.kind !== 'video') return notCallable('this kind of provider makes videos only')
      const address = addressOf(call.provider, TASKS, secretOf)
      return submitTo(address, submitBody(call), call, { send, read: readSubmitted })
    },

    async poll({ provider, upstreamId, timeoutMs }) {
      const address = addressOf(provider, `${TASKS}/${encodeURIComponent(upstreamId)}`, secretOf)
      if ('problem' in address) return unavailable(address.problem)
      const reply = await send({ provider, method: 'GET', ...address, timeoutMs })
      return reply.reply === 'answer' ? readTask(reply) : unavailable(reply.problem)
    },
  }
}

/** Requests a page of one task, which costs nothing. Never throws; ends within five seconds. */
export async function probeSeedance(
  provider: Provider,
  { send, secretOf }: SeedancePorts,
): Promise<ProbeResult> {
  const address = addressOf(provider, TASKS, secretOf)
  if ('problem' in address) return { ok: false, detail: `It cannot be called: ${address.problem}.` }
  address.url.searchParams.set('page_num', '1')
  address.url.searchParams.set('page_size', '1')
  const reply = await send({ provider, method: 'GET', ...address, timeoutMs: PROBE_TIMEOUT_MS })
  return reply.reply === 'none' ? { ok: false, detail: `Does not respond (${reply.problem}).` } : judge(reply)
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
