import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { SubmitOutcome } from '../../../src/gateway/ports/providers/media-provider.ts'
import type { TestAccount } from '../../support/gateway.ts'
import {
  errorOf,
  images,
  startImageGateway,
  startScriptedImages,
  type ImageGateway,
} from '../gateways/image-gateway.ts'
import { until } from '../../support/until.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** How long a request waits for its images, and a little more. */
const WAIT_MS = 160_000
/** The time to live of an unknown submit. */
const UNKNOWN_TTL_MS = 15 * MINUTE_MS

describe('an unknown submit on the sandbox', () => {
  let gateway: ImageGateway
  let ada: TestAccount

  beforeEach(async () => {
    gateway = await startImageGateway()
    ada = await gateway.account({ grant: '1' })
  })
  afterEach(() => gateway.stop())

  /** Sends a request with a fault whose reply is that the submit is unknown. Returns the id of the job. */
  async function lost(fault: string): Promise<string> {
    const response = await gateway.create(ada.key, { prompt: `A boat [sandbox ${fault}]` })
    const body = await errorOf(response)
    if (body.status !== 'unknown_submit') throw new Error(`${response.status} ${JSON.stringify(body)}`)
    return body.id!
  }

  test('an unknown submission on the sandbox is found at its provider by the reconciler, completed and charged (rule 6)', async () => {
    const id = await lost('submit=unknown')

    const pass = await gateway.reconcile()

    expect(pass).toMatchObject({ recovered: 1 })
    expect(await gateway.poll(ada.key, id)).toMatchObject({ status: 'completed', cost_usd: '0.04' })
    expect(await gateway.money(ada)).toEqual({ available: '0.96', held: '0' })
    await gateway.verify()
  })

  test('an unknown submission on the sandbox is found at its provider and failed, with its code', async () => {
    const id = await lost('submit=unknown fail=NSFW')

    await gateway.reconcile()

    expect(await gateway.poll(ada.key, id)).toMatchObject({
      status: 'failed',
      cost_usd: '0',
      error: { type: 'generation_error', code: 'NSFW', param: null },
    })
    expect(await gateway.money(ada)).toEqual({ available: '1', held: '0' })
  })

  test('an unknown submission on the sandbox is found running, and settled when it ends', async () => {
    const id = await lost('submit=unknown delay_ms=60000')
    await gateway.reconcile()
    const found = await gateway.poll(ada.key, id)

    gateway.clock.advance(MINUTE_MS)
    const done = await gateway.poll(ada.key, id)

    expect([found.status, done.status]).toEqual(['processing', 'completed'])
    expect(await gateway.money(ada)).toEqual({ available: '0.96', held: '0' })
  })

  test('an unknown submission on the sandbox is released after 15 minutes, and not before', async () => {
    const id = await lost('submit=lost')
    gateway.clock.advance(UNKNOWN_TTL_MS - 1)
    await gateway.reconcile()
    const before = await gateway.lookup(ada.key, id)
    const held = await gateway.money(ada)

    gateway.clock.advance(1)
    await gateway.reconcile()

    expect(await before.json()).toEqual({ id, status: 'unknown_submit', estimated_cost_usd: '0.04' })
    expect(held).toEqual({ available: '0.96', held: '0.04' })
    expect(await gateway.poll(ada.key, id)).toEqual({
      id,
      status: 'failed',
      cost_usd: '0',
      error: {
        message: 'The provider never confirmed the job. Its reserve was released.',
        type: 'upstream_error',
        code: 'submit_unconfirmed',
        param: null,
      },
    })
    expect(await gateway.money(ada)).toEqual({ available: '1', held: '0' })
    await gateway.verify()
  })

  test("an unknown submission on the sandbox is released at the reconciler's next pass if nothing was sent", async () => {
    const id = await lost('submit=not_sent')
    const held = await gateway.money(ada)

    await gateway.reconcile()

    expect(held).toEqual({ available: '0.96', held: '0.04' })
    expect(await gateway.poll(ada.key, id)).toMatchObject({
      status: 'failed',
      error: { code: 'submit_unconfirmed' },
    })
    expect(await gateway.money(ada)).toEqual({ available: '1', held: '0' })
  })

  test('an unknown submission on the sandbox is never submitted again', async () => {
    const id = await lost('submit=lost')

    for (let passes = 0; passes < 3; passes += 1) {
      await gateway.reconcile()
      await gateway.poll(ada.key, id)
    }

    expect((await gateway.poll(ada.key, id)).status).toBe('unknown_submit')
  })
})

