import type { StreamDialect, TextDialect } from '../../protocol/text-dialect.ts'
import { admitText, type AdmittedRequest } from './admit-text.ts'
import { runText, type TextPorts, type TextSettings } from './run-text.ts'
import { streamText } from './stream-text.ts'
import type { TextCall, TextReply } from './text-call.ts'

/**
 * Answers one request of a text route, as JSON or, where it asks for one and the route has them, as a stream. Throws, or rejects
 * with, a GatewayError for every refusal; after one, nothing is held and nothing was charged.
 */
export function answerText(
  call: TextCall,
  dialect: TextDialect | StreamDialect,
  ports: TextPorts,
  settings: TextSettings,
): Promise<TextReply> {
  const run = (job: AdmittedRequest): Promise<TextReply> =>
    job.request.isStream && 'openStream' in dialect
      ? streamText(job, dialect, ports, settings)
      : runText(job, ports, settings)
  const admission = admitText(call, dialect, ports, settings)
  return admission instanceof Promise ? admission.then(run) : run(admission)
}
