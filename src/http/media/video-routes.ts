import type { CreateJobSettings } from '../../gateway/media/create/create-job.ts'
import type { Job } from '../../domain/jobs/job.ts'
import { createVideoJob, type CreateVideoPorts } from '../../gateway/media/create/create-video-job.ts'
import type { ResultPorts } from '../../gateway/media/files/open-result.ts'
import type { JobRunner } from '../../gateway/media/work/job-runner.ts'
import { noteJob, type MediaCall } from '../../gateway/media/create/media-call.ts'
import { readClip, readJob } from '../../gateway/media/read-job.ts'
import { waitForJob, waitForSubmission } from '../../gateway/media/wait-for-job.ts'
import { readVideoRequest } from '../../protocol/media/media-requests.ts'
import type { Forwarding } from '../forwarding.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import type { Keyed } from '../caller.ts'
import { mediaReplies } from '../reply-style.ts'
import type { HttpReply } from '../request-context.ts'
import type { Route } from '../routes.ts'
import { clipReply } from './clip-reply.ts'
import { createdVideoReply, videoReply, type Creation } from './job-replies.ts'
import { mediaRoute, type MediaRoutePorts } from './media-route.ts'
import {
  createdOpenAiVideo,
  deletedVideoReply,
  listVideos,
  openAiVideoReply,
  refuseVariants,
  type Shown,
} from './openai-videos.ts'

const VIDEOS = '/v1/videos/'
const CONTENT = '/content'

export type VideoRoutePorts = CreateVideoPorts &
  MediaRoutePorts &
  ResultPorts & { readonly forwarding: Forwarding; readonly runner: JobRunner }

type VideoRouteSettings = BaseUrlSettings &
  CreateJobSettings & { readonly videoWaitMs: number; readonly videoRetentionMs: number | undefined }

/** The fields that the gateway reads, beside the inputs. The description of the API has each of them. */
export const videoFields: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'duration',
  'seconds',
  'aspect_ratio',
  'wait',
  'timeout',
  'ref_video_job_id',
  'scenes',
])
/** With `TOLLGATE_OPENAI_MEDIA`. */
export const openAiVideoFields: ReadonlySet<string> = new Set([...videoFields, 'size'])

/** The creation of video jobs under its four paths, the lookup of a job, and its clip. */
export function videoRoutes(
  ports: VideoRoutePorts,
  settings: VideoRouteSettings,
  keyed: Keyed,
): readonly Route[] {
  const { isOpenAiMediaOn } = settings
  const fields = isOpenAiMediaOn ? openAiVideoFields : videoFields
  const create = (path: string, name: string, others: Route['methods'] = {}): Route => ({
    path,
    name,
    methods: {
      POST: mediaRoute(
        { kind: 'video', route: name, takesForms: true, fields },
        createVideo(ports, settings),
        ports,
      ),
      ...others,
    },
    style: mediaReplies,
  })
  const read = keyed(async ({ account }, { request }) => {
    const job = await readJob(request.path.slice(VIDEOS.length), 'video', { accountId: account.id }, ports)
    return replies(request, ports, settings).read(job)
  }, 'videos')
  const list = keyed(({ account }, { request }) => {
    const shown = shownTo(request, ports, settings)
    return listVideos(request, { accountId: account.id }, { ...shown, jobs: ports.jobs })
  }, 'videos')
  const remove = keyed(
    ({ account }, { request }) =>
      deletedVideoReply(request.path.slice(VIDEOS.length), { accountId: account.id }, ports),
    'videos',
  )
  const content = keyed(async ({ account }, { request }) => {
    if (isOpenAiMediaOn) refuseVariants(request)
    const id = request.path.slice(VIDEOS.length, -CONTENT.length)
    return clipReply(await readClip(id, { accountId: account.id }, ports), request, ports)
  }, 'videos')
  return [
    create('/v1/videos', 'videos', isOpenAiMediaOn ? { GET: list } : {}),
    create('/v1/video/generations', 'videos.generations'),
    create('/v1/videos/extend', 'videos.extend'),
    create('/v1/videos/storyboard', 'videos.storyboard'),
    { path: `${VIDEOS}*${CONTENT}`, name: 'videos.content', methods: { GET: content }, style: mediaReplies },
    {
      path: `${VIDEOS}*`,
      name: 'videos.job',
      methods: { GET: read, ...(isOpenAiMediaOn ? { DELETE: remove } : {}) },
      style: mediaReplies,
    },
  ]
}

/** Replies when the provider has answered the submission, or later for a client that waits for the clip. */
function createVideo(ports: VideoRoutePorts, settings: VideoRouteSettings) {
  return async (call: MediaCall, http: IncomingRequest): Promise<HttpReply> => {
    const { signal } = http
    const startedMs = ports.clock.monotonicMs()
    const request = readVideoRequest(call.body.fields, { waitMsMax: settings.videoWaitMs })
    const created = await createVideoJob(call, request, ports, settings)
    const submitted = await waitForSubmission(created, { signal }, ports)
    const waitMs = (request.waitMs ?? 0) - (ports.clock.monotonicMs() - startedMs)
    const job = await waitForJob(submitted, { waitMs, signal }, ports)
    noteJob(call.record, job)
    return replies(http, ports, settings).created(job, { isRepeatable: call.idempotency !== undefined })
  }
}

function shownTo(
  request: IncomingRequest,
  ports: Pick<VideoRoutePorts, 'forwarding'>,
  settings: VideoRouteSettings,
): Shown {
  const { videoRetentionMs } = settings
  return { baseUrl: publicBaseUrl(request, settings, ports), videoRetentionMs }
}

/** How jobs look to the client of a request. */
function replies(
  request: IncomingRequest,
  ports: Pick<VideoRoutePorts, 'forwarding'>,
  settings: VideoRouteSettings,
): {
  readonly created: (job: Job, creation: Creation) => HttpReply
  readonly read: (job: Job) => HttpReply
} {
  const shown = shownTo(request, ports, settings)
  if (!settings.isOpenAiMediaOn) {
    const { baseUrl } = shown
    return {
      created: (job, creation) => createdVideoReply(job, creation, baseUrl),
      read: job => videoReply(job, baseUrl),
    }
  }
  return {
    created: (job, creation) => createdOpenAiVideo(job, creation, shown),
    read: job => openAiVideoReply(job, shown),
  }
}

/** A host name, an IPv4 address or an IPv6 address in brackets, and a port. */
const AUTHORITY = /^(?:[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

type BaseUrlSettings = {
  /** The operator's own, without a trailing slash. */
  readonly baseUrl: string | undefined
}

/**
 * The base URL by which the client of a request reaches the gateway, without a trailing slash: the operator's setting,
 * or else the request's own host. Empty for a host that is not valid, so that links are relative to the request's
 * address.
 */
export function publicBaseUrl(
  request: Pick<IncomingRequest, 'header' | 'remoteAddress'>,
  { baseUrl }: BaseUrlSettings,
  { forwarding }: { readonly forwarding: Forwarding },
): string {
  if (baseUrl !== undefined) return baseUrl
  const forwarded = forwarding.publicOrigin(request)
  const host = forwarded.host ?? request.header('host')
  if (host === null || !AUTHORITY.test(host)) return ''
  const scheme = forwarded.scheme?.toLowerCase() === 'https' ? 'https' : 'http'
  return `${scheme}://${host}`
}
