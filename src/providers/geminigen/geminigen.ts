import type { Provider } from '../../domain/catalog/provider.ts'
import { MS_PER_DAY } from '../../domain/time.ts'
import type { MediaProvider } from '../../gateway/ports/providers/media-provider.ts'
import type { ProbeResult } from '../../gateway/ports/providers/providers.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { addressOf, type SecretOf } from '../http/address.ts'
import { boundaryOf, formParts } from '../media/request-bodies.ts'
import type { MediaKindEntry } from '../media/media-kind.ts'
import { notCallable } from '../media/outcomes.ts'
import { pollAt, submitTo, type SendMedia, type MediaAnswer } from '../media/media-http.ts'
import { probeAt } from '../media/probe.ts'
import { changesClip, submitForm } from './submit-form.ts'
import { errorCodeOf, isOperatorCode, readHistory, readSubmitted } from './wire.ts'

export const geminigenKind: MediaKindEntry = {
  rules: {
    baseUrl: 'https://api.geminigen.ai',
    keyHeader: 'x-api-key',
    reportsCredits: true,
  },
  makes: ['image', 'video'],
  provider: geminigen,
  probe: probeGeminigen,
}

type GeminigenPorts = { readonly send: SendMedia; readonly secretOf: SecretOf }

const POLL_EVERY_MS = 2000

/**
 * GeminiGen.AI: images and videos of several vendors' models. Its history lists jobs by their prompts and has no field
 * for an id of ours. Two jobs can have the same prompt, so the job of a lost answer cannot be found exactly, and the
 * hold of an unknown submission is released at its deadline.
 */
export function geminigen({ send, secretOf }: GeminigenPorts): MediaProvider {
  return {
    pollEveryMsMin: POLL_EVERY_MS,

    // Files are kept for a month. The history of a job has its links.
    continuesFrom: ({ model }) =>
      changesClip(model) ? { from: 'clip', linkTtlMs: 7 * MS_PER_DAY } : { from: 'id' },

    async submit(call) {
      const form = submitForm(call)
      if ('problem' in form) return notCallable(form.problem)
      if ('refusal' in form) return { outcome: 'rejected', reason: 'invalid', message: form.refusal }
      const address = geminigenAddress(call.provider, form.path, secretOf)
      const boundary = boundaryOf(call)
      if (!('problem' in address))
        address.headers.set('content-type', `multipart/form-data; boundary=${boundary}`)
      return submitTo(address, formParts(form.fields, boundary), call, { send, read: readSubmitted })
    },

    async poll(call) {
      const { provider, upstreamId } = call
      const address = geminigenAddress(provider, `/history/${encodeURIComponent(upstreamId)}`, secretOf)
      return pollAt(address, call, { send, read: answer => readHistory(answer, call) })
    },
  }
}

/** The address of a path under `/uapi/v1`. The base URL may end with that. */
function geminigenAddress(
  provider: Provider,
  path: string,
  secretOf: SecretOf,
): ReturnType<typeof addressOf> {
  const baseUrl = (provider.baseUrl ?? '').replace(/\/uapi\/v1\/?$/, '')
  return addressOf({ ...provider, baseUrl }, `/uapi/v1${path}`, secretOf, secret =>
    secret === undefined ? {} : { 'x-api-key': secret },
  )
}

/** Requests the credit of the account, which costs nothing. Never throws; ends within five seconds. */
export async function probeGeminigen(
  provider: Provider,
  { send, secretOf }: GeminigenPorts,
): Promise<ProbeResult> {
  const address = geminigenAddress(provider, '/account', secretOf)
  return probeAt(address, provider, { send, judge })
}

function judge({ status, body }: MediaAnswer): ProbeResult {
  const code = errorCodeOf(body)
  const shown = code === undefined ? `status ${status}` : `status ${status}, code ${code}`
  if (status === 401 || status === 403 || isOperatorCode(code))
    return { ok: false, detail: `Refuses its key (${shown}).` }
  if (status === 429) return { ok: true, detail: `Responds (${shown}).` }
  const credit = findJsonObject(body)?.['user_credit']
  if (!isJsonObject(credit) || status !== 200)
    return { ok: false, detail: `Responds, but not like the GeminiGen API (${shown}).` }
  const { available_credit: available } = credit
  return typeof available === 'number' && available <= 0
    ? { ok: false, detail: 'Accepts its key, but its account has no credit.' }
    : { ok: true, detail: `Responds (${shown}).` }
}
