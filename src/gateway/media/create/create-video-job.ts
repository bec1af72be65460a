import { engines } from '../../../domain/catalog/engines.ts'
import type { Catalog } from '../../../domain/catalog/catalog.ts'
import type { VideoModel } from '../../../domain/catalog/model.ts'
import { GatewayError } from '../../../domain/errors.ts'
import type { Job, JobRequest } from '../../../domain/jobs/job.ts'
import type { Params } from '../../../domain/jobs/params.ts'
import { chargeForVideo } from '../../../domain/pricing/charge.ts'
import { imageNames, videoNames, type MediaBody } from '../../../protocol/media/media-body.ts'
import { chooseVideoParams, readDuration, type VideoRequest } from '../../../protocol/media/media-requests.ts'
import type { Jobs } from '../../ports/media/jobs.ts'
import {
  createJob,
  fieldsInSize,
  firstJob,
  newJob,
  outputTypesOfRow,
  type CreateJobPorts,
  type CreateJobSettings,
} from './create-job.ts'
import { jobInputs } from './job-inputs.ts'
import type { MediaCall } from './media-call.ts'
import { resolveMediaModel, type ResolveContext } from './resolve-media-model.ts'
import type { ResultPorts } from '../files/open-result.ts'
import { sourceJob, sourceOf } from '../work/source-job.ts'

const MS = 1000

export type CreateVideoPorts = CreateJobPorts &
  ResolveContext & {
    readonly catalog: { current(): Catalog }
    readonly jobs: Jobs
  } & ResultPorts

/**
 * Creates the job of a video request: checks it against the model's engine, prices it, holds its money and starts its
 * submission. Throws a GatewayError for every refusal, and then holds nothing.
 */
export async function createVideoJob(
  call: MediaCall,
  request: VideoRequest,
  ports: CreateVideoPorts,
  settings: CreateJobSettings,
): Promise<Job> {
  const first = await firstJob(call, ports)
  if (first !== undefined) return first
  const { caller, record } = call
  const catalog = ports.catalog.current()
  const { refVideoJobId } = request
  const source =
    refVideoJobId === undefined ? undefined : await sourceJob(refVideoJobId, caller.account.id, ports)
  const { model, upstream, provider } = resolveMediaModel(request.model, 'video', {
    ...ports,
    catalog,
    caller,
    ...(source === undefined ? {} : { onlyProvider: source.provider }),
  })
  record.model = model.id
  record.provider = provider.id
  const { durationMs, heldMs } = durations(call, model)
  // The sizes that a row makes are those that it lists, so its default shape is not one of them.
  const paramsOf = (fields: MediaBody['fields']) => videoParams(fields, model, { hasInput: true })
  const fields = settings.isOpenAiMediaOn
    ? fieldsInSize(call.body.fields, { model, upstream, provider, paramsOf }, ports)
    : call.body.fields
  const inputs = inputsOf(call, request, { model, source, fields })
  const shape = { kind: 'video', model: upstream.model, params: inputs.params } as const
  const continuation = ports.providerOf(provider)?.continuesFrom?.(shape) ?? { from: 'id' }
  const continued = source === undefined ? {} : await sourceOf(source, continuation, ports)
  const job = newJob(
    call,
    { model, upstream, provider },
    {
      kind: 'video',
      request: { ...inputs, ...continued, durationMs },
      quote: {
        kind: 'video',
        tariff: model.pricing,
        heldMs,
        ...(upstream.cost && { providerTariff: upstream.cost }),
      },
      held: chargeForVideo(heldMs, model.pricing),
    },
    { ...settings, nowMs: ports.clock.now() },
  )
  return createJob(job, call, ports)
}

/**
 * A row's fixed parameters replace the request's. An engine that works on a video needs an input video or an earlier
 * job.
 */
function inputsOf(
  call: MediaCall,
  { prompt, scenes }: VideoRequest,
  {
    model,
    source,
    fields,
  }: {
    readonly model: VideoModel
    readonly source: Job | undefined
    readonly fields: MediaBody['fields']
  },
): Omit<JobRequest, 'durationMs'> {
  const videos = jobInputs(call.body, videoNames, { takesProviderIds: true })
  if (engines[model.engine].requiresVideo && videos.length === 0 && source === undefined) {
    const message = '"video" is missing. This model needs an input video or a `ref_video_job_id`.'
    throw new GatewayError('invalid_field', message, { param: 'video' })
  }
  const images = jobInputs(call.body, imageNames, { takesProviderIds: true })
  const hasInput = images.length > 0 || videos.length > 0 || source !== undefined
  return {
    prompt,
    params: videoParams(fields, model, { hasInput }),
    count: 1,
    images,
    videos,
    ...(scenes === undefined || model.engine !== 'storyboard' ? {} : { scenes }),
    ...outputTypesOfRow(model),
  }
}

function videoParams(
  fields: MediaBody['fields'],
  model: VideoModel,
  given: { readonly hasInput: boolean },
): Params {
  const { duration: _pinned, ...fixedParams } = model.fixedParams
  return { ...chooseVideoParams(fields, model, given), ...fixedParams }
}

/**
 * The duration for the provider, and the duration to hold for: the row's pinned duration; else the request's; else the
 * engine's default for the provider, and the row's maximum for the hold.
 */
function durations(
  { body }: MediaCall,
  model: VideoModel,
): { readonly durationMs: number; readonly heldMs: number } {
  const engine = engines[model.engine]
  const asked = readDuration(body.fields, engine)
  const pinned = model.fixedParams.duration
  if (pinned !== undefined) return { durationMs: pinned * MS, heldMs: pinned * MS }
  if (asked !== undefined) return { durationMs: asked, heldMs: asked }
  return { durationMs: engine.defaultSeconds * MS, heldMs: model.holdDurationSeconds * MS }
}
