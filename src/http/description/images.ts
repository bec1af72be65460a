import { imageNames } from '../../protocol/media/media-body.ts'
import { choice, creation, inputs, jobError, jobParameter, unixTime } from './media-jobs.ts'
import { json, type Operation, type Paths } from './operation.ts'
import {
  about,
  always,
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

import { user } from './text-schemas.ts'

const IMAGE = 'img_01m81jy9wb0002mkb67zqax8qd'
const imageId = idOf('img')

export const imageRequest = about(
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
      aspect_ratio: choice('One of the values that the model has.'),
      resolution: choice('One of the values that the model has.'),
      orientation: choice('One of the values that the model has.'),
      ...user,
      ...inputs(imageNames, 'Reference images'),
    },
  ),
)

export const imageSchemas: Members = {
  ImageRequest: imageRequest,
  Images: object({
    created: unixTime,
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
        {
          archived: about(
            'True if the result was removed after the retention time of the gateway.',
            always(true),
          ),
        },
      ),
      object({ id: imageId, status: always('failed'), cost_usd: always('0'), error: jobError }),
    ],
  },
  ProcessingImage: object({ id: imageId, status: always('processing'), estimated_cost_usd: usd }),
}

const png = 'iVBORw0KGgo='
export function createImage(id: string, summary: string): Operation {
  return {
    ...creation,
    errors: [...creation.errors, 'json_required'],
    errorExtensions: {
      ...creation.errorExtensions,
      unavailable: {
        id: about('The job whose images are paid, and cannot be read at the moment.', imageId),
        cost_usd: about('0, or the charge for these images.', usd),
      },
    },
    id,
    summary,
    description:
      'Waits for the images, up to the time limit of the gateway. Edits and generations are the same route: the inputs decide.',
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

/** Images and their jobs. */
export const imagePaths: Paths = {
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
}
