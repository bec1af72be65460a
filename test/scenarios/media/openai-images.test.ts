import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import {
  aPng,
  imageModel,
  images,
  inputFiles,
  startScriptedImages,
  STEP_MS,
  type MediaError,
} from '../gateways/image-gateway.ts'
import { until } from '../../support/until.ts'
import { hasCome } from '../gateways/video-gateway.ts'

const HEARTBEAT_MS = 15_000

let gateway: Awaited<ReturnType<typeof startScriptedImages>>
let ada: TestAccount

const models = [
  imageModel('draw-known', { params: { aspect_ratio: ['1:1', '3:2', '2:3'], resolution: ['1K'] } }),
]

async function start(setting: 'on' | 'off'): Promise<void> {
  gateway = await startScriptedImages({ models, environment: { TOLLGATE_OPENAI_MEDIA: setting } })
  ada = await gateway.account({ grant: '1' })
}
afterEach(() => gateway.stop())

describe('with TOLLGATE_OPENAI_MEDIA=off', () => {
  beforeEach(() => start('off'))

  test('a size is dropped if the image model has none, as in the contract', async () => {
    gateway.media.submitted = images(['one'])

    await gateway.created(ada.key, { model: 'draw-known', size: '1536x1024' })

    expect(gateway.media.submits[0]?.params).toEqual({ aspect_ratio: '1:1', resolution: '1K' })
  })

  test('an image edit as a form is refused, as in the contract', async () => {
    const response = await edit({ image: png('one') })

    expect(await errorIn(response)).toMatchObject({ message: 'Invalid JSON', code: 'json_required' })
    expect(gateway.media.submits).toEqual([])
  })

  test('`stream` of an image request is ignored, as in the contract', async () => {
    gateway.media.submitted = images(['one'])

    const response = await gateway.create(ada.key, { stream: true })

    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({ cost_usd: '0.04' })
  })

  test('an image request is answered with 202 after 150 seconds', async () => {
    const reply = gateway.create(ada.key)
    await untilAccepted()

    await waitFor(reply, 150_000)
    expect((await reply).status).toBe(202)
  })
})

