import type {
  Billed,
  MediaInput,
  MediaOutput,
  SubmitCall,
  SubmitOutcome,
} from '../../gateway/ports/providers/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { readGoogleError, rejectionOf } from '../gemini-api/google-error.ts'
import { otherParams } from '../media/inputs.ts'
import { isSuccess, statusProblem } from '../media/outcomes.ts'
import { jsonParts, type Members, type SubmitBody } from '../media/request-bodies.ts'
import { base64Output, countOf, shownText } from '../media/result-values.ts'
import type { MediaAnswer } from '../media/media-http.ts'

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

/** The outcome of an answer to a request. A 5xx is always unknown, and a 4xx is always a rejection. */
export function readGenerated(answer: MediaAnswer): SubmitOutcome {
  const { status, body } = answer
  if (status >= 500)
    return { outcome: 'unknown', problem: statusProblem(answer, readGoogleError(body)?.status) }
  if (!isSuccess(answer)) return { outcome: 'rejected', ...rejectionOf(answer) }
  const generated = findJsonObject(body)
  const usage = generated?.['usageMetadata']
  const blocked = blockOf(generated?.['promptFeedback'])
  if (blocked !== undefined) return refused(status, blocked, tokensOf(usage, 'text'))
  const candidates = listOf(generated?.['candidates'])
  if (candidates.length === 0) {
    const message = 'The answer is not a list of candidates.'
    return { outcome: 'rejected', reason: 'no_id', status, message, ...tokensOf(usage, 'text') }
  }
  const parts = candidates.flatMap(partsOf)
  const outputs = parts.flatMap(part => imageOf(part) ?? [])
  if (outputs.length > 0)
    return { outcome: 'finished', result: { outputs, isCounted: true, ...tokensOf(usage, 'images') } }
  return refused(status, { code: reasonOf(candidates), message: wordsOf(parts) }, tokensOf(usage, 'text'))
}

type JsonMembers = Readonly<Record<string, unknown>>

/**
 * The tokens of the answer, as a member of an outcome. Without details, the tokens of the prompt are text, and those of
 * the answer are of what is in it.
 */
function tokensOf(usage: unknown, content: 'text' | 'images'): Billed {
  if (!isJsonObject(usage)) return {}
  const prompt = countOf(usage['promptTokenCount'])
  const imageInput = Math.min(prompt, countOfImages(usage['promptTokensDetails']) ?? 0)
  const answer = countOf(usage['candidatesTokenCount'])
  const imageOutput = Math.min(
    answer,
    countOfImages(usage['candidatesTokensDetails']) ?? (content === 'images' ? answer : 0),
  )
  const textOutput = answer - imageOutput + countOf(usage['thoughtsTokenCount'])
  return { tokens: { textInput: prompt - imageInput, imageInput, textOutput, imageOutput } }
}

/** The tokens of images among those of all modalities; undefined if the modalities are not listed. */
function countOfImages(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined
  const images = details.filter(isJsonObject).filter(({ modality }) => modality === 'IMAGE')
  return images.reduce((sum, { tokenCount }) => sum + countOf(tokenCount), 0)
}

type Refusal = { readonly code: string | undefined; readonly message: string | undefined }

/** A prompt that was blocked has no candidates. */
function blockOf(feedback: unknown): Refusal | undefined {
  const { blockReason: code, blockReasonMessage: message } = isJsonObject(feedback) ? feedback : {}
  return typeof code === 'string' && code !== '' ? { code, message: shownText(message) } : undefined
}

const BLOCKED = "The provider's content filter blocked the prompt or the image."
const NOTHING_MADE = 'The provider made no image and did not say why.'
/** The end of an answer that was not cut off by a filter. */
const STOPPED = 'STOP'

/**
 * The model or its filter did not make an image. It may say why in the text of the answer. The tokens are billed all
 * the same.
 */
function refused(status: number, { code, message }: Refusal, tokens: Billed): SubmitOutcome {
  const isBlocked = code !== undefined && code !== STOPPED
  return {
    outcome: 'rejected',
    reason: 'invalid',
    status,
    code: isBlocked ? code : 'NO_IMAGE',
    message: message ?? (isBlocked ? BLOCKED : NOTHING_MADE),
    ...tokens,
  }
}

function reasonOf(candidates: readonly JsonMembers[]): string | undefined {
  return candidates.map(({ finishReason }) => shownText(finishReason)).find(reason => reason !== undefined)
}

/** Parts of the model's thoughts are not results, even if they are images. */
function partsOf({ content }: JsonMembers): readonly JsonMembers[] {
  return listOf(isJsonObject(content) ? content['parts'] : undefined).filter(
    ({ thought }) => thought !== true,
  )
}

function imageOf({ inlineData }: JsonMembers): MediaOutput | undefined {
  return isJsonObject(inlineData) ? base64Output(inlineData['data']) : undefined
}

function wordsOf(parts: readonly JsonMembers[]): string | undefined {
  return shownText(parts.flatMap(({ text }) => shownText(text) ?? []).join(' '))
}

function listOf(value: unknown): readonly JsonMembers[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
