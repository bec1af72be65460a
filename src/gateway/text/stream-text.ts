import { formatId } from '../../domain/ids.ts'
import { STREAM_HEADERS } from '../../protocol/sse/stream-headers.ts'
import type { StreamDialect } from '../../protocol/text-dialect.ts'
import type { AdmittedRequest } from './admit-text.ts'
import { openStream } from './open-stream.ts'
import { refuseText } from './refuse-text.ts'
import { relayStream } from './relay-stream.ts'
import type { TextPorts, TextSettings } from './run-text.ts'
import type { TextReply } from './text-call.ts'
import { callWithFailover } from '../upstreams/call-with-failover.ts'
import { upstreamSecrets } from './upstream-secrets.ts'
import { usageLimits } from './usage-limits.ts'

/**
 * Answers one admitted request with a stream. Throws a GatewayError for every refusal before the first byte; after one,
 * nothing is held and nothing was charged. From the first byte on, the stream settles itself, whichever way it ends.
 */
export async function streamText(
  job: AdmittedRequest,
  dialect: StreamDialect,
  ports: TextPorts,
  settings: TextSettings,
): Promise<TextReply> {
  const { call, hold } = job
  let refusal: TextReply
  try {
    const context = {
      dialect,
      providers: ports.providers,
      limits: usageLimits(job),
      firstByteTimeoutMs: settings.readTimeoutMs,
      idleTimeoutMs: settings.streamIdleTimeoutMs,
      fallback: { id: formatId('req', call.id), createdAtS: Math.floor(ports.clock.now() / 1000) },
      secrets: upstreamSecrets(job.destinations, ports.secretOf),
      signal: call.client.signal,
    }
    const verdict = await callWithFailover(job, destination => openStream(job, destination, context), ports, {
      switchWithinMs: settings.readTimeoutMs,
    })
    if (verdict.verdict === 'stream') {
      const { source, ended } = relayStream(job, verdict.opened, ports)
      const { headers, rateLimits } = verdict.opened
      const ownHeaders = { ...headers, ...STREAM_HEADERS }
      return { status: 200, headers: ownHeaders, rateLimits, body: source, ended, cost: null }
    }
    refusal = refuseText(verdict, job, ports.secretOf)
  } catch (error) {
    await ports.holds.release(hold)
    throw error
  }
  await ports.holds.release(hold)
  return refusal
}
