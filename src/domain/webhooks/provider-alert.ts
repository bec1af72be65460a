import type { NewEvent } from './event.ts'

/** Upstreams that fail for less are not told: one or two bad minutes would send an event each time. */
export const FAILING_MS_MIN = 60_000
/** A provider has recovered after this time without an open circuit breaker. One that comes and goes is told once. */
const RECOVERED_MS_MIN = 300_000
/** A provider that fails is told again when more of its models fail, at most this often. */
export const REPEAT_MS_MIN = 3_600_000

/** An upstream whose circuit breaker has opened, and that has not succeeded since. */
export type FailingUpstream = {
  readonly provider: string
  readonly model: string
  /** Since when, on the monotonic clock. */
  readonly sinceMs: number
}

/** A provider that was told to fail. */
export type ToldProvider = {
  readonly provider: string
  readonly models: readonly string[]
  /** On the wall clock. */
  readonly atMs: number
}

export type ProviderNews = ToldProvider & { readonly type: 'provider.failing' | 'provider.recovered' }

/** What is known of one provider between two looks. */
export type ProviderWatch = {
  readonly told?: ToldProvider
  /** Since when none of its upstreams fails, on the monotonic clock. Absent before it was told to fail. */
  readonly healthySinceMs?: number
}

/** What follows from a look at the upstreams of a provider: what to keep, and what to tell. */
export function watchAfter(
  { told, healthySinceMs }: ProviderWatch,
  { provider, failing }: { readonly provider: string; readonly failing: readonly FailingUpstream[] },
  { nowMs, monotonicMs }: { readonly nowMs: number; readonly monotonicMs: number },
): { readonly watch: ProviderWatch; readonly news?: ProviderNews } {
  const models = failing
    .filter(({ sinceMs }) => monotonicMs - sinceMs >= FAILING_MS_MIN)
    .map(({ model }) => model)
    .toSorted()
  if (told === undefined) {
    if (models.length === 0) return { watch: {} }
    const first = { provider, models, atMs: nowMs }
    return { watch: { told: first }, news: { type: 'provider.failing', ...first } }
  }
  if (failing.length > 0) {
    const isMore = models.some(model => !told.models.includes(model))
    if (!isMore || nowMs - told.atMs < REPEAT_MS_MIN) return { watch: { told } }
    const more = { provider, models, atMs: nowMs }
    return { watch: { told: more }, news: { type: 'provider.failing', ...more } }
  }
  const sinceMs = healthySinceMs ?? monotonicMs
  if (monotonicMs - sinceMs < RECOVERED_MS_MIN) return { watch: { told, healthySinceMs: sinceMs } }
  return { watch: {}, news: { type: 'provider.recovered', provider, models: told.models, atMs: nowMs } }
}

export function providerEvent({ type, provider, models, atMs }: ProviderNews): NewEvent {
  return { type, data: { provider, models }, atMs }
}