describe('with TOLLGATE_OPENAI_MEDIA=on', () => {
  beforeEach(() => start('on'))

  test('the size of an image request reaches the provider as an aspect ratio and a resolution', async () => {
    gateway.media.submitted = images(['one'])

    await gateway.created(ada.key, { model: 'draw-known', size: '1536x1024' })

    expect(gateway.media.submits[0]?.params).toEqual({ aspect_ratio: '3:2', resolution: '1K' })
  })

  test('a size that the image model does not make is refused without a charge', async () => {
    const response = await gateway.create(ada.key, { model: 'draw-known', size: '2048x2048' })

    const error = await errorIn(response)
    expect(response.status).toBe(400)
    expect(error).toMatchObject({ code: 'invalid_field', param: 'size' })
    expect(error.message).toContain('1024x1024, 1536x1024, 1024x1536')
    expect(gateway.media.submits).toEqual([])
    expect(await gateway.money(ada)).toEqual({ available: '1', held: '0' })
  })

  test.each([
    ['OpenAI/Python 2.1', 'CPython', 590],
    ['OpenAI/JS 7.55', 'node', 290],
    ['ai-sdk/openai/3.0 runtime/node.js/v22', '', 290],
  ])(
    'an image request of %s %s waits for %d seconds, less than its client',
    async (agent, runtime, seconds) => {
      const headers = { 'user-agent': agent, 'x-stainless-runtime': runtime }
      const reply = gateway.create(ada.key, {}, { headers })
      await untilAccepted()

      expect(await waitFor(reply, seconds * 1000 - STEP_MS)).toBe(false)
      await waitFor(reply, STEP_MS)
      expect((await reply).status).toBe(504)
    },
  )

  test('an image request that takes too long is answered with 504 and the id of its job', async () => {
    const reply = gateway.create(ada.key)
    await untilAccepted()

    expect(await waitFor(reply, 288_000)).toBe(false)
    await waitFor(reply, STEP_MS)
    const response = await reply
    const { error, ...rest } = (await response.json()) as MediaError
    expect(response.status).toBe(504)
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(error).toMatchObject({ code: 'job_still_running', id: rest.id })
    expect(error.message).toContain(`GET /v1/images/jobs/${rest.id}`)
    expect(rest).toMatchObject({ status: 'processing', estimated_cost_usd: '0.04' })
    expect(await gateway.money(ada)).toEqual({ available: '0.96', held: '0.04' })
  })

  test('a job whose request was answered with 504 is charged once, and can be read', async () => {
    const reply = gateway.create(ada.key)
    await untilAccepted()
    await waitFor(reply, 290_000)
    const { id = '' } = (await (await reply).json()) as MediaError
    // Shares the poll that the wait may have left under way.
    await gateway.lookup(ada.key, id)
    gateway.media.polled = images(['one'])

    const job = await gateway.poll(ada.key, id)

    expect(job).toMatchObject({ status: 'completed', cost_usd: '0.04' })
    expect(await gateway.money(ada)).toEqual({ available: '0.96', held: '0' })
    await gateway.verify()
  })

  test('an image edit as a form reaches the provider with all its images and its count', async () => {
    gateway.media.submitted = images(['one', 'two'])

    const response = await edit({ 'image[]': [png('first'), png('second')], n: '2', size: '1536x1024' })

    const [submit] = gateway.media.submits
    expect(await response.json()).toMatchObject({ cost_usd: '0.08' })
    expect(submit?.images.map(input => input.from === 'bytes' && input.content.toString())).toEqual([
      Buffer.from(aPng('first')).toString(),
      Buffer.from(aPng('second')).toString(),
    ])
    expect(submit).toMatchObject({ count: 2, params: { aspect_ratio: '3:2' } })
  })

  test('the form of an image edit with a count that is not a number is refused', async () => {
    const response = await edit({ image: png('one'), n: 'two' })

    expect(await errorIn(response)).toMatchObject({ code: 'invalid_field', param: 'n' })
  })

  test.each(['mask', 'markup'])('a %s is refused, because the whole image would change', async param => {
    const response = await edit({ image: png('one'), [param]: png('two') })

    expect(await errorIn(response)).toMatchObject({ code: 'invalid_field', param })
    expect(inputFiles(gateway)).toEqual([])
    expect(await gateway.money(ada)).toEqual({ available: '1', held: '0' })
  })

  test('a form is repeatable with its idempotency key, and is charged once', async () => {
    gateway.media.submitted = images(['one'])
    const headers = { 'idempotency-key': 'edit-1' }

    await edit({ image: png('one') }, headers)
    const repeated = await edit({ image: png('one') }, headers)

    expect(await repeated.json()).toMatchObject({ cost_usd: '0.04' })
    expect(gateway.media.submits).toHaveLength(1)
    expect(await gateway.money(ada)).toEqual({ available: '0.96', held: '0' })
  })

  test('a stream has an event for each image, and the charge in the last one', async () => {
    gateway.media.submitted = images(['one', 'two'])

    const response = await gateway.create(ada.key, { n: 2, stream: true })

    const events = eventsIn(await response.text())
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(events.map(({ type }) => type)).toEqual([
      'image_generation.completed',
      'image_generation.completed',
    ])
    expect(events.map(event => event.b64_json)).toEqual(['one', 'two'].map(base64))
    expect(events.map(({ usage }) => usage?.cost_usd)).toEqual([undefined, '0.08'])
    expect(await gateway.money(ada)).toEqual({ available: '0.92', held: '0' })
  })

  test('the events of a streamed edit have the type of an edit', async () => {
    gateway.media.submitted = images(['one'])

    const response = await edit({ image: png('one'), stream: 'true' })

    expect(eventsIn(await response.text())).toMatchObject([{ type: 'image_edit.completed' }])
  })

  test('a stream has a heartbeat every 15 seconds until its images are ready', async () => {
    const response = gateway.create(ada.key, { stream: true })
    const reader = (await afterHeartbeat(response)).body!.getReader()
    const first = await reader.read()
    gateway.media.polled = images(['one'])
    const rest = readRest(reader)
    await advanceUntil(rest)

    expect(new TextDecoder().decode(first.value)).toBe(': heartbeat\n\n')
    expect(eventsIn(await rest)).toMatchObject([{ type: 'image_generation.completed' }])
  })

  test('a stream of a job that fails ends with an error and costs nothing', async () => {
    gateway.media.submitted = { outcome: 'rejected', reason: 'invalid', code: 'UNSAFE', message: 'No.' }

    const response = await gateway.create(ada.key, { stream: true })

    expect(response.status).toBe(200)
    expect(eventsIn(await response.text())).toMatchObject([{ error: { code: 'UNSAFE' }, cost_usd: '0' }])
    expect(await gateway.money(ada)).toEqual({ available: '1', held: '0' })
  })

  test('a stream that is refused before its job is created has the status of the refusal', async () => {
    const response = await gateway.create(ada.key, { stream: true, n: 99 })

    expect(response.status).toBe(400)
    expect(await errorIn(response)).toMatchObject({ param: 'n' })
  })

  test('a stream whose client disconnects leaves its job running, and the job is charged once', async () => {
    const stopping = new AbortController()
    const response = await afterHeartbeat(
      gateway.create(ada.key, { stream: true }, { signal: stopping.signal }),
    )
    stopping.abort()
    await response.text().catch(() => undefined)
    const { id } = await onlyJob()
    // Shares the poll that the wait may have left under way.
    await gateway.lookup(ada.key, id)
    gateway.media.polled = images(['one'])

    const job = await gateway.poll(ada.key, id)

    expect(job).toMatchObject({ status: 'completed', cost_usd: '0.04' })
    expect(await gateway.money(ada)).toEqual({ available: '0.96', held: '0' })
    await gateway.verify()
  })
})

