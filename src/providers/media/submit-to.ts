import type { SubmitCall, SubmitOutcome } from '../../gateway/ports/media-provider.ts'
import type { Address } from '../http/address.ts'
import { joinedBody, type BodyPart } from './joined-body.ts'
import { notCallable, unanswered } from './outcomes.ts'
import type { SendWhole, WholeAnswer } from './send-whole.ts'

/** A body, or why the API cannot make the job: a sentence for the client. */
export type SubmitBody = readonly BodyPart[] | { readonly refusal: string }

/**
 * Posts a body, once, and reads the answer. Sends nothing for a row that cannot be called, and for a job that the API
 * cannot make.
 */
export async function submitTo(
  address: Address | { readonly problem: string },
  body: SubmitBody,
  { provider, timeoutMs }: Pick<SubmitCall, 'provider' | 'timeoutMs'>,
  { send, read }: { readonly send: SendWhole; readonly read: (answer: WholeAnswer) => SubmitOutcome },
): Promise<SubmitOutcome> {
  if ('problem' in address) return notCallable(address.problem)
  if ('refusal' in body) return { outcome: 'rejected', reason: 'invalid', message: body.refusal }
  const reply = await send({ provider, method: 'POST', ...address, body: joinedBody(body), timeoutMs })
  if (reply.reply === 'answer') return read(reply)
  return unanswered(reply)
}
