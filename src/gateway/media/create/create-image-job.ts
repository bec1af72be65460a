import type { Catalog } from '../../../domain/catalog/catalog.ts'
import type { Provider } from '../../../domain/catalog/provider.ts'
import { GatewayError } from '../../../domain/errors.ts'
import type { Job } from '../../../domain/jobs/job.ts'
import { chargeForImages } from '../../../domain/pricing/charge.ts'
import { imageNames, type InputName, type MediaBody } from '../../../protocol/media/media-body.ts'
import { chooseParams, imageDefaults, readImageRequest } from '../../../protocol/media/media-requests.ts'
import {
  createJob,
  fieldsInSize,
  firstJob,
  newJob,
  outputTypesOfRow,
  type CreateJobPorts,
  type CreateJobSettings,
} from './create-job.ts'
import { mayGetLinks, type FetchInputsPorts } from '../work/fetch-inputs.ts'
import { isLink, jobInputs } from './job-inputs.ts'
import type { MediaCall } from './media-call.ts'
import { resolveMediaModel, type ResolveContext } from './resolve-media-model.ts'

export type CreateImagePorts = CreateJobPorts &
  ResolveContext &
  Pick<FetchInputsPorts, 'isPrivate'> & { readonly catalog: { current(): Catalog } }

/**
 * Creates the job of an image request: reads it, prices it, holds its money and starts its submission. Throws a
 * GatewayError for every refusal, and then holds nothing.
 */
export async function createImageJob(
  call: MediaCall,
  ports: CreateImagePorts,
  settings: CreateJobSettings,
): Promise<Job> {
  const first = await firstJob(call, ports)
  if (first !== undefined) return first
  const { model: name, prompt, count } = readImageRequest(call.body.fields)
  const { caller, record } = call
  const catalog = ports.catalog.current()
  const { model, upstream, provider } = resolveMediaModel(name, 'image', { ...ports, catalog, caller })
  record.model = model.id
  record.provider = provider.id
  const paramsOf = (fields: MediaBody['fields']) => ({
    ...chooseParams(fields, model.params, imageDefaults),
    ...model.fixedParams,
  })
  const fields = settings.isOpenAiMediaOn
    ? fieldsInSize(call.body.fields, { model, upstream, provider, paramsOf }, ports)
    : call.body.fields
  const params = paramsOf(fields)
  const images = jobInputs(call.body, imageNames, { takesProviderIds: false })
  await refuseForbiddenLink(call, provider, ports)
  const job = newJob(
    call,
    { model, upstream, provider },
    {
      kind: 'image',
      request: { prompt, params, count, images, videos: [], ...outputTypesOfRow(model) },
      quote: {
        kind: 'images',
        tariff: model.pricing,
        ...(upstream.cost && { providerTariff: upstream.cost }),
      },
      held: chargeForImages(count, model.pricing),
    },
    { ...settings, nowMs: ports.clock.now() },
  )
  return createJob(job, call, ports)
}

/** The gateway fetches no links of images, so a provider that may not get links can only be sent files. */
async function refuseForbiddenLink(
  { body }: MediaCall,
  provider: Provider,
  ports: Pick<FetchInputsPorts, 'isPrivate'>,
): Promise<void> {
  const hasLink = (name: InputName) =>
    body.inputs.get(name)?.some(value => value.kind === 'text' && isLink(value.text)) === true
  const param = imageNames.find(hasLink)
  if (param === undefined || (await mayGetLinks(provider, ports))) return
  const message = `"${param}" has a link, and this model takes only files. Send the image as a data URL or as base64.`
  throw new GatewayError('invalid_field', message, { param })
}
