import type { Billed, MediaOutput, SubmitOutcome } from '../../gateway/ports/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { readGoogleError, rejectionOf } from '../gemini-api/google-error.ts'
import { isSuccess, problemOf } from '../media/outcomes.ts'
import { countOf, base64Output } from '../media/result-values.ts'
import type { WholeAnswer } from '../media/send-whole.ts'

/** The outcome of an answer to a request. A 5xx is always unknown, and a 4xx is always a rejection. */
export function readGenerated(answer: WholeAnswer): SubmitOutcome {
  const { status, body } = answer
  if (status >= 500) return { outcome: 'unknown', problem: problemOf(answer, readGoogleError(body)?.status) }
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
  return refused(status, { code: reasonOf(candidates), message: textOf(parts) }, tokensOf(usage, 'text'))
}

type Members = Readonly<Record<string, unknown>>

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
  return typeof code === 'string' && code !== '' ? { code, message: stringOf(message) } : undefined
}

const BLOCKED = "The provider's content filter blocked the prompt or the image."
const NOTHING_MADE = 'The provider made no image and did not say why.'
/** The end of an answer that was not cut off by a filter. */
const STOPPED = 'STOP'

/**
 * The model or its filter did not make an image. It may say why in the text of the answer. The tokens are billed all the
 * same.
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

function reasonOf(candidates: readonly Members[]): string | undefined {
  return candidates.map(({ finishReason }) => stringOf(finishReason)).find(reason => reason !== undefined)
}

/** Parts of the model's thoughts are not results, even if they are images. */
function partsOf({ content }: Members): readonly Members[] {
  return listOf(isJsonObject(content) ? content['parts'] : undefined).filter(
    ({ thought }) => thought !== true,
  )
}

function imageOf({ inlineData }: Members): MediaOutput | undefined {
  return isJsonObject(inlineData) ? base64Output(inlineData['data']) : undefined
}

function textOf(parts: readonly Members[]): string | undefined {
  return stringOf(parts.flatMap(({ text }) => stringOf(text) ?? []).join(' '))
}

function listOf(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