describe('a job that its provider does not finish within a day', () => {
  let gateway: Awaited<ReturnType<typeof startScriptedImages>>
  let ada: TestAccount

  beforeEach(async () => {
    gateway = await startScriptedImages()
    ada = await gateway.account({ grant: '1' })
  })
  afterEach(() => gateway.stop())

  test('a job that its provider does not finish within a day fails, and its money is released', async () => {
    const startedAtMs = gateway.clock.now()
    const { id } = await gateway.running(ada.key)
    await gateway.poll(ada.key, id)
    gateway.clock.jump(startedAtMs + DAY_MS - 1 - gateway.clock.now())
    await gateway.reconcile()
    const before = await gateway.lookup(ada.key, id)

    gateway.clock.advance(WAIT_MS)
    await gateway.reconcile()

    expect(await before.json()).toMatchObject({ status: 'processing' })
    expect(await gateway.poll(ada.key, id)).toMatchObject({
      status: 'failed',
      cost_usd: '0',
      error: { type: 'generation_error', code: 'job_overdue', param: null },
    })
    expect(await gateway.money(ada)).toEqual({ available: '1', held: '0' })
    await gateway.verify()
  })

  test('a job that its provider does not finish within a day is settled if the provider has finished it by then: its answer comes before the deadline', async () => {
    const startedAtMs = gateway.clock.now()
    const { id } = await gateway.running(ada.key)
    await gateway.poll(ada.key, id)
    gateway.media.polled = images(['one'])
    gateway.clock.jump(startedAtMs + DAY_MS - gateway.clock.now())

    await gateway.reconcile()

    expect(await gateway.poll(ada.key, id)).toMatchObject({ status: 'completed', cost_usd: '0.04' })
  })

  test('a job that its provider does not finish within a day stays failed when the provider finishes it later, and its price is a loss, once', async () => {
    const { id } = await gateway.running(ada.key, { n: 2 })
    gateway.clock.jump(DAY_MS)
    await gateway.reconcile()
    const failed = await gateway.poll(ada.key, id)
    gateway.media.polled = images(['one', 'two'])

    const passes = [await gateway.reconcile(), await gateway.reconcile()]

    expect(passes).toMatchObject([{ late_completions: 1 }, { late_completions: 0 }])
    expect(await gateway.poll(ada.key, id)).toEqual(failed)
    expect(await gateway.money(ada)).toEqual({ available: '1', held: '0' })
    const { data } = await gateway.admin<{ data: readonly object[] }>('GET', `accounts/${ada.id}/statement`)
    expect(data[0]).toMatchObject({ kind: 'loss', amount_usd: '0', ref: id })
    const shown = async (path: string) =>
      (await fetch(gateway.url + path, { headers: { 'x-api-key': ada.key } })).json()
    expect(await shown('/v1/balance')).toMatchObject({ spent: { text_usd: '0', media_usd: '0' } })
    expect(await shown('/v1/credits')).toEqual({ balance: '1', total_used: '0' })
    await gateway.verify()
  })

  test('a job that its provider does not finish within a day is watched for a day, and not longer', async () => {
    await gateway.running(ada.key)
    gateway.clock.jump(DAY_MS)
    await gateway.reconcile()
    gateway.clock.jump(DAY_MS)
    const { polls } = gateway.media
    gateway.media.polled = images(['one'])

    const pass = await gateway.reconcile()

    expect(pass).toMatchObject({ late_completions: 0 })
    expect(gateway.media.polls).toBe(polls)
  })

  test('a job that its provider does not finish within a day is not asked for again once its provider has failed it', async () => {
    await gateway.running(ada.key)
    gateway.clock.jump(DAY_MS)
    await gateway.reconcile()
    gateway.media.polled = { outcome: 'failed', message: 'Expired.' }
    await gateway.reconcile()
    const { polls } = gateway.media

    await gateway.reconcile()

    expect(gateway.media.polls).toBe(polls)
  })
})

