import type { MediaProvider, PollOutcome, SubmitOutcome } from '../../gateway/ports/media-provider.ts'
import { joinedBody } from '../media/joined-body.ts'
import type { SendWhole } from '../media/send-whole.ts'
import { addressOf, type SecretOf } from '../openai-compatible/target.ts'
import { createOf, pathOf, readCreated, readPrediction } from './wire.ts'

export type ReplicatePorts = { readonly send: SendWhole; readonly secretOf: SecretOf }

const POLL_EVERY_MS = 2000

/**
 * Replicate: images and videos of many models. The only field of a create that could carry our id is the address of a
 * webhook, so the submit of a lost answer is not recovered. The list of predictions shows their inputs, and two jobs
 * can have the same.
 */
export function replicate({ send, secretOf }: ReplicatePorts): MediaProvider {
  return {
    pollEveryMsMin: POLL_EVERY_MS,

    async submit(call) {
      const { path, body } = createOf(call)
      const { provider, timeoutMs } = call
      const address = addressOf(provider, path, secretOf)
      if ('problem' in address) return notCallable(address.problem)
      const reply = await send({ ...address, provider, method: 'POST', body: joinedBody(body), timeoutMs })
      if (reply.reply === 'answer') return readCreated(reply)
      return { outcome: reply.isSent ? 'unknown' : 'not_sent', problem: reply.problem }
    },

    async poll({ provider, upstreamId, timeoutMs }) {
      const address = addressOf(provider, pathOf(upstreamId), secretOf)
      if ('problem' in address) return unavailable(address.problem)
      const reply = await send({ ...address, provider, method: 'GET', timeoutMs })
      return reply.reply === 'answer' ? readPrediction(reply) : unavailable(reply.problem)
    },
  }
}

function unavailable(problem: string): PollOutcome {
  return { outcome: 'unavailable', problem }
}

function notCallable(problem: string): SubmitOutcome {
  return { outcome: 'rejected', reason: 'operator', message: `The provider cannot be called: ${problem}.` }
}
