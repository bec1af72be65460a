import type { Params } from '../../domain/jobs/params.ts'
import type {
  Billed,
  MediaInput,
  MediaOutput,
  MediaResult,
  Rejection,
  SubmitCall,
} from '../../gateway/ports/providers/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { readUpstreamError } from '../../protocol/upstream-error.ts'
import { reasonOf, waitOf } from '../media/outcomes.ts'
import { extensionOf, formParts, type BodyPart, type FormField } from '../media/request-bodies.ts'
import { base64Output, countOf, linkOutput } from '../media/result-values.ts'
import type { MediaAnswer } from '../media/media-http.ts'

/** The adapter sends these fields as one `size`. */
const SHAPE_PARAMS = new Set(['aspect_ratio', 'resolution', 'orientation', 'size'])
/**
 * Never sent from a row's parameters: the gateway sets some of them itself, and the others would change the number of
 * images or the framing of the answer.
 */
const OWN_FIELDS = new Set(['model', 'prompt', 'image', 'n', 'stream', 'partial_images', 'response_format'])

/** The fields of a request, without its images. */
function fieldsOf({
  model,
  prompt,
  params,
}: SubmitCall): Readonly<Record<string, string | number | boolean>> {
  const others = Object.entries(params).filter(([name]) => !SHAPE_PARAMS.has(name) && !OWN_FIELDS.has(name))
  const size = imageSize(model, params)
  return {
    model,
    prompt,
    ...Object.fromEntries(others),
    ...(size === undefined ? {} : { size }),
    // Other models return base64 only and refuse the field.
    ...(dallEVersion(model) === undefined ? {} : { response_format: 'b64_json' }),
  }
}

/** The body of `POST /images/generations`. */
export function generationJson(call: SubmitCall): string {
  return JSON.stringify(fieldsOf(call))
}

/**
 * The body of `POST /images/edits`, as `multipart/form-data`. A link, or an id of the provider, is sent as text in the
 * field of the image. Some servers of this dialect fetch it, and the others refuse it with their own code.
 */
export function editForm(call: SubmitCall, boundary: string): readonly BodyPart[] {
  const name = call.images.length > 1 ? 'image[]' : 'image'
  const fields = Object.entries(fieldsOf(call)).map(([field, value]) => ({
    name: field,
    text: String(value),
  }))
  const images = call.images.map((image, place) => imageField(name, { image, place }))
  return formParts([...fields, ...images], boundary)
}

function imageField(
  name: string,
  { image, place }: { readonly image: MediaInput; readonly place: number },
): FormField {
  switch (image.from) {
    case 'url':
      return { name, text: image.url }
    case 'provider_id':
      return { name, text: image.id }
    case 'bytes':
      return { name, file: image, fileName: `image-${place}.${extensionOf(image.mediaType)}` }
  }
}

/** The images of a success. Undefined if the answer is not JSON or has no list of images. */
export function readResult(body: string): MediaResult | undefined {
  const answer = findJsonObject(body)
  const images = answer?.['data']
  if (!Array.isArray(images)) return undefined
  const outputs = images.flatMap(image => outputOf(image) ?? [])
  return { outputs, isCounted: true, ...tokensOf(answer?.['usage']) }
}

/**
 * The tokens of the answer, as a member of a result. Tokens without details are text in the prompt, and images after
 * it. DALL·E models report none.
 */
function tokensOf(usage: unknown): Billed {
  if (!isJsonObject(usage)) return {}
  const { input_tokens_details: inputs, output_tokens_details: outputs } = usage
  const input = countOf(usage['input_tokens'])
  const imageInput = Math.min(input, isJsonObject(inputs) ? countOf(inputs['image_tokens']) : 0)
  const output = countOf(usage['output_tokens'])
  const textOutput = Math.min(output, isJsonObject(outputs) ? countOf(outputs['text_tokens']) : 0)
  const tokens = { textInput: input - imageInput, imageInput, textOutput, imageOutput: output - textOutput }
  return { tokens }
}

function outputOf(image: unknown): MediaOutput | undefined {
  if (!isJsonObject(image)) return undefined
  const { b64_json: base64, url } = image
  return base64Output(base64) ?? linkOutput(url)
}

