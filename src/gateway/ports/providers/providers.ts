import type { Provider, ProviderKind } from '../../../domain/catalog/provider.ts'
import type { JobKind } from '../../../domain/jobs/job.ts'
import type { MediaProvider } from './media-provider.ts'
import type { TextProvider } from './text-provider.ts'

/**
 * The adapters of one kind of provider, for text, images and videos. An adapter is absent if the kind does not serve
 * this.
 */
export interface ProviderAdapter {
  readonly text?: TextProvider
  readonly media?: { readonly kinds: readonly JobKind[]; readonly provider: MediaProvider }
  /**
   * Checks whether a provider of this kind responds and accepts its key. Costs nothing, never throws, and ends within
   * seconds.
   */
  probe(provider: Provider): Promise<ProbeResult>
}

/** `detail` is a sentence for the operator, without secrets. */
export type ProbeResult = { readonly ok: boolean; readonly detail: string }

/** The adapter of each kind of provider. */
export type ProviderAdapters = { readonly [kind in ProviderKind]: ProviderAdapter }

/** Providers of images and videos by their kind. */
export type MediaProviders = Partial<Readonly<Record<ProviderKind, MediaProvider>>>
