import type { TextTimeouts } from '../../domain/catalog/text-timeouts.ts'
import type { AdmittedRequest } from './admit-text.ts'
import type { TextSettings } from './text-ports.ts'

/**
 * The limit for a whole answer, or for the head of a stream: that of the model, else of the provider, else of the
 * gateway.
 */
export function readTimeoutMs(
  model: TextTimeouts,
  provider: TextTimeouts,
  settings: Pick<TextSettings, 'readTimeoutMs'>,
): number {
  return model.readTimeoutMs ?? provider.readTimeoutMs ?? settings.readTimeoutMs
}

/** The limit for a silence in a stream, by the same order. */
export function streamIdleTimeoutMs(
  model: TextTimeouts,
  provider: TextTimeouts,
  settings: Pick<TextSettings, 'streamIdleTimeoutMs'>,
): number {
  return model.streamIdleTimeoutMs ?? provider.streamIdleTimeoutMs ?? settings.streamIdleTimeoutMs
}

/** How long further upstreams are called: as long as the most patient one may take. */
export function failOverWithinMs(
  { model, destinations }: Pick<AdmittedRequest, 'model' | 'destinations'>,
  settings: Pick<TextSettings, 'readTimeoutMs'>,
): number {
  let longestMs = 0
  for (const { provider } of destinations)
    longestMs = Math.max(longestMs, readTimeoutMs(model, provider, settings))
  return longestMs
}
