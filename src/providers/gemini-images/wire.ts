import type { MediaOutput, SubmitOutcome } from '../../gateway/ports/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { readGoogleError, rejectionOf } from '../gemini-api/google-error.ts'
import { isSuccess, problemOf } from '../media/outcomes.ts'
import { base64Output } from '../media/outputs.ts'
import type { WholeAnswer } from '../media/send-whole.ts'

/** The outcome of an answer to a request. A 5xx is always unknown, and a 4xx is always a rejection. */
export function readGenerated(answer: WholeAnswer): SubmitOutcome {
  const { status, body } = answer
  if (status >= 500) return { outcome: 'unknown', problem: problemOf(answer, readGoogleError(body)?.status) }
  if (!isSuccess(answer)) return { outcome: 'rejected', ...rejectionOf(answer) }
  const generated = findJsonObject(body)
  const blocked = blockOf(generated?.['promptFeedback'])
  if (blocked !== undefined) return refused(status, blocked)
  const candidates = listOf(generated?.['candidates'])
  if (candidates.length === 0) {
    const message = 'The answer is not a list of candidates.'
    return { outcome: 'rejected', reason: 'no_id', status, message }
  }
  const parts = candidates.flatMap(partsOf)
  const outputs = parts.flatMap(part => imageOf(part) ?? [])
  if (outputs.length > 0) return { outcome: 'finished', result: { outputs, isCounted: true } }
  return refused(status, { code: reasonOf(candidates), message: textOf(parts) })
}

type Members = Readonly<Record<string, unknown>>
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

/** The model or its filter did not make an image. It may say why in the text of the answer. */
function refused(status: number, { code, message }: Refusal): SubmitOutcome {
  const isBlocked = code !== undefined && code !== STOPPED
  return {
    outcome: 'rejected',
    reason: 'invalid',
    status,
    code: isBlocked ? code : 'NO_IMAGE',
    message: message ?? (isBlocked ? BLOCKED : NOTHING_MADE),
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
