import { createImage, imageRequest } from './images.ts'
import { unixTime, VIDEO } from './media-jobs.ts'
import { json, type Contents, type Operation, type Parameter, type Paths } from './operation.ts'
import {
  about,
  always,
  anything,
  count,
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
  type Schema,
} from './schema.ts'
import { eventOf } from './text-schemas.ts'
import { createVideo, readClip, readVideo, videoRequest } from './videos.ts'

const IMAGE = 'img_01m81jy9wb0002mkb67zqax8qd'
const imageId = idOf('img')
const videoId = idOf('vid')
const size = about('A size in pixels, such as `1536x1024`, or `auto`.', nullable(text))

const tokens = object({
  input_tokens: count,
  input_tokens_details: object({ image_tokens: count, text_tokens: count }),
  output_tokens: count,
  total_tokens: count,
})
const completedEvent = object({
  type: words(['image_generation.completed', 'image_edit.completed']),
  created_at: unixTime,
  size: text,
  quality: text,
  background: text,
  output_format: text,
  usage: withMembers(tokens, {
    cost_usd: about('The charge for all images, in the event of the last one.', usd),
  }),
  b64_json: about('The file in base64.', text),
})
const errorEvent = object(
  {
    error: object({ message: text, type: text, param: { type: 'null' } }, { code: text, id: imageId }),
    id: imageId,
  },
  { cost_usd: usd, status: text, estimated_cost_usd: usd },
)

const running = {
  message: 'The job is still running.',
  type: 'timeout_error',
  code: 'job_still_running',
  param: null,
  id: IMAGE,
}

const shownVideo: Members = {
  id: videoId,
  object: always('video'),
  model: text,
  status: words(['queued', 'in_progress', 'completed', 'failed']),
  progress: about('0, or 100 for a job that has ended.', { type: 'integer', enum: [0, 100] }),
  created_at: unixTime,
  completed_at: nullable(unixTime),
  expires_at: about('When the clip is archived.', nullable(unixTime)),
  prompt: about('Whole in the reply about one video. A list cuts it after 2,000 characters.', text),
  seconds: about('The length of the clip, or the length that was asked for.', text),
  size: about('Always null. The gateway does not know the size of a clip.', { type: 'null' }),
  remixed_from_video_id: { type: 'null' },
  error: nullable(object({ code: text, message: text, type: text, param: { type: 'null' } })),
}

export const openAiMediaSchemas: Members = {
  OpenAiImageRequest: withMembers(imageRequest, {
    size,
    stream: about('True streams the images as events.', nullable(flag)),
    mask: about('Must be absent.', anything),
    markup: about('Must be absent.', anything),
  }),
  OpenAiImageForm: about(
    'Text parts are the fields of the same name. File parts are the images: `image` or `image[]`.',
    open({ model: text, prompt: text }, { image: about('An image, or several.', anything) }),
  ),
  OpenAiVideoRequest: withMembers(videoRequest, { size }),
  OpenAiVideo: object(shownVideo, {
    estimated_cost_usd: about('The reserve of a job that runs.', usd),
    cost_usd: about('The charge of a job that has ended.', usd),
    duration: about('The real length in seconds.', { type: 'number', minimum: 0 }),
    data: listOf(object({ url: { type: 'string', format: 'uri' } })),
    archived: about('True if the clip was archived or deleted.', always(true)),
  }),
  OpenAiVideoList: object({
    object: always('list'),
    data: listOf(ref('OpenAiVideo')),
    first_id: nullable(videoId),
    last_id: about('The `after` of the next page.', nullable(videoId)),
    has_more: flag,
  }),
  DeletedVideo: object({ id: videoId, object: always('video.deleted'), deleted: always(true) }),
}

function withMembers(schema: Schema, members: Members): Schema {
  return { ...schema, properties: { ...(schema['properties'] as Members), ...members } }
}

const video = {
  id: VIDEO,
  object: 'video',
  model: 'sandbox-video',
  status: 'completed',
  progress: 100,
  created_at: 1795349751,
  completed_at: 1795349799,
  expires_at: null,
  prompt: 'A bay at dawn',
  seconds: '5',
  size: null,
  remixed_from_video_id: null,
  error: null,
  cost_usd: '0.25',
  duration: 5,
  data: [{ url: `http://127.0.0.1:8787/v1/videos/${VIDEO}/content` }],
}
const queued = {
  ...video,
  status: 'in_progress',
  progress: 0,
  completed_at: null,
  cost_usd: undefined,
  duration: undefined,
  data: undefined,
  estimated_cost_usd: '0.25',
}
const videoExample = JSON.parse(JSON.stringify(queued)) as object

