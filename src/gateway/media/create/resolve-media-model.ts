import type { ImageModel, MediaModel, VideoModel } from '../../../domain/catalog/model.ts'
import { mayReach, type Provider } from '../../../domain/catalog/provider.ts'
import { GatewayError } from '../../../domain/errors.ts'
import type { JobKind } from '../../../domain/jobs/job.ts'
import { callableModel, modelNotFound, type Callables } from '../../admission/callable-model.ts'
import { chooseUpstream } from '../../upstreams/call-with-failover.ts'

/** The ports for choosing the provider of a media request. */
export type ResolveContext = {
  readonly isSandboxOn: boolean
  /** Whether the gateway can call this provider for jobs of this kind. */
  readonly serves: (provider: Provider, kind: JobKind) => boolean
  /** At least 0 and below 1. */
  readonly random: () => number
}

type MediaModelOf<Kind extends JobKind> = Kind extends 'image' ? ImageModel : VideoModel

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
  context: ResolveContext &
    Callables & {
      /** The provider of an earlier job to continue from. Only that provider has the job. */
      readonly onlyProvider?: string
    },
): ResolvedMediaModel<MediaModelOf<Kind>> {
  const { catalog, caller, serves, random, onlyProvider } = context
  const model: MediaModel = callableModel<JobKind>(name, kind, context)
  const callable = model.upstreams.flatMap(upstream => {
    const provider = catalog.providers.get(upstream.provider)
    if (provider === undefined || !serves(provider, kind)) return []
    return mayReach(provider, caller.account, context) ? [{ upstream, provider }] : []
  })
  if (callable.length === 0) throw modelNotFound(name, { ...context, kind })
  const continuable =
    onlyProvider === undefined ? callable : callable.filter(({ provider }) => provider.id === onlyProvider)
  const chosen = chooseUpstream(continuable, random)
  if (chosen !== undefined) return { model: model as MediaModelOf<Kind>, ...chosen }
  const message = 'The earlier video was made by a provider that this model does not use.'
  throw new GatewayError('ref_video_mismatch', message, { param: 'ref_video_job_id' })
}
