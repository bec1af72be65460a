import type { TextTimeouts } from '../../domain/catalog/text-timeouts.ts'
import type { Destination } from './destinations.ts'

/** The limits of the gateway, for models and providers without their own. */
export type TimeoutSettings = { readonly readTimeoutMs: number; readonly streamIdleTimeoutMs: number }

/**
 * The limit for a whole answer, or for the head of a stream: that of the model, else of the provider, else of the
 * gateway.
 */
export function readTimeoutMs(
  model: TextTimeouts,
  provider: TextTimeouts,
  settings: Pick<TimeoutSettings, 'readTimeoutMs'>,
): number {
  return model.readTimeoutMs ?? provider.readTimeoutMs ?? settings.readTimeoutMs
}

/** The limit for a silence in a stream, by the same order. */
export function streamIdleTimeoutMs(
  model: TextTimeouts,
  provider: TextTimeouts,
  settings: Pick<TimeoutSettings, 'streamIdleTimeoutMs'>,
): number {
  return model.streamIdleTimeoutMs ?? provider.streamIdleTimeoutMs ?? settings.streamIdleTimeoutMs
}

/** How long further upstreams are called: as long as the most patient one may take. */
export function failOverWithinMs(
  { model, destinations }: { readonly model: TextTimeouts; readonly destinations: readonly Destination[] },
  settings: Pick<TimeoutSettings, 'readTimeoutMs'>,
): number {
  let longestMs = 0
  for (const { provider } of destinations)
    longestMs = Math.max(longestMs, readTimeoutMs(model, provider, settings))
  return longestMs
}
