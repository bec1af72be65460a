import { messagesDialect } from '../protocol/messages/dialect.ts'
import { messagesRefusal } from '../protocol/messages/errors.ts'
import { admitText } from './admit-text.ts'
import { runText, type TextPorts, type TextSettings } from './run-text.ts'
import { STREAM_HEADERS } from './stream-text.ts'
import type { TextCall, TextReply } from './text-call.ts'

/**
 * Answers one messages request, as JSON or, where it asks for one, as a stream that is made of the finished answer. Throws a
 * GatewayError for every refusal; after one, nothing is held and nothing was charged.
 *
 * No answer is kept for a repeat. So when the client leaves, the upstream's call ends, and nothing is charged.
 */
export async function runMessage(
  call: TextCall,
  ports: TextPorts,
  settings: TextSettings,
): Promise<TextReply> {
  const admission = admitText(call, messagesDialect, ports, settings)
  const job = admission instanceof Promise ? await admission : admission
  const reply = await runText(job, ports, settings, call.client.signal)
  if (reply.status !== 200) return { ...reply, body: messagesRefusal(reply.body) }
  // What the upstream says of its answer's type is no word about the message.
  const ownHeaders = job.request.isStream ? STREAM_HEADERS : { 'content-type': 'application/json' }
  return { ...reply, headers: { ...reply.headers, ...ownHeaders } }
}
