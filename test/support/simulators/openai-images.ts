import { readFileSync } from 'node:fs'
import { htmlReply, jsonReply, type SimulatedReply, type SimulatedRequest } from './simulated-reply.ts'

/** What the simulator does with one request. `makes` says whether it makes the image, and so charges for it. */
export type ImageBehavior = { readonly makes: boolean; readonly answer: () => SimulatedReply }

const fixture = (name: string) =>
  readFileSync(new URL(`../../../src/providers/openai-images/fixtures/${name}.json`, import.meta.url), 'utf8')
const error = (
  status: number,
  name: string,
  headers: Readonly<Record<string, string>> = {},
): ImageBehavior => ({
  makes: false,
  answer: () => jsonReply(JSON.parse(fixture(name)), status, headers),
})
const made = (answer: () => SimulatedReply): ImageBehavior => ({ makes: true, answer })

export const imageBehaviors = {
  image: made(() => jsonReply(JSON.parse(fixture('gpt-image')))),
  link: made(() => jsonReply(JSON.parse(fixture('dall-e-3-url')))),
  no_image: { makes: false, answer: () => jsonReply({ created: 1, data: [] }) },
  // The provider makes the image, and its client does not get it.
  image_reset: made(() => ({ send: 'reset' })),
  image_silence: made(() => ({ send: 'nothing' })),
  image_html: made(() => htmlReply()),
  image_truncated: made(() => ({
    send: 'answer',
    status: 200,
    headers: {},
    body: '{"created":1,"data":[{"b64_',
  })),
  image_empty: made(() => ({ send: 'answer', status: 200, headers: {}, body: '' })),
  image_504: made(() => htmlReply(504)),
  server_error: error(500, 'server-error'),
  bad_gateway: { makes: false, answer: () => htmlReply(502) },
  error_in_success: error(200, 'server-error'),
  moderation_blocked: error(400, 'moderation-blocked'),
  invalid_value: error(400, 'invalid-value'),
  status_408: error(408, 'invalid-value'),
  status_409: error(409, 'invalid-value'),
  rate_limit: error(429, 'rate-limit', { 'retry-after': '7' }),
  insufficient_quota: error(429, 'insufficient-quota'),
  billing_hard_limit: error(400, 'billing-hard-limit'),
  invalid_key: error(401, 'invalid-key'),
  redirect: {
    makes: false,
    answer: () => ({ send: 'answer', status: 302, headers: { location: 'http://example.com/' }, body: '' }),
  },
} as const satisfies Readonly<Record<string, ImageBehavior>>
export type ImageBehaviorName = keyof typeof imageBehaviors

/** What the provider believes of one request. */
export type ImageLedgerRow = { readonly path: string; readonly body: string; readonly isCharged: boolean }

/** A server of OpenAI's images dialect, in memory. */
export class OpenAiImagesSimulator {
  readonly #key: string | undefined
  readonly #script: ImageBehavior[] = []
  readonly #ledger: ImageLedgerRow[] = []

  constructor(key?: string) {
    this.#key = key
  }

  /** What the next requests are treated like, one each; those that come after get an image. */
  script(...behaviors: readonly ImageBehaviorName[]): void {
    this.#script.push(...behaviors.map(name => imageBehaviors[name]))
  }

  ledger(): readonly ImageLedgerRow[] {
    return this.#ledger
  }

  handle({ method, path, headers, body }: SimulatedRequest): SimulatedReply {
    if (this.#key !== undefined && headers['authorization'] !== `Bearer ${this.#key}`)
      return imageBehaviors.invalid_key.answer()
    if (method !== 'POST' || !/\/images\/(?:generations|edits)$/.test(path)) return htmlReply(404)
    const { makes, answer } = this.#script.shift() ?? imageBehaviors.image
    this.#ledger.push({ path, body, isCharged: makes })
    return answer()
  }
}
