import type { StreamDialect, TextDialect } from '../protocol/text-dialect.ts'
import { admitText } from './admit-text.ts'
import { runText, type TextPorts, type TextSettings } from './run-text.ts'
import { streamText } from './stream-text.ts'
import type { TextCall, TextReply } from './text-call.ts'

/**
 * Answers one request of a text route, as JSON or, where it asks for one and the route has them, as a stream. Throws a
 * GatewayError for every refusal; after one, nothing is held and nothing was charged.
 */
export async function answerText(
  call: TextCall,
  dialect: TextDialect | StreamDialect,
  ports: TextPorts,
  settings: TextSettings,
): Promise<TextReply> {
  const admission = admitText(call, dialect, ports, settings)
  const job = admission instanceof Promise ? await admission : admission
  if (job.request.isStream && 'openStream' in dialect) return streamText(job, dialect, ports, settings)
  return runText(job, ports, settings)
}
