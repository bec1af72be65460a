import { GatewayError } from '../../domain/errors.ts'
import type { CallerSignal } from '../ports/caller-signal.ts'
import { pause, type Clock } from '../ports/clock.ts'
import type { Fingerprint, KeptAnswer } from '../ports/requests/replays.ts'
import type { Flight, SharedCache } from '../ports/requests/shared-cache.ts'

/** The pause before a waiting request looks again, at first and at most. Each look is a call of the shared cache. */
const LOOK_AGAIN_MS_FIRST = 50
const LOOK_AGAIN_MS_MAX = 500

/** The kept answer, or the flight of this request, which calls the model now. A patient request has neither. */
export type Turn = { readonly kept?: KeptAnswer; readonly flight?: Flight }

/**
 * Looks for the answer that another node kept. While another node is answering an identical request, it waits: for the
 * answer, for the news that none is kept, or for the end of the other node. A stream is not followed, only its end is
 * awaited. Rejects if the clients have disconnected.
 */
export async function takeTurn(
  fingerprint: Fingerprint,
  { replays, flights }: Pick<SharedCache, 'replays' | 'flights'>,
  {
    clock,
    patientUntilMs,
    signal,
  }: {
    readonly clock: Clock
    /** Then the request calls the model even if another node is answering. On the monotonic clock. */
    readonly patientUntilMs: number
    /** Read only by a request that waits. */
    readonly signal: () => CallerSignal
  },
): Promise<Turn> {
  let pauseMs = LOOK_AGAIN_MS_FIRST
  for (;;) {
    // In this order. A node keeps its answer before its flight lands, so a request that gets the
    // flight of another one also finds its answer.
    const [flight, kept] = await Promise.all([flights.begin(fingerprint), replays.find(fingerprint)])
    if (kept !== undefined) {
      void flight?.land('kept')
      return { kept }
    }
    if (flight !== undefined) return { flight }
    if (clock.monotonicMs() >= patientUntilMs) return {}
    if (!(await pause(clock, pauseMs, signal())))
      throw new GatewayError('upstream_error', 'The request ended before the model answered.')
    pauseMs = Math.min(pauseMs * 1.5, LOOK_AGAIN_MS_MAX)
  }
}
