import type { MediaInput, SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import { linkOf, otherParams, unsupportedScenes, secondsOf } from '../media/inputs.ts'
import {
  jsonParts,
  type InputBytes,
  type MemberValue,
  type Members,
  type SubmitBody,
} from '../media/request-bodies.ts'

/** Where a task is created, and the body of the create. */
type Create = { readonly path: string; readonly body: SubmitBody }

/** Never sent from a row's parameters: the adapter sets them itself, or they change the number of results. */
const OWN_FIELDS = new Set([
  'model',
  'promptText',
  'promptImage',
  'promptVideo',
  'videoUri',
  'referenceImages',
  'references',
  'duration',
  'outputCount',
  // The adapter sends these fields as one `ratio`.
  'aspect_ratio',
  'resolution',
  'orientation',
  'ratio',
])
/** The longest data URL that the API accepts. */
const DATA_URL_BYTES_MAX = 5 * 1024 ** 2

/** The create of a task, or why the API cannot make the job. */
export function createOf(call: SubmitCall): Create {
  const { model, prompt } = call
  const { path, inputs } = inputsOf(call)
  const refusal = unsupportedScenes(call) ?? framesRefusalOf(call) ?? sizeRefusalOf(call)
  if (refusal !== undefined) return { path, body: { refusal } }
  return {
    path,
    body: jsonParts({
      model,
      promptText: prompt,
      ...otherParams(call, OWN_FIELDS),
      ratio: ratioOf(call),
      duration: secondsOf(call),
      ...inputs,
    }),
  }
}

/** The kind of output and the inputs decide the route. */
function inputsOf(call: SubmitCall): { readonly path: string; readonly inputs: Members } {
  const images = call.images.map(linkOf)
  const videos = call.videos.map(linkOf)
  const references = listOf(images.map(uri => ({ uri })))
  if (call.kind === 'image') return { path: '/v1/text_to_image', inputs: { referenceImages: references } }
  if (videos.length > 0)
    return { path: '/v1/video_to_video', inputs: videoInputs(call.model, videos, images) }
  if (images.length === 0) return { path: '/v1/text_to_video', inputs: {} }
  return { path: '/v1/image_to_video', inputs: { promptImage: framesOf(images) } }
}

/**
 * The first image is the first frame, and the second is the last frame. Models refuse inputs that they do not support.
 */
function framesOf(images: readonly MemberValue[]): MemberValue {
  const [first, ...others] = images
  if (first !== undefined && others.length === 0) return first
  return images.map((uri, place) => ({ uri, position: place === 0 ? 'first' : 'last' }))
}

/** The models of the Aleph family have different names for the video and the references. */
function videoInputs(model: string, videos: readonly MemberValue[], images: readonly MemberValue[]): Members {
  const isAleph = model.includes('aleph')
  const [video, ...others] = videos
  return {
    [isAleph ? 'videoUri' : 'promptVideo']: video,
    referenceVideos: listOf(others.map(uri => ({ type: 'video', uri }))),
    references: listOf(images.map((uri): MemberValue => (isAleph ? { type: 'image', uri } : { uri }))),
  }
}

function listOf(values: readonly MemberValue[]): MemberValue | undefined {
  return values.length === 0 ? undefined : values
}

function framesRefusalOf({ kind, images, videos }: SubmitCall): string | undefined {
  return kind === 'video' && videos.length === 0 && images.length > 2
    ? 'The provider accepts at most two images: the first and the last frame.'
    : undefined
}

function sizeRefusalOf({ images, videos }: SubmitCall): string | undefined {
  return [...images, ...videos].some(isTooLarge)
    ? 'An input is larger than the 3.7 MB that the provider accepts.'
    : undefined
}

function isTooLarge(input: MediaInput): boolean {
  return input.from === 'bytes' && dataUrlBytes(input) > DATA_URL_BYTES_MAX
}

function dataUrlBytes({ bytes, mediaType }: InputBytes): number {
  return `data:${mediaType};base64,`.length + 4 * Math.ceil(bytes / 3)
}

type Ratios = Readonly<Record<string, string>>

/** Sizes that most models of a route support. */
const videoRatios: Ratios = {
  '16:9': '1280:720',
  '9:16': '720:1280',
  '1:1': '960:960',
  '4:3': '1104:832',
  '3:4': '832:1104',
  '21:9': '1584:672',
}
const fullHdRatios: Ratios = { '16:9': '1920:1080', '9:16': '1080:1920' }
const imageRatios: Ratios = {
  '16:9': '1920:1080',
  '9:16': '1080:1920',
  '1:1': '1024:1024',
  '4:3': '1440:1080',
  '3:4': '1080:1440',
  '21:9': '2112:912',
}

/** The orientations that the contract has for images. */
const orientations: Readonly<Record<string, string>> = { square: '1:1', landscape: '16:9', portrait: '9:16' }

/**
 * The `ratio` of a create, a size in pixels with a colon. A `ratio` among the parameters is sent unchanged. An aspect
 * ratio without a usual size is sent unchanged too, because some models accept it. Undefined if the request has no
 * shape.
 */
export function ratioOf({ kind, params }: Pick<SubmitCall, 'kind' | 'params'>): string | undefined {
  const { ratio, aspect_ratio: aspect, orientation, resolution } = params
  if (ratio !== undefined) return String(ratio)
  const shape = aspect === undefined ? orientations[String(orientation)] : String(aspect)
  if (shape === undefined) return undefined
  const isFullHd = /^1080p$/i.test(String(resolution))
  const sizes = kind === 'image' ? imageRatios : isFullHd ? { ...videoRatios, ...fullHdRatios } : videoRatios
  return sizes[shape] ?? shape
}
