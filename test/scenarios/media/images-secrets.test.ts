import { afterEach, beforeEach, expect, test } from 'bun:test'
import { errorOf, imageModel, startImageGateway, type ImageGateway } from '../gateways/image-gateway.ts'

const VARIABLE = 'IMAGES_SECRETS_TEAM'

let upstream: ReturnType<typeof Bun.serve>
let gateway: ImageGateway
/** The text of the provider's error, if a test sets one. */
let refusal: string | undefined

beforeEach(async () => {
  refusal = undefined
  process.env[VARIABLE] = 'a-value-that-only-its-name-gives-away'
  upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ headers }) => {
      const message = refusal ?? `Key ${headers.get('authorization')}, team ${headers.get('x-team-token')}.`
      return Response.json({ error: { message, code: 'bad_team' } }, { status: 400 })
    },
  })
  gateway = await startImageGateway({
    providers: [
      {
        id: 'pics',
        kind: 'openai-images',
        base_url: `${upstream.url.origin}/v1`,
        api_key: 'literal-key',
        headers: { 'x-team-token': `env:${VARIABLE}` },
      },
    ],
    models: [imageModel('draw-pics', { upstreams: [{ provider: 'pics', model: 'gpt-image-1' }] })],
  })
})
afterEach(async () => {
  delete process.env[VARIABLE]
  await gateway.stop()
  await upstream.stop(true)
})

test('an image error is shown without names of vendors, and with the model name of the catalog', async () => {
  const ada = await gateway.account({ grant: '1' })
  refusal =
    'OpenAI refused the prompt: "gpt-image-1" of Azure makes no logos. Use draw-pics or gpt-image-1 again.'

  const response = await gateway.create(ada.key, { model: 'draw-pics' })

  expect((await errorOf(response)).error).toMatchObject({
    message:
      '[provider] refused the prompt: "draw-pics" of [provider] makes no logos. Use draw-pics or draw-pics again.',
    code: 'bad_team',
  })
})

test('the operator sees the text of the provider that the customer gets without names', async () => {
  const ada = await gateway.account({ grant: '1' })
  refusal = 'OpenAI refused "gpt-image-1" with literal-key.'

  const response = await gateway.create(ada.key, { model: 'draw-pics' })

  const { id, error } = await errorOf(response)
  expect(error.message).toBe('[provider] refused "draw-pics" with [redacted].')
  const job = await gateway.admin<{ problem: string; why: string }>('GET', `jobs/${id}`)
  expect(job.problem).toBe('OpenAI refused "gpt-image-1" with [redacted].')
  expect(job.why).toEndWith('The last problem: OpenAI refused "gpt-image-1" with [redacted].')
})

test('the operator sees which variable is not set, and the customer does not', async () => {
  const ada = await gateway.account({ grant: '1' })
  delete process.env[VARIABLE]

  const response = await gateway.create(ada.key, { model: 'draw-pics' })

  const { id, error } = await errorOf(response)
  expect(error.message).not.toContain(VARIABLE)
  const job = await gateway.admin<{ problem: string; why: string }>('GET', `jobs/${id}`)
  expect(job.problem).toContain(VARIABLE)
  expect(job.why).toContain(VARIABLE)
})

test("an image error is shown without the provider's key and headers from variables", async () => {
  const ada = await gateway.account({ grant: '1' })

  const response = await gateway.create(ada.key, { model: 'draw-pics' })

  expect((await errorOf(response)).error).toMatchObject({
    message: 'Key Bearer [redacted], team [redacted].',
    code: 'bad_team',
  })
})
