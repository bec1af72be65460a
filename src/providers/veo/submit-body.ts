import type { Params } from '../../domain/jobs/params.ts'
import type { MediaInput, SubmitCall } from '../../gateway/ports/media-provider.ts'
import type { BodyPart, InputBytes } from '../media/joined-body.ts'
import { jsonParts, type Members } from '../media/json-parts.ts'

/** Never sent from a row's parameters: the adapter sets them itself, or they would change the job. */
const OWN_PARAMETERS = new Set([
  'sampleCount',
  'numberOfVideos',
  'durationSeconds',
  'imageRole',
  'prompt',
  'model',
])

/** The body of a `predictLongRunning` request, or why this API cannot make the job: a sentence for the client. */
export function submitBody(call: SubmitCall): readonly BodyPart[] | { readonly refusal: string } {
  const refusal = refusalOf(call)
  if (refusal !== undefined) return { refusal }
  const { prompt, durationMs, params } = call
  return jsonParts({
    instances: [{ prompt, ...imagesOf(call), video: videoOf(call.videos[0]) }],
    parameters: {
      ...parametersOf(params),
      // One clip is one job. The number that the client asked for never goes to a provider.
      sampleCount: 1,
      durationSeconds: durationMs === undefined ? undefined : durationMs / 1000,
    },
  })
}

/** The API takes the bytes of images, and of a clip also its own link. It fetches nothing. */
function refusalOf({ images, videos, refUpstreamId, scenes }: SubmitCall): string | undefined {
  if (images.some(({ from }) => from !== 'bytes'))
    return 'The provider takes images as files only, and a link among them could not be fetched.'
  if (videos.length > 1) return 'The provider takes one video.'
  if (refUpstreamId !== undefined)
    return 'The provider cannot go on from the id of an earlier job. Send the clip of that job as the video.'
  return scenes === undefined ? undefined : 'The provider does not take scenes.'
}

/**
 * One image is the first frame, and two are the first and the last. More are reference images; so are all with the
 * row's parameter `image_role: reference`.
 */
function imagesOf({ images, params }: SubmitCall): Members {
  const files = images.filter(image => image.from === 'bytes').map(imageOf)
  if (params['image_role'] === 'reference' || files.length > 2)
    return { referenceImages: files.map(image => ({ image, referenceType: 'asset' })) }
  const [image, lastFrame] = files
  return { image, lastFrame }
}

function imageOf(input: InputBytes): Members {
  return { bytesBase64Encoded: input, mimeType: input.mediaType }
}

function videoOf(video: MediaInput | undefined): Members | undefined {
  switch (video?.from) {
    case undefined:
      return undefined
    case 'bytes':
      return { encodedVideo: video, encoding: video.mediaType }
    case 'url':
      return { uri: video.url }
    case 'provider_id':
      return { uri: video.id }
  }
}

/** The API writes its names in camel case: `aspect_ratio` of a row is its `aspectRatio`. */
function parametersOf(params: Params): Params {
  const named = Object.entries(params).map(([name, value]) => [camelCase(name), value] as const)
  return Object.fromEntries(named.filter(([name]) => !OWN_PARAMETERS.has(name)))
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
