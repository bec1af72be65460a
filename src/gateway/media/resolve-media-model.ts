import { mayUseModel } from '../../domain/accounts/key-access.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { ImageModel, MediaModel, VideoModel } from '../../domain/catalog/model.ts'
import { findPricedModel } from '../../domain/catalog/price-list.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { JobKind } from '../../domain/jobs/job.ts'
import type { Authenticated } from '../ports/api-keys.ts'
import { modelNotFound } from '../text/model-not-found.ts'
import { chooseUpstream } from '../upstreams/call-with-failover.ts'

/** The ports for choosing the provider of a media request. */
export type ResolveContext = {
  readonly isSandboxOn: boolean
  /** Whether the gateway can call this provider for jobs of this kind. */
  readonly serves: (provider: Provider, kind: JobKind) => boolean
  /** At least 0 and below 1. */
  readonly random: () => number
}

type ModelOf<Kind extends JobKind> = Kind extends 'image' ? ImageModel : VideoModel

type ResolvedMediaModel<Model extends MediaModel = MediaModel> = {
  readonly model: Model
  readonly upstream: Model['upstreams'][number]
  readonly provider: Provider
}

/**
 * The media row that a model name means, with the prices of the account, and the one upstream that gets the job: a
 * submission has no failover. Throws `model_not_found` for a name that is unknown, switched off, another kind's or not
 * for this key, and for one whose provider the account may not call or the gateway cannot; `ref_video_mismatch` where
 * the row is not served by `onlyProvider`.
 */
export function resolveMediaModel<Kind extends JobKind>(
  name: string,
  kind: Kind,
  context: ResolveContext & {
    readonly catalog: Catalog
    readonly caller: Authenticated
    /** The provider of an earlier job to continue from. Only that provider has the job. */
    readonly onlyProvider?: string
  },
): ResolvedMediaModel<ModelOf<Kind>> {
  const { catalog, caller, isSandboxOn, serves, random, onlyProvider } = context
  const model = findPricedModel(catalog, caller.account, name)
  const notFound = () => modelNotFound(name, { catalog, caller, isSandboxOn, kind })
  if (model === undefined || !model.enabled || model.kind !== kind) throw notFound()
  if (!mayUseModel(caller.apiKey.settings, model)) throw notFound()
  const destinations = model.upstreams.flatMap(upstream => {
    const provider = catalog.providers.get(upstream.provider)
    if (provider === undefined || !serves(provider, kind)) return []
    const isAllowed = provider.kind === 'sandbox' ? isSandboxOn : !caller.account.sandboxOnly
    return isAllowed ? [{ upstream, provider }] : []
  })
  if (destinations.length === 0) throw notFound()
  const fitting = destinations.filter(
    ({ provider }) => onlyProvider === undefined || provider.id === onlyProvider,
  )
  const chosen = chooseUpstream(fitting, random)
  if (chosen === undefined) {
    throw new GatewayError(
      'ref_video_mismatch',
      'The earlier video was made by a provider that this model does not use.',
      {
        param: 'ref_video_job_id',
      },
    )
  }
  return { model: model as ModelOf<Kind>, ...chosen }
}
