import { EVENT_STREAM_TYPE } from '../../../protocol/sse/event-stream-type.ts'
import type { StreamDialect } from '../../../protocol/text-dialect.ts'
import { admitText, passedRateLimits } from '../admit-text.ts'
import { callUpstreams } from '../call-upstreams.ts'
import { openStream } from './open-stream.ts'
import { refuseText, unrepeatable } from '../refuse-text.ts'
import { freeHold } from '../settle-text.ts'
import { RelayedStream } from './relay-stream.ts'
import type { TextPorts, TextSettings } from '../text-ports.ts'
import type { ParsedTextCall } from '../text-call.ts'
import type { TextResult } from '../text-result.ts'

/**
 * Answers one request with a stream: holds its worst case, calls its upstreams until one produces output, and relays
 * the rest. Rejects with a GatewayError if the request is not admitted. A stream charges itself when it ends, however
 * it ends; if no stream opens, nothing is held afterwards.
 */
export async function streamText(
  parsed: ParsedTextCall<StreamDialect>,
  ports: TextPorts,
  settings: TextSettings,
): Promise<TextResult> {
  const admitted = await admitText(parsed, ports, settings)
  let relayed: RelayedStream | undefined
  try {
    const attempt = await callUpstreams(
      admitted,
      (destination, mayGiveUp) => openStream(admitted, destination, settings, ports, { mayGiveUp }),
      ports,
      settings,
    )
    const { result } = attempt
    if (result.kind === 'refusal') ports.refusedFields.note(admitted, attempt, result)
    if (result.kind !== 'stream') return refuseText(admitted, { ...attempt, result }, ports)

    relayed = new RelayedStream({ admitted, attempt, opened: result.opened }, ports)
    const { rateLimits, retryAfter } = result.opened
    return {
      kind: 'stream',
      model: admitted.model.id,
      contentType: EVENT_STREAM_TYPE,
      rateLimits: passedRateLimits(admitted, attempt.destination, rateLimits),
      retryAfter,
      body: relayed,
      ended: relayed.ended,
    }
  } catch (error) {
    throw unrepeatable(error)
  } finally {
    // A relayed stream frees its hold when it is settled.
    if (relayed === undefined) await freeHold(admitted, ports)
  }
}