/** Codes for an account of the operator that cannot be used. They come with several HTTP statuses. */
const OPERATOR_CODES = new Set([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'account_deactivated',
  'invalid_api_key',
])

/** Why an answer is not a success. */
export function readRejection(answer: MediaAnswer): Rejection {
  const { status, contentType, body } = answer
  const { message, type, code } = readUpstreamError(body, contentType)
  return {
    reason: reasonFor(status, [code, type]),
    status,
    message,
    ...(code === undefined ? {} : { code }),
    ...waitOf(answer),
  }
}

function reasonFor(status: number, names: readonly (string | undefined)[]): Rejection['reason'] {
  if (names.some(name => name !== undefined && OPERATOR_CODES.has(name))) return 'operator'
  return reasonOf(status)
}

/** The sizes of models that offer three. */
type Sizes = Readonly<Record<'square' | 'landscape' | 'portrait', string>>

const gptImageSizes: Sizes = { square: '1024x1024', landscape: '1536x1024', portrait: '1024x1536' }
const dallE3Sizes: Sizes = { square: '1024x1024', landscape: '1792x1024', portrait: '1024x1792' }
const DALL_E_2_SIZE = '1024x1024'

/** From here on, GPT image models take any size whose sides are multiples of 16, within the limits below. */
const FREE_SIZES = /(?:^|\/)gpt-image-2/
const SIDE_STEP = 16
const SIDE_MAX = 3840
const pixelsMax: Readonly<Record<string, number>> = { '1K': 1024 ** 2, '2K': 2048 ** 2, '4K': 3840 * 2160 }

/**
 * The `size` of a request. The model's family decides which sizes exist. A `size` among the parameters is sent
 * unchanged. Undefined if the request has no shape; the provider then uses its own default.
 */
export function imageSize(model: string, params: Params): string | undefined {
  const { size, resolution } = params
  if (size !== undefined) return String(size)
  const ratio = ratioOf(params)
  if (ratio === undefined) return undefined
  if (FREE_SIZES.test(model)) return freeSize(ratio, pixelsMax[String(resolution)] ?? 1024 ** 2)
  const version = dallEVersion(model)
  if (version === '2') return DALL_E_2_SIZE
  return (version === '3' ? dallE3Sizes : gptImageSizes)[shapeOf(ratio)]
}

/** The version of a DALL·E model, the family that may return links; undefined for other models. */
function dallEVersion(model: string): string | undefined {
  return /(?:^|\/)dall-e-(\d)/.exec(model)?.[1]
}

type Ratio = { readonly width: number; readonly height: number }

const orientations: Readonly<Record<string, Ratio>> = {
  square: { width: 1, height: 1 },
  landscape: { width: 3, height: 2 },
  portrait: { width: 2, height: 3 },
}

/** The aspect ratio, or else the orientation; square if only a resolution is given. */
function ratioOf({ aspect_ratio, orientation, resolution }: Params): Ratio | undefined {
  const [, width, height] = /^(\d{1,2}):(\d{1,2})$/.exec(String(aspect_ratio)) ?? []
  if (width !== undefined && Number(width) * Number(height) > 0)
    return { width: Number(width), height: Number(height) }
  return orientations[String(orientation)] ?? (resolution === undefined ? undefined : orientations['square'])
}

function shapeOf({ width, height }: Ratio): keyof Sizes {
  if (width === height) return 'square'
  return width > height ? 'landscape' : 'portrait'
}

/** The largest size of exactly this ratio with at most this number of pixels. */
function freeSize(ratio: Ratio, pixels: number): string | undefined {
  const divisor = greatestCommonDivisor(ratio.width, ratio.height)
  const width = (ratio.width / divisor) * SIDE_STEP
  const height = (ratio.height / divisor) * SIDE_STEP
  const factor = Math.floor(
    Math.min(Math.sqrt(pixels / (width * height)), SIDE_MAX / Math.max(width, height)),
  )
  return factor === 0 ? undefined : `${width * factor}x${height * factor}`
}

function greatestCommonDivisor(left: number, right: number): number {
  return right === 0 ? left : greatestCommonDivisor(right, left % right)
}
