import { imageNames, videoNames } from '../../protocol/media/media-body.ts'
import { choice, creation, inputs, jobError, jobParameter, unixTime, VIDEO } from './media-jobs.ts'
import { user } from './text-schemas.ts'
import { json, type Contents, type Operation, type Parameter, type Paths } from './operation.ts'
import {
  about,
  always,
  anything,
  flag,
  idOf,
  listOf,
  nullable,
  object,
  open,
  ref,
  text,
  usd,
  words,
  type Members,
} from './schema.ts'

const videoId = idOf('vid')

export const videoRequest = about(
  'Other fields are dropped.',
  open(
    {
      model: about('A video model of the price list.', { type: 'string', minLength: 1 }),
      prompt: about('The model checks its content.', text),
    },
    {
      duration: about('The length in seconds. A number or its digits.', {
        type: ['number', 'string', 'null'],
      }),
      seconds: about('The same as `duration`, which takes precedence.', {
        type: ['number', 'string', 'null'],
      }),
      aspect_ratio: choice('`16:9`, `9:16` or `1:1`.'),
      wait: about('True keeps the request open until the clip is ready.', {
        anyOf: [nullable(flag), words(['true', 'false'])],
      }),
      timeout: about(
        'How many seconds to wait, up to the time limit of the gateway. Turns on waiting.',
        anything,
      ),
      ref_video_job_id: about(
        'One of your own finished video jobs, to continue from.',
        nullable({ type: 'string', minLength: 1 }),
      ),
      scenes: about(
        'Scenes for storyboard models, usually a text or a list. They reach the provider as they came.',
        anything,
      ),
      ...user,
      ...inputs(imageNames, 'Input images'),
      ...inputs(videoNames, 'Input videos'),
    },
  ),
)

export const videoSchemas: Members = {
  VideoRequest: videoRequest,
  VideoForm: about(
    'Text parts are the fields of the same name, with numbers as text. A file part is the input of its name.',
    open({ model: text, prompt: text }, { input_reference: about('An image or a video.', anything) }),
  ),
  ProcessingVideo: object({
    id: videoId,
    status: always('processing'),
    model: text,
    created: unixTime,
    estimated_cost_usd: usd,
  }),
  FinishedVideo: object(
    {
      id: videoId,
      model: text,
      created: unixTime,
      status: always('completed'),
      cost_usd: usd,
      data: listOf(object({ url: { type: 'string', format: 'uri' } })),
    },
    {
      duration: about('The real length in seconds.', { type: 'number', minimum: 0 }),
      archived: always(true),
    },
  ),
  VideoJob: {
    anyOf: [
      object({
        id: videoId,
        model: text,
        created: unixTime,
        status: words(['pending', 'processing', 'unknown_submit']),
        estimated_cost_usd: usd,
      }),
      ref('FinishedVideo'),
      object({
        id: videoId,
        model: text,
        created: unixTime,
        status: always('failed'),
        cost_usd: always('0'),
        error: jobError,
      }),
    ],
  },
}

const processingVideo = {
  id: VIDEO,
  status: 'processing',
  model: 'sandbox-video',
  created: 1795349751,
  estimated_cost_usd: '0.25',
}
const finishedVideo = {
  id: VIDEO,
  model: 'sandbox-video',
  created: 1795349751,
  status: 'completed',
  duration: 5,
  cost_usd: '0.25',
  data: [{ url: `http://127.0.0.1:8787/v1/videos/${VIDEO}/content` }],
}

export function createVideo(id: string, summary: string): Operation {
  const request = { model: 'sandbox-video', prompt: 'A bay at dawn', duration: 5 }
  const form: Contents = {
    'multipart/form-data': {
      schema: ref('VideoForm'),
      examples: { form: { model: 'sandbox-video', prompt: 'A bay at dawn' } },
    },
  }
  return {
    ...creation,
    id,
    summary,
    description: 'The four paths are the same route: the model decides what is made.',
    tag: 'Videos',
    errors: [
      ...creation.errors,
      'ref_video_not_ready',
      'ref_video_mismatch',
      'not_found',
      'content_archived',
    ],
    body: { isRequired: true, content: { ...json(ref('VideoRequest'), { request }), ...form } },
    replies: {
      200: {
        description: 'With `wait` or `timeout`: the finished job.',
        content: json(ref('FinishedVideo'), { job: finishedVideo }),
      },
      202: {
        description: 'The provider has accepted the job.',
        content: json(ref('ProcessingVideo'), { job: processingVideo }),
      },
    },
  }
}

export const rangeHeaders: readonly Parameter[] = [
  {
    name: 'range',
    in: 'header',
    description: 'A single range of bytes.',
    schema: text,
    example: 'bytes=0-1023',
  },
  { name: 'if-range', in: 'header', description: 'The ETag for which the range is meant.', schema: text },
  { name: 'if-none-match', in: 'header', description: 'The ETag of a known file.', schema: text },
]
export const bytes: Contents = { '*/*': { schema: { type: 'string', format: 'binary' }, examples: {} } }
export const fileHeaders: NonNullable<Operation['replies'][string]['headers']> = {
  etag: { description: 'The hash of the file.', schema: text },
  'accept-ranges': { description: 'Ranges of bytes are supported.', schema: always('bytes') },
}
export const partHeaders = {
  ...fileHeaders,
  'content-range': { description: 'Which bytes the reply has.', schema: text },
}

export const readVideo: Operation = {
  id: 'readVideoJob',
  summary: 'The state of a video job',
  tag: 'Videos',
  access: 'customer',
  parameters: [jobParameter(videoId, VIDEO)],
  replies: {
    200: {
      description: 'The job in any state.',
      content: json(ref('VideoJob'), { completed: finishedVideo }),
    },
  },
  errors: ['not_found'],
  style: 'media',
}

export const readClip: Operation = {
  id: 'readClip',
  summary: 'The clip of a video job',
  tag: 'Videos',
  access: 'customer',
  parameters: [jobParameter(videoId, VIDEO), ...rangeHeaders],
  replies: {
    200: { description: 'The clip.', content: bytes, headers: fileHeaders },
    206: { description: 'The bytes that `Range` asks for.', content: bytes, headers: partHeaders },
    304: { description: 'The client has this clip.', headers: fileHeaders },
  },
  errors: ['not_found', 'video_not_ready', 'content_archived', 'range_not_satisfiable'],
  style: 'media',
}

/** Videos, their jobs and clips. */
export const videoPaths: Paths = {
  '/v1/videos': { post: createVideo('createVideo', 'Make a video') },
  '/v1/video/generations': { post: createVideo('generateVideo', 'Make a video') },
  '/v1/videos/extend': { post: createVideo('extendVideo', 'Extend a video') },
  '/v1/videos/storyboard': { post: createVideo('createStoryboard', 'Make a video of scenes') },
  '/v1/videos/{id}': { get: readVideo },
  '/v1/videos/{id}/content': { get: readClip },
}
