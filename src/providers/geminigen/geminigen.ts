import type { Provider } from '../../domain/catalog/provider.ts'
import type { MediaProvider } from '../../gateway/ports/media-provider.ts'
import { boundaryOf, formParts } from '../media/form-parts.ts'
import { notCallable, unavailable } from '../media/outcomes.ts'
import type { SendWhole } from '../media/send-whole.ts'
import { submitTo } from '../media/submit-to.ts'
import { addressOf, type SecretOf } from '../http/address.ts'
import { submitForm } from './submit-form.ts'
import { readHistory, readSubmitted } from './wire.ts'

export type GeminigenPorts = { readonly send: SendWhole; readonly secretOf: SecretOf }

const POLL_EVERY_MS = 3000

/**
 * GeminiGen.AI: images and videos of several vendors' models. Its history lists jobs by their prompts and has no field
 * for an id of ours. Two jobs can have the same prompt, so the job of a lost answer cannot be found exactly, and the
 * hold of an unknown submit is released at its deadline.
 */
export function geminigen({ send, secretOf }: GeminigenPorts): MediaProvider {
  return {
    pollEveryMsMin: POLL_EVERY_MS,

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

    async poll({ provider, kind, upstreamId, timeoutMs }) {
      const address = geminigenAddress(provider, `/history/${encodeURIComponent(upstreamId)}`, secretOf)
      if ('problem' in address) return unavailable(address.problem)
      const reply = await send({ provider, method: 'GET', ...address, timeoutMs })
      return reply.reply === 'answer' ? readHistory(reply, { kind, provider }) : unavailable(reply.problem)
    },
  }
}

/** The address of a path under `/uapi/v1`. The base URL may end with that. */
export function geminigenAddress(
  provider: Provider,
  path: string,
  secretOf: SecretOf,
): ReturnType<typeof addressOf> {
  const baseUrl = (provider.baseUrl ?? '').replace(/\/uapi\/v1\/?$/, '')
  return addressOf({ ...provider, baseUrl }, `/uapi/v1${path}`, secretOf, secret =>
    secret === undefined ? {} : { 'x-api-key': secret },
  )
}
