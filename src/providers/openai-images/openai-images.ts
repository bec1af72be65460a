import { readSize } from '../../domain/jobs/params.ts'
import type {
  MediaOutput,
  MediaProvider,
  MediaResult,
  SubmitCall,
  SubmitOutcome,
} from '../../gateway/ports/providers/media-provider.ts'
import { addressOf, type Address, type SecretOf } from '../http/address.ts'
import { boundaryOf, joinedBody } from '../media/request-bodies.ts'
import type { MediaKindEntry } from '../media/media-kind.ts'
import { notCallable, unanswered } from '../media/outcomes.ts'
import type { SendMedia, MediaReply } from '../media/media-http.ts'
import { probeOpenAiCompatible } from '../openai-compatible/openai-compatible.ts'
import { editForm, generationJson, imageSize, readRejection, readResult } from './wire.ts'

export const openAiImagesKind: MediaKindEntry = {
  rules: {},
  makes: ['image'],
  provider: openAiImages,
  probe: probeOpenAiCompatible,
}

type OpenAiImagesPorts = { readonly send: SendMedia; readonly secretOf: SecretOf }

/** No job of this kind is polled. A row that had another kind before may still have such jobs. */
const POLL_EVERY_MS = 60_000

/**
 * Any server that speaks OpenAI's images dialect. It returns images in the answer to the submission, so there is no job
 * to poll. If the answer is lost, the job cannot be found. With an input image the request is an edit, else a
 * generation.
 */
export function openAiImages({ send, secretOf }: OpenAiImagesPorts): MediaProvider {
  return {
    pollEveryMsMin: POLL_EVERY_MS,

    sizeOf: ({ model, params }) => readSize(imageSize(model, params) ?? ''),

    async submit(call) {
      if (call.kind !== 'image') return notCallable('this kind of provider makes images only')
      const path = call.images.length === 0 ? '/images/generations' : '/images/edits'
      const address = addressOf(call.provider, path, secretOf)
      if ('problem' in address) return notCallable(address.problem)
      return outcomeOf(await sendTo(address, call, send), address)
    },

    async poll() {
      return {
        outcome: 'unavailable',
        problem: 'This provider returns images in the answer to the submission, and has no jobs.',
      }
    },
  }
}

function sendTo({ url, headers }: Address, call: SubmitCall, send: SendMedia): Promise<MediaReply> {
  const { provider, timeoutMs, images } = call
  const request = { provider, method: 'POST', url, timeoutMs } as const
  if (images.length === 0) return send({ ...request, headers, body: generationJson(call) })
  const boundary = boundaryOf(call)
  const formHeaders = new Headers(headers)
  formHeaders.set('content-type', `multipart/form-data; boundary=${boundary}`)
  return send({ ...request, headers: formHeaders, body: joinedBody(editForm(call, boundary)) })
}

function outcomeOf(reply: MediaReply, address: Address): SubmitOutcome {
  if (reply.reply === 'none') return unanswered(reply)
  const { status } = reply
  if (status >= 500) return { outcome: 'unknown', problem: `status ${status}` }
  if (status < 200 || status > 299) return { outcome: 'rejected', ...readRejection(reply) }
  const result = readResult(reply.body)
  if (result !== undefined) return { outcome: 'finished', result: withKey(result, address) }
  const message = 'The answer is not a list of images.'
  return { outcome: 'rejected', reason: 'no_id', status, message }
}

/** A link to the provider's own server may need its key. Links to anywhere else never get it. */
function withKey(result: MediaResult, { url, headers }: Address): MediaResult {
  const authorization = headers.get('authorization')
  if (authorization === null) return result
  const own = { hosts: [url.host], headers: { authorization } }
  const outputs = result.outputs.map((output): MediaOutput =>
    output.from === 'url' && URL.parse(output.url)?.origin === url.origin
      ? Object.assign({}, output, { authorization: own })
      : output,
  )
  return { ...result, outputs }
}
