import { parseJsonObject } from '../../protocol/json/parse-json.ts'
import type { StreamDialect, TextDialect } from '../../protocol/text-dialect.ts'
import { runText } from './run-text.ts'
import type { TextPorts, TextSettings } from './text-ports.ts'
import { streamText } from './stream-text.ts'
import type { TextCall } from './text-call.ts'
import type { TextResult } from './text-result.ts'

/**
 * Answers one request of a text route: with a stream if it asks for one and the route has streams, else with JSON.
 * Throws a GatewayError if the body is malformed. Rejects with one if the request is not admitted.
 */
export function answerText(
  call: TextCall,
  dialect: TextDialect | StreamDialect,
  ports: TextPorts,
  settings: TextSettings,
): Promise<TextResult> {
  const request = dialect.readRequest(parseJsonObject(call.body))
  return request.isStream && 'openStream' in dialect
    ? streamText({ call, dialect, request }, ports, settings)
    : runText({ call, dialect, request }, ports, settings)
}