function withImageForms(operation: Operation, event: string): Operation {
  const request = { model: 'sandbox-image', prompt: 'A bay at dawn', size: '1024x1024' }
  const form: Contents = {
    'multipart/form-data': {
      schema: ref('OpenAiImageForm'),
      examples: { form: { model: 'sandbox-image', prompt: 'A bay at dawn' } },
    },
  }
  const example = {
    type: event,
    created_at: 1795349751,
    size: 'auto',
    quality: 'auto',
    background: 'auto',
    output_format: 'png',
    usage: {
      input_tokens: 0,
      input_tokens_details: { image_tokens: 0, text_tokens: 0 },
      output_tokens: 0,
      total_tokens: 0,
      cost_usd: '0.04',
    },
    b64_json: 'iVBORw0KGgo=',
  }
  const stream: Contents = {
    'text/event-stream': {
      schema: eventOf({ anyOf: [completedEvent, errorEvent] }, true),
      examples: { completed: { event, data: JSON.stringify(example) } },
    },
  }
  return {
    ...operation,
    description:
      'Waits for the images. With `stream`, each image is an event. Edits and generations are the same route: the inputs decide.',
    body: { isRequired: true, content: { ...json(ref('OpenAiImageRequest'), { request }), ...form } },
    replies: {
      200: {
        description: 'The images. For a repeat whose images were removed, the job.',
        content: { ...operation.replies['200']?.content, ...stream },
      },
    },
    otherErrors: { ...operation.otherErrors, 504: stillRunning },
  }
}

const stillRunning = {
  schema: object({
    error: object({
      message: text,
      type: always('timeout_error'),
      code: always('job_still_running'),
      param: { type: 'null' },
      id: imageId,
    }),
    id: imageId,
    status: always('processing'),
    estimated_cost_usd: usd,
  }),
  examples: {
    job_still_running: { error: running, id: IMAGE, status: 'processing', estimated_cost_usd: '0.04' },
  },
}

function withVideoFields(operation: Operation): Operation {
  const request = { model: 'sandbox-video', prompt: 'A bay at dawn', seconds: '5', size: '640x360' }
  const form = operation.body?.content['multipart/form-data']
  const contents: Contents = form === undefined ? {} : { 'multipart/form-data': form }
  return {
    ...operation,
    body: { isRequired: true, content: { ...json(ref('OpenAiVideoRequest'), { request }), ...contents } },
    replies: {
      200: {
        description: 'With `wait` or `timeout`: the finished job.',
        content: json(ref('OpenAiVideo'), { job: video }),
      },
      202: {
        description: 'The provider has accepted the job.',
        content: json(ref('OpenAiVideo'), { job: videoExample }),
      },
    },
  }
}

const listParameters: readonly Parameter[] = [
  {
    name: 'limit',
    in: 'query',
    description: 'The number of videos of the page.',
    schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  },
  {
    name: 'order',
    in: 'query',
    description: 'By the time of creation. Default: `desc`, the newest first.',
    schema: words(['asc', 'desc']),
  },
  {
    name: 'after',
    in: 'query',
    description: 'The `last_id` of the page before.',
    schema: text,
    example: VIDEO,
  },
]

/** The image and video routes that differ with `TOLLGATE_OPENAI_MEDIA`, in place of the others. */
export const openAiMediaPaths: Paths = {
  '/v1/images/generations': {
    post: withImageForms(createImage('createImage', 'Make images'), 'image_generation.completed'),
  },
  '/v1/images/edits': {
    post: withImageForms(createImage('editImage', 'Change images'), 'image_edit.completed'),
  },
  '/v1/video/generations': { post: withVideoFields(createVideo('generateVideo', 'Make a video')) },
  '/v1/videos/extend': { post: withVideoFields(createVideo('extendVideo', 'Extend a video')) },
  '/v1/videos/storyboard': {
    post: withVideoFields(createVideo('createStoryboard', 'Make a video of scenes')),
  },
  '/v1/videos': {
    post: withVideoFields(createVideo('createVideo', 'Make a video')),
    get: {
      id: 'listVideos',
      summary: 'The video jobs of the account',
      tag: 'Videos',
      access: 'customer',
      parameters: listParameters,
      replies: {
        200: {
          description: 'A page of jobs.',
          content: json(ref('OpenAiVideoList'), {
            page: { object: 'list', data: [video], first_id: VIDEO, last_id: VIDEO, has_more: false },
          }),
        },
      },
      errors: ['invalid_field', 'not_found'],
      style: 'media',
    },
  },
  '/v1/videos/{id}': {
    get: {
      ...readVideo,
      replies: {
        200: { description: 'The job in any state.', content: json(ref('OpenAiVideo'), { job: video }) },
      },
    },
    delete: {
      ...readVideo,
      id: 'deleteVideo',
      summary: 'Delete the clip of a video job that has ended',
      description: 'The job and its charge stay. A job that runs is 409.',
      replies: {
        200: {
          description: 'The clip is gone.',
          content: json(ref('DeletedVideo'), {
            deleted: { id: VIDEO, object: 'video.deleted', deleted: true },
          }),
        },
      },
      errors: ['not_found', 'video_not_ready'],
    },
  },
  '/v1/videos/{id}/content': {
    get: {
      ...readClip,
      parameters: [
        ...(readClip.parameters ?? []),
        {
          name: 'variant',
          in: 'query',
          description: 'Only the clip itself is served.',
          schema: words(['video']),
        },
      ],
      errors: [...readClip.errors, 'invalid_field'],
    },
  },
}
