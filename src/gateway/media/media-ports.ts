import type { Provider } from '../../domain/catalog/provider.ts'
import type { JobKind } from '../../domain/jobs/job.ts'

/** The ports for choosing the provider of a media request. */
export type ResolveContext = {
  readonly isSandboxOn: boolean
  /** Whether the gateway can call this provider for jobs of this kind. */
  readonly serves: (provider: Provider, kind: JobKind) => boolean
  /** At least 0 and below 1. */
  readonly random: () => number
}