type Fields = Readonly<Record<string, string | Blob | readonly Blob[]>>

function png(content: string): Blob {
  return new Blob([aPng(content)], { type: 'image/png' })
}

function base64(content: string): string {
  return Buffer.from(aPng(content)).toString('base64')
}

function edit(fields: Fields, headers: Record<string, string> = {}): Promise<Response> {
  const form = new FormData()
  form.append('model', 'draw-known')
  form.append('prompt', 'Make it blue')
  for (const [name, value] of Object.entries(fields))
    for (const each of [value].flat()) {
      if (typeof each === 'string') form.append(name, each)
      else form.append(name, each, 'image.png')
    }
  return fetch(`${gateway.url}/v1/images/edits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.key}`, ...headers },
    body: form,
  })
}

async function errorIn(response: Response): Promise<MediaError['error']> {
  return ((await response.json()) as MediaError).error
}

type Event = {
  readonly type?: string
  readonly b64_json?: string
  readonly usage?: { readonly cost_usd?: string }
  readonly error?: object
}

/** The JSON of each event. */
function eventsIn(text: string): readonly Event[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Event)
}

/** Advances the clock to an instant of the wait, a step at a time, each once the request waits again. */
async function waitFor(reply: Promise<Response>, totalMs: number): Promise<boolean> {
  let isAnswered = false
  void reply.then(() => (isAnswered = true))
  for (let waitedMs = 0; waitedMs < totalMs; waitedMs += STEP_MS) {
    await until('the request waits', () => isAnswered || gateway.clock.waitingFor(STEP_MS) > 0)
    if (isAnswered) return true
    gateway.clock.advance(STEP_MS)
  }
  return hasCome(reply)
}

/** The reply of a stream, once it has its first heartbeat. */
async function afterHeartbeat(reply: Promise<Response>): Promise<Response> {
  // The request has not arrived yet, and other work has a timer of the same length.
  const others = gateway.clock.waitingFor(HEARTBEAT_MS)
  await untilAccepted()
  await until('the stream waits', () => gateway.clock.waitingFor(HEARTBEAT_MS) > others)
  gateway.clock.advance(HEARTBEAT_MS)
  return reply
}

async function advanceUntil(work: Promise<unknown>): Promise<void> {
  while (!(await hasCome(work))) gateway.clock.advance(STEP_MS)
}

async function readRest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  let text = ''
  for (let piece = await reader.read(); !piece.done; piece = await reader.read())
    text += new TextDecoder().decode(piece.value)
  return text
}

type AdminJob = { readonly id: string; readonly state: string }

async function onlyJob(): Promise<AdminJob> {
  const { data } = await gateway.admin<{ data: readonly AdminJob[] }>('GET', 'jobs')
  const [job] = data
  if (job === undefined) throw new Error('There is no job.')
  return job
}

/** Resolves when the provider has accepted the only job. Until then the clock must not move. */
async function untilAccepted(): Promise<void> {
  await until('the job is accepted', async () => {
    const { data } = await gateway.admin<{ data: readonly AdminJob[] }>('GET', 'jobs')
    return data[0]?.state === 'processing'
  })
}
