import { createImageJob, type CreateImagePorts } from '../../gateway/media/create/create-image-job.ts'
import type { ResultPorts } from '../../gateway/media/files/open-result.ts'
import type { JobRunner } from '../../gateway/media/work/job-runner.ts'
import type { CreateJobSettings } from '../../gateway/media/create/create-job.ts'
import { noteJob, type MediaCall } from '../../gateway/media/create/media-call.ts'
import { readJob } from '../../gateway/media/read-job.ts'
import { waitForJob, type WaitPorts } from '../../gateway/media/wait-for-job.ts'
import type { Jobs } from '../../gateway/ports/media/jobs.ts'
import type { Keyed } from '../caller.ts'
import { mediaReplies } from '../reply-style.ts'
import type { Route } from '../routes.ts'
import { createdImageReply, imageReply } from './job-replies.ts'
import { maskFields, openAiImages } from './openai-images.ts'
import { mediaRoute, type MediaRoutePorts } from './media-route.ts'

const IMAGE_JOBS = '/v1/images/jobs/'

export type ImageRoutePorts = CreateImagePorts &
  WaitPorts &
  MediaRoutePorts &
  ResultPorts & { readonly jobs: Jobs; readonly runner: JobRunner }

/** The fields that the gateway reads, beside the inputs. The description of the API has each of them. */
export const imageFields: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'n',
  'aspect_ratio',
  'resolution',
  'orientation',
])

/** With `TOLLGATE_OPENAI_MEDIA`. */
export const openAiImageFields: ReadonlySet<string> = new Set([
  ...imageFields,
  ...maskFields,
  'size',
  'stream',
])

/** Generations, edits, and the lookup of image jobs. Edits are the same handler under another path. */
export function imageRoutes(
  ports: ImageRoutePorts,
  settings: CreateJobSettings & { readonly imageWaitMs: number },
  keyed: Keyed,
): readonly Route[] {
  const { isOpenAiMediaOn } = settings
  const createInContract = async (call: MediaCall) => {
    const job = await createImageJob(call, ports, settings)
    const waiting = { waitMs: settings.imageWaitMs, signal: call.client.signal }
    const ended = await waitForJob(job, waiting, ports)
    noteJob(call.record, ended)
    return createdImageReply(ended, { isRepeatable: call.idempotency !== undefined }, ports)
  }
  const create = isOpenAiMediaOn ? openAiImages(ports, settings) : createInContract
  const fields = isOpenAiMediaOn ? openAiImageFields : imageFields
  const route = (name: string) => ({
    POST: mediaRoute({ kind: 'image', route: name, takesForms: isOpenAiMediaOn, fields }, create, ports),
  })
  const read = keyed(async ({ account }, { request }) => {
    const job = await readJob(
      request.path.slice(IMAGE_JOBS.length),
      'image',
      { accountId: account.id },
      ports,
    )
    return imageReply(job, ports)
  }, 'images')
  return [
    { path: '/v1/images/generations', name: 'images', methods: route('images'), style: mediaReplies },
    { path: '/v1/images/edits', name: 'images.edits', methods: route('images.edits'), style: mediaReplies },
    { path: `${IMAGE_JOBS}*`, name: 'images.job', methods: { GET: read }, style: mediaReplies },
  ]
}
