import type { Size } from '../../domain/jobs/params.ts'
import type { MediaProvider, MediaShape } from '../../gateway/ports/providers/media-provider.ts'
import { probeGemini, geminiAddress } from '../gemini-api/gemini-api.ts'
import type { SecretOf } from '../http/address.ts'
import { submitTo, type SendMedia } from '../media/media-http.ts'
import type { MediaKindEntry } from '../media/media-kind.ts'
import { notCallable, unavailable } from '../media/outcomes.ts'
import { readGenerated, requestBody } from './wire.ts'

export const geminiImagesKind: MediaKindEntry = {
  rules: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyHeader: 'x-goog-api-key',
  },
  makes: ['image'],
  provider: geminiImages,
  probe: probeGemini,
}

type GeminiImagesPorts = { readonly send: SendMedia; readonly secretOf: SecretOf }

/** No job of this kind is polled. A row that had another kind before may still have such jobs. */
const POLL_EVERY_MS = 60_000

/**
 * The image models of the Gemini API. They return images in the answer to the submission, so there is no job to poll.
 * If the answer is lost, the job cannot be found.
 */
export function geminiImages({ send, secretOf }: GeminiImagesPorts): MediaProvider {
  return {
    pollEveryMsMin: POLL_EVERY_MS,

    sizeOf: sizeOfSquare,

    async submit(call) {
      if (call.kind !== 'image') return notCallable('this kind of provider makes images only')
      const model = encodeURIComponent(call.model.replace(/^models\//, ''))
      const address = geminiAddress(call.provider, `/models/${model}:generateContent`, secretOf)
      return submitTo(address, requestBody(call), call, { send, read: readGenerated })
    },

    async poll() {
      return unavailable('This provider returns images in the answer to the submission, and has no jobs.')
    },
  }
}

const squareSides: Readonly<Record<string, number>> = { '1K': 1024, '2K': 2048, '4K': 4096 }

/** Only squares are the same for all models. The sides of other ratios differ from version to version. */
function sizeOfSquare({ model, params }: MediaShape): Size | undefined {
  const { aspect_ratio: ratio, orientation, resolution = '1K' } = params
  if (ratio === undefined ? orientation !== 'square' : ratio !== '1:1') return undefined
  // These models have one resolution.
  const side = /gemini-2\.5/.test(model) ? 1024 : squareSides[String(resolution)]
  return side === undefined ? undefined : { width: side, height: side }
}
