import type { MediaInput, SubmitCall } from '../../gateway/ports/media-provider.ts'
import { otherParams } from '../media/inputs.ts'
import { jsonParts, type Members, type SubmitBody } from '../media/request-bodies.ts'

/** Some become members of `imageConfig`. The others would change the number or form of results. */
const OWN_FIELDS = new Set([
  'aspect_ratio',
  'orientation',
  'resolution',
  'person_generation',
  'candidateCount',
  'responseModalities',
  'imageConfig',
])

const orientations: Readonly<Record<string, string>> = { square: '1:1', landscape: '3:2', portrait: '2:3' }

/** The body of `generateContent`. Input images come before the prompt. */
export function requestBody(call: SubmitCall): SubmitBody {
  const { aspect_ratio: aspect, orientation, resolution, person_generation: given } = call.params
  const people = isDeveloperApi(call.provider) ? undefined : given
  const shape = aspect === undefined ? orientations[String(orientation)] : String(aspect)
  const imageConfig = {
    aspectRatio: shape,
    imageSize: resolution === undefined ? undefined : String(resolution),
    personGeneration: people === undefined ? undefined : String(people),
  }
  const isConfigured = Object.values(imageConfig).some(value => value !== undefined)
  return jsonParts({
    contents: [{ role: 'user', parts: [...call.images.map(partOf), { text: call.prompt }] }],
    generationConfig: {
      ...otherParams(call, OWN_FIELDS),
      // Some models refuse to answer with images alone.
      responseModalities: ['TEXT', 'IMAGE'],
      imageConfig: isConfigured ? imageConfig : undefined,
    },
  })
}

/** This host refuses `personGeneration` for images. Other hosts of the same API take it. */
const DEVELOPER_API = 'generativelanguage.googleapis.com'

function isDeveloperApi({ baseUrl = '' }: SubmitCall['provider']): boolean {
  return URL.parse(baseUrl)?.hostname === DEVELOPER_API
}

/** A link is sent as the URI of a file. The API fetches some of them, and refuses the others with its own code. */
function partOf(input: MediaInput): Members {
  switch (input.from) {
    case 'bytes':
      return { inlineData: { mimeType: input.mediaType, data: input } }
    case 'url':
      return { fileData: { mimeType: mediaTypeOf(input.url), fileUri: input.url } }
    case 'provider_id':
      return { fileData: { fileUri: input.id } }
  }
}

/** By the end of the path; PNG for an unknown one. */
function mediaTypeOf(url: string): string {
  const [, end = 'png'] = /\.(jpe?g|webp|gif|png)$/i.exec(URL.parse(url)?.pathname ?? '') ?? []
  return `image/${end.toLowerCase().replace('jpg', 'jpeg')}`
}
