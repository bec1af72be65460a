import type { Job } from '../../domain/jobs/job.ts'
import { createImageJob, type CreateImagePorts } from '../../gateway/media/create-image-job.ts'
import type { MediaCall } from '../../gateway/media/media-call.ts'
import { readJob } from '../../gateway/media/read-job.ts'
import { waitForJob } from '../../gateway/media/wait-for-job.ts'
import type { Authenticated } from '../../gateway/ports/accounts.ts'
import type { Blobs } from '../../gateway/ports/blobs.ts'
import type { Jobs } from '../../gateway/ports/jobs.ts'
import type { Handler, HttpReply, RequestContext } from '../request-context.ts'
import { mediaReplies } from '../reply-style.ts'
import type { Route } from '../routes.ts'
import { createdImageReply, imageReply } from './image-replies.ts'

const IMAGE_JOBS = '/v1/images/jobs/'

export type ImageRoutePorts = CreateImagePorts & { readonly jobs: Jobs; readonly blobs: Blobs }

type Keyed = (handle: (caller: Authenticated, context: RequestContext) => Promise<HttpReply>) => Handler
/** A keyed route whose body is a media request. */
type MediaRoute = (answer: (call: MediaCall) => Promise<HttpReply>) => Handler

/** Generations, edits, and the lookup of image jobs. Edits are the same handler: only their paths differ. */
export function imageRoutes(
  ports: ImageRoutePorts,
  settings: { readonly imageWaitMs: number; readonly jobTtlMs: number },
  { keyed, mediaRoute }: { readonly keyed: Keyed; readonly mediaRoute: MediaRoute },
): readonly Route[] {
  const create = mediaRoute(async call => {
    const job = await createImageJob(call, ports, settings)
    const { signal } = call.client
    return createdImageReply(await waitForJob(job, { waitMs: settings.imageWaitMs, signal }, ports), ports)
  })
  const read = keyed(async ({ account }, { request }) => {
    const job: Job = await readJob(
      request.path.slice(IMAGE_JOBS.length),
      'image',
      { accountId: account.id },
      ports,
    )
    return imageReply(job, ports)
  })
  return [
    { path: '/v1/images/generations', name: 'images', methods: { POST: create }, style: mediaReplies },
    { path: '/v1/images/edits', name: 'images.edits', methods: { POST: create }, style: mediaReplies },
    { path: `${IMAGE_JOBS}*`, name: 'images.job', methods: { GET: read }, style: mediaReplies },
  ]
}
