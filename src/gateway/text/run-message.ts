import { messagesDialect } from '../../protocol/messages/dialect.ts'
import { admitText, type AdmittedRequest } from './admit-text.ts'
import { runText, type TextPorts, type TextSettings } from './run-text.ts'
import type { TextCall, TextReply } from './text-call.ts'

/**
 * Answers one messages request, as JSON or, where it asks for one, as a stream that is made of the finished answer. Throws, or
 * rejects with, a GatewayError for every refusal; after one, nothing is held and nothing was charged.
 *
 * No answer is kept for a repeat. So when the client leaves, the upstream's call ends, and nothing is charged.
 */
export function runMessage(call: TextCall, ports: TextPorts, settings: TextSettings): Promise<TextReply> {
  const run = (job: AdmittedRequest): Promise<TextReply> => runText(job, ports, settings, call.client.signal)
  const admission = admitText(call, messagesDialect, ports, settings)
  return admission instanceof Promise ? admission.then(run) : run(admission)
}
