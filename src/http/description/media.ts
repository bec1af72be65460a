import { imageNames, videoNames } from '../../protocol/media/input-names.ts'
import { json, type Content, type Contents, type Operation, type Parameter, type Paths } from './operation.ts'
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

const IMAGE = 'img_01m81jy9wb0002mkb67zqax8qd'
const VIDEO = 'vid_01m81jy9wb0002mkb67zqax8qd'
const imageId = idOf('img')
const videoId = idOf('vid')
const seconds = about('Seconds since 1970.', count)
const inputs = (names: readonly string[], what: string): Members =>
  Object.fromEntries(
    names.map(name => [name, about(`${what}: a link, a data URL or base64, or a list of them.`, anything)]),
  )
const choice = (description: string) => about(description, { type: ['string', 'number', 'null'] })

/** Why a job failed, with the provider's code. */
const jobError = object({ message: text, type: text }, { code: text })
const failedCreation = object({ error: jobError, id: text, cost_usd: always('0') })
const unknownSubmit = object({
  error: object({ message: text, type: always('upstream_error'), code: always('unknown_submit') }),
  id: text,
  status: always('unknown_submit'),
  estimated_cost_usd: usd,
})

export const mediaSchemas: Members = {
  ImageRequest: about(
    'Fields that the model does not have are dropped.',
    open(
      {
        model: about('An image model of the price list.', { type: 'string', minLength: 1 }),
        prompt: about('The model checks its content.', text),
      },
      {
        n: about(
          'The number of images to reserve money for.',
          nullable({ type: 'integer', minimum: 1, maximum: 10 }),
        ),
        aspect_ratio: choice('A value of the model’s set.'),
        resolution: choice('A value of the model’s set.'),
        orientation: choice('A value of the model’s set.'),
        ...inputs(imageNames, 'Reference images'),
      },
    ),
  ),
  Images: object({
    created: seconds,
    cost_usd: usd,
    data: listOf(object({ b64_json: about('The file in base64.', text) })),
  }),
  ImageJob: {
    anyOf: [
      object({
        id: imageId,
        status: words(['queued', 'processing', 'unknown_submit']),
        estimated_cost_usd: usd,
      }),
      object(
        { id: imageId, status: always('completed'), cost_usd: usd, data: listOf(object({ b64_json: text })) },
        { archived: about('True if the result was removed after 7 days.', always(true)) },
      ),
      object({ id: imageId, status: always('failed'), cost_usd: always('0'), error: jobError }),
    ],
  },
  ProcessingImage: object({ id: imageId, status: always('processing'), estimated_cost_usd: usd }),
  VideoRequest: about(
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
        seconds: about('Like `duration`, which wins.', { type: ['number', 'string', 'null'] }),
        aspect_ratio: choice('`16:9`, `9:16` or `1:1`.'),
        wait: about('True holds the connection until the clip is ready.', {
          anyOf: [nullable(flag), words(['true', 'false'])],
        }),
        timeout: about('How many seconds to wait, 90 at most. Turns on waiting.', anything),
        ref_video_job_id: about(
          'One of your own finished video jobs, to go on from.',
          nullable({ type: 'string', minLength: 1 }),
        ),
        scenes: about(
          'Scenes for storyboard models, as a text or a list. Other values are dropped.',
          anything,
        ),
        ...inputs(imageNames, 'Input images'),
        ...inputs(videoNames, 'Input videos'),
      },
    ),
  ),
  VideoForm: about(
    'Text parts are the fields of the same name, with numbers as text. A file part is the input of its name.',
    open({ model: text, prompt: text }, { input_reference: about('An image or a video.', anything) }),
  ),
  ProcessingVideo: object({
    id: videoId,
    status: always('processing'),
    model: text,
    created: seconds,
    estimated_cost_usd: usd,
  }),
  FinishedVideo: object(
    {
      id: videoId,
      model: text,
      created: seconds,
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
        created: seconds,
        status: words(['pending', 'processing', 'unknown_submit']),
        estimated_cost_usd: usd,
      }),
      ref('FinishedVideo'),
      object({
        id: videoId,
        model: text,
        created: seconds,
        status: always('failed'),
        cost_usd: always('0'),
        error: jobError,
      }),
    ],
  },
}

const idempotencyKey: Parameter = {
  name: 'idempotency-key',
  in: 'header',
  description: 'A repeat within 24 hours returns the first job, also one that failed.',
  schema: { type: 'string', maxLength: 255 },
}

const failure = (type: string, code?: string) => ({
  error: { message: 'The provider refused the job.', type, ...(code === undefined ? {} : { code }) },
  id: VIDEO,
  cost_usd: '0',
})
const content = (schema: Schema, examples: Content['examples']): Content => ({ schema, examples })

