import type { MediaInput, SubmitCall } from '../../gateway/ports/media-provider.ts'
import { hasReferences, otherParams, refusalOf, secondsOf } from '../media/inputs.ts'
import { jsonParts, type InputBytes, type Members, type SubmitBody } from '../media/request-bodies.ts'

/** Never sent from a row's parameters: the adapter sets them itself, or they would change the job. */
const OWN_PARAMETERS = new Set(['sampleCount', 'numberOfVideos', 'durationSeconds', 'prompt', 'model'])

/** The body of a `predictLongRunning` request, or why this API cannot make the job: a sentence for the client. */
export function submitBody(call: SubmitCall): SubmitBody {
  const refusal = refusalOf(call) ?? ownRefusal(call)
  if (refusal !== undefined) return { refusal }
  const { prompt } = call
  return jsonParts({
    instances: [{ prompt, ...imagesOf(call), video: videoOf(call.videos[0]) }],
    parameters: {
      ...parametersOf(call),
      // One clip is one job. The number that the client asked for never goes to a provider.
      sampleCount: 1,
      durationSeconds: secondsOf(call),
    },
  })
}

/** The API takes the bytes of images, and of a clip also its own link. It fetches nothing. */
function ownRefusal({ images, videos }: SubmitCall): string | undefined {
  if (images.some(({ from }) => from !== 'bytes'))
    return 'The provider accepts images only as files, and a linked image could not be fetched.'
  return videos.length > 1 ? 'The provider accepts only one video.' : undefined
}

function imagesOf(call: SubmitCall): Members {
  const files = call.images.filter(image => image.from === 'bytes').map(imageOf)
  if (hasReferences(call)) return { referenceImages: files.map(image => ({ image, referenceType: 'asset' })) }
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
function parametersOf(call: SubmitCall): Members {
  const named = Object.entries(otherParams(call)).map(([name, value]) => [camelCase(name), value] as const)
  return Object.fromEntries(named.filter(([name]) => !OWN_PARAMETERS.has(name)))
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
