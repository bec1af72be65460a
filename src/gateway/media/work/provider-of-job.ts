import type { Catalog } from '../../../domain/catalog/catalog.ts'
import type { Provider } from '../../../domain/catalog/provider.ts'
import type { Job } from '../../../domain/jobs/job.ts'
import type { MediaProvider } from '../../ports/providers/media-provider.ts'

export type JobProviderPorts = {
  readonly catalog: { current(): Catalog }
  /** Undefined for a provider that makes no media. */
  readonly providerOf: (provider: Provider) => MediaProvider | undefined
}

/** The row of the provider of a job, and the adapter that calls it. */
export type JobProvider = { readonly provider: Provider; readonly adapter: MediaProvider }

/** Undefined if the catalog no longer has the provider, or if it no longer makes media. */
export function providerOfJob(
  job: Pick<Job, 'provider'>,
  { catalog, providerOf }: JobProviderPorts,
): JobProvider | undefined {
  const provider = catalog.current().providers.get(job.provider)
  const adapter = provider && providerOf(provider)
  return provider && adapter && { provider, adapter }
}