/** What is the same for every route that creates a job. */
const creation = {
  access: 'customer',
  parameters: [idempotencyKey],
  errors: [
    'ambiguous_field',
    'content_policy_violation',
    'insufficient_balance',
    'model_not_found',
    'idempotency_key_reuse',
    'upstream_error',
    'books_inconsistent',
    'upstream_timeout',
  ],
  besideErrors: {
    insufficient_balance: {
      required_usd: { ...usd, examples: ['0.25'] },
      available_usd: { ...usd, examples: ['0.1'] },
      held_usd: { ...usd, examples: ['0'] },
    },
    unavailable: { cost_usd: always('0') },
  },
  otherErrors: {
    400: content(failedCreation, { rejected: failure('invalid_request_error', 'UNSAFE') }),
    429: content(failedCreation, { rate_limited_job: failure('rate_limit_error') }),
    502: content(
      { anyOf: [failedCreation, unknownSubmit] },
      {
        generation_failed: failure('generation_error', 'UNSAFE'),
        unknown_submit: {
          error: {
            message: 'The provider did not confirm the job.',
            type: 'upstream_error',
            code: 'unknown_submit',
          },
          id: VIDEO,
          status: 'unknown_submit',
          estimated_cost_usd: '0.25',
        },
      },
    ),
  },
  style: 'media',
} as const satisfies Partial<Operation>

const png = 'iVBORw0KGgo='
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

function createImage(id: string, summary: string): Operation {
  return {
    ...creation,
    id,
    summary,
    description:
      'Waits for at most 150 seconds. Edits and generations are the same route: the inputs decide.',
    tag: 'Images',
    body: {
      isRequired: true,
      content: json(ref('ImageRequest'), { request: { model: 'sandbox-image', prompt: 'A bay at dawn' } }),
    },
    replies: {
      200: {
        description: 'The images. For a repeat whose images were removed, the job.',
        content: json(
          { anyOf: [ref('Images'), ref('ImageJob')] },
          { images: { created: 1795349751, cost_usd: '0.04', data: [{ b64_json: png }] } },
        ),
      },
      202: {
        description: 'The job continues. Read it with `GET /v1/images/jobs/{id}`.',
        content: json(ref('ProcessingImage'), {
          job: { id: IMAGE, status: 'processing', estimated_cost_usd: '0.04' },
        }),
      },
    },
  }
}

function createVideo(id: string, summary: string): Operation {
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
    errors: [...creation.errors, 'ref_video_not_ready', 'ref_video_mismatch', 'not_found'],
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

const jobParameter = (schema: Schema, example: string): Parameter => ({
  name: 'id',
  in: 'path',
  description: 'The id of the job.',
  schema: { ...schema, pattern: undefined, type: 'string' },
  example,
})

const rangeHeaders: readonly Parameter[] = [
  {
    name: 'range',
    in: 'header',
    description: 'A single range of bytes.',
    schema: text,
    example: 'bytes=0-1023',
  },
  { name: 'if-range', in: 'header', description: 'The ETag for which the range is meant.', schema: text },
  { name: 'if-none-match', in: 'header', description: 'The ETag of a known clip.', schema: text },
]
const bytes: Contents = { '*/*': { schema: { type: 'string', format: 'binary' }, examples: {} } }
const clipHeaders: NonNullable<Operation['replies'][string]['headers']> = {
  etag: { description: 'The hash of the clip.', schema: text },
  'accept-ranges': { description: 'Ranges of bytes are supported.', schema: always('bytes') },
}
const partHeaders = {
  ...clipHeaders,
  'content-range': { description: 'Which bytes the reply has.', schema: text },
}

/** Images, videos, their jobs and clips. */
export const mediaPaths: Paths = {
  '/v1/images/generations': { post: createImage('createImage', 'Make images') },
  '/v1/images/edits': { post: createImage('editImage', 'Change images') },
  '/v1/images/jobs/{id}': {
    get: {
      id: 'readImageJob',
      summary: 'The state and the result of an image job',
      tag: 'Images',
      access: 'customer',
      parameters: [jobParameter(imageId, IMAGE)],
      replies: {
        200: {
          description: 'The job in any state.',
          content: json(ref('ImageJob'), {
            completed: { id: IMAGE, status: 'completed', cost_usd: '0.04', data: [{ b64_json: png }] },
          }),
        },
      },
      errors: ['not_found'],
      style: 'media',
    },
  },
  '/v1/videos': { post: createVideo('createVideo', 'Make a video') },
  '/v1/video/generations': { post: createVideo('generateVideo', 'Make a video') },
  '/v1/videos/extend': { post: createVideo('extendVideo', 'Extend a video') },
  '/v1/videos/storyboard': { post: createVideo('createStoryboard', 'Make a video of scenes') },
  '/v1/videos/{id}': {
    get: {
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
    },
  },
  '/v1/videos/{id}/content': {
    get: {
      id: 'readClip',
      summary: 'The clip of a video job',
      tag: 'Videos',
      access: 'customer',
      parameters: [jobParameter(videoId, VIDEO), ...rangeHeaders],
      replies: {
        200: { description: 'The clip.', content: bytes, headers: clipHeaders },
        206: { description: 'The bytes that `Range` asks for.', content: bytes, headers: partHeaders },
        304: { description: 'The client has this clip.', headers: clipHeaders },
      },
      errors: ['not_found', 'video_not_ready', 'content_archived', 'range_not_satisfiable'],
      style: 'media',
    },
  },
}
