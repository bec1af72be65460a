import type { MediaProvider } from '../../gateway/ports/media-provider.ts'
import { notCallable, unavailable } from '../media/outcomes.ts'
import type { SendWhole } from '../media/send-whole.ts'
import { submitTo } from '../media/submit-to.ts'
import { addressOf, type SecretOf } from '../http/address.ts'
import { submitBody } from './submit-body.ts'
import { readSubmitted, readTask } from './wire.ts'

export type SeedancePorts = { readonly send: SendWhole; readonly secretOf: SecretOf }

const POLL_EVERY_MS = 5000
export const TASKS = '/contents/generations/tasks'

/**
 * Seedance on BytePlus ModelArk or Volcengine Ark. The list of tasks has no id of ours, so a job whose answer was lost
 * cannot be found exactly. The hold of an unknown submit is released at its deadline.
 */
export function seedance({ send, secretOf }: SeedancePorts): MediaProvider {
  return {
    pollEveryMsMin: POLL_EVERY_MS,

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