describe('a result that a provider made and its customer does not get', () => {
  let gateway: Awaited<ReturnType<typeof startScriptedImages>>
  let ada: TestAccount

  beforeEach(async () => {
    gateway = await startScriptedImages()
    ada = await gateway.account({ grant: '1' })
  })
  afterEach(() => gateway.stop())

  const lossUsd = async (id: string) =>
    (await gateway.admin<{ loss_usd: string | null }>('GET', `jobs/${id}`)).loss_usd

  test('a result that a provider made and its customer does not get is a loss if it can never be fetched, in the step that fails the job', async () => {
    const links = ['a', 'b'].map(
      name => ({ from: 'url', url: `http://169.254.169.254/${name}.png` }) as const,
    )
    gateway.media.submitted = { outcome: 'finished', result: { outputs: links, isCounted: true } }

    const { id, error } = await errorOf(await gateway.create(ada.key, { n: 3 }))

    expect(error).toMatchObject({ type: 'generation_error', code: 'result_lost', param: null })
    expect(await lossUsd(id!)).toBe('0.08')
    expect(await gateway.money(ada)).toEqual({ available: '1', held: '0' })
    await gateway.verify()
  })

  test('a result that a provider made and its customer does not get is a loss if the submission was answered without an id and the job is found finished', async () => {
    gateway.media.submitted = { outcome: 'rejected', reason: 'no_id', status: 200, message: 'No id.' }
    const { id } = await errorOf(await gateway.create(ada.key, { n: 3 }))
    const before = await lossUsd(id!)
    gateway.media.recovered = { ...images(['one', 'two']), upstreamId: 'up-1' }

    const passes = [await gateway.reconcile(), await gateway.reconcile()]

    expect(passes).toMatchObject([{ late_completions: 1 }, { late_completions: 0 }])
    expect([before, await lossUsd(id!)]).toEqual([null, '0.08'])
    expect((await gateway.poll(ada.key, id!)).status).toBe('failed')
    expect(await gateway.money(ada)).toEqual({ available: '1', held: '0' })
    await gateway.verify()
  })
})

describe('the answer to a submit', () => {
  let gateway: Awaited<ReturnType<typeof startScriptedImages>>
  let ada: TestAccount

  beforeEach(async () => {
    gateway = await startScriptedImages({ environment: { TOLLGATE_JOB_TTL_S: '60' } })
    ada = await gateway.account({ grant: '1' })
  })
  afterEach(() => gateway.stop())

  async function statement() {
    type Line = { readonly kind: string; readonly ref: string }
    return (await gateway.admin<{ data: readonly Line[] }>('GET', `accounts/${ada.id}/statement`)).data
  }

  test('the answer to a submission that comes after the release is a loss if it is the result', async () => {
    const answer = Promise.withResolvers<ReturnType<typeof images>>()
    gateway.media.submitted = answer.promise
    const { id } = await gateway.running(ada.key)
    await gateway.reconcile()
    const released = await gateway.poll(ada.key, id)

    answer.resolve(images(['one']))
    await until('the loss is booked', async () => (await statement())[0]?.kind === 'loss')

    expect(released).toMatchObject({ status: 'failed', error: { code: 'submit_unconfirmed' } })
    expect(await gateway.poll(ada.key, id)).toEqual(released)
    expect((await statement())[0]).toMatchObject({ kind: 'loss', ref: id })
    expect(await gateway.money(ada)).toEqual({ available: '1', held: '0' })
    await gateway.verify()
  })

  test('the answer to a submission that comes after the release is kept if it is an id, and the job is watched by it', async () => {
    const answer = Promise.withResolvers<SubmitOutcome>()
    gateway.media.submitted = answer.promise
    const { id } = await gateway.running(ada.key)
    await gateway.reconcile()

    answer.resolve({ outcome: 'accepted', upstreamId: 'late-1' })
    gateway.media.polled = images(['one'])
    await until('the loss is booked', async () => {
      await gateway.reconcile()
      return (await statement())[0]?.kind === 'loss'
    })

    expect((await gateway.poll(ada.key, id)).status).toBe('failed')
    expect(await gateway.money(ada)).toEqual({ available: '1', held: '0' })
    await gateway.verify()
  })
})
