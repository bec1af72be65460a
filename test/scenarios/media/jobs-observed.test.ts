import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import type { SubmitOutcome } from '../../../src/gateway/ports/providers/media-provider.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { ADMIN_KEY } from '../gateways/scripted-gateway.ts'
import { errorOf, images, startScriptedImages } from '../gateways/image-gateway.ts'
import { until } from '../../support/until.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

type Line = Readonly<Record<string, unknown>> & { readonly message: string; readonly state?: string }

let gateway: Awaited<ReturnType<typeof startScriptedImages>>
let ada: TestAccount
let output: ReturnType<typeof spyOn<NodeJS.WriteStream, 'write'>>
let lines: Line[]

beforeEach(async () => {
  lines = []
  output = spyOn(process.stdout, 'write').mockImplementation(((text: string, done?: () => void) => {
    for (const line of text.trim().split('\n')) lines.push(JSON.parse(line) as Line)
    done?.()
    return true
  }) as typeof process.stdout.write)
  // The welcome of a gateway that logs.
  const welcome = spyOn(process.stderr, 'write').mockImplementation(() => true)
  gateway = await startScriptedImages({ environment: { TOLLGATE_LOG_LEVEL: 'info' } })
  welcome.mockRestore()
  ada = await gateway.account({ grant: '10' })
})
afterEach(async () => {
  await gateway.stop()
  output.mockRestore()
})

/** The samples of a metric that are not 0: its labels, and its value. */
async function samples(name: string): Promise<Readonly<Record<string, number>>> {
  const response = await fetch(`${gateway.url}/metrics`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  })
  const text = await response.text()
  const found = [...text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))]
  return Object.fromEntries(
    found.flatMap(([, labels = '', value]) => (value === '0' ? [] : [[labels, Number(value)]])),
  )
}

/** The changes of states that were logged, and those that were counted: state, and the reason of a failure. */
async function expectChanges(expected: readonly string[]): Promise<void> {
  const logged = () => lines.filter(({ message }) => message === 'job')
  await until('all changes are logged', () => logged().length >= expected.length)
  const counted = await samples('tollgate_job_changes_total')
  const names = logged().map(({ state, reason }) => [state, reason].filter(Boolean).join(' '))
  expect(names).toEqual([...expected])
  const sums = Map.groupBy(expected, name => name)
  expect(counted).toEqual(
    Object.fromEntries(
      [...sums].map(([name, { length }]) => {
        const [state, reason = ''] = name.split(' ')
        return [`kind="image",model="draw-1",state="${state}",reason="${reason}"`, length]
      }),
    ),
  )
}

/** A job whose submit ends in this way. */
async function submitted(outcome: SubmitOutcome): Promise<void> {
  gateway.media.submitted = outcome
  const response = await gateway.create(ada.key, { n: 2 })
  await response.arrayBuffer()
}

const unknown: SubmitOutcome = { outcome: 'unknown', problem: 'HTTP 503 from api.pics.example' }
const noId: SubmitOutcome = { outcome: 'rejected', reason: 'no_id', status: 200, message: 'No id.' }
const failed = { outcome: 'failed', code: 'NSFW', message: 'Refused.' } as const

describe('each change of a state is one log line, and is counted once:', () => {
  const plays: readonly (readonly [
    title: string,
    play: () => Promise<unknown>,
    changes: readonly string[],
  ])[] = [
    ['a submit with a result', () => submitted(images(['one'])), ['queued', 'completed']],
    [
      'a submit that is rejected',
      () => submitted({ outcome: 'rejected', reason: 'invalid', status: 400, message: 'No.' }),
      ['queued', 'failed rejected'],
    ],
    [
      'a submit that was not sent, because the key of the provider is not set',
      () => submitted({ outcome: 'rejected', reason: 'operator', message: 'MAIN_KEY is not set.' }),
      ['queued', 'failed not_configured'],
    ],
    ['a submit without an id', () => submitted(noId), ['queued', 'failed no_job_id']],
    ['a submit with an unknown outcome', () => submitted(unknown), ['queued', 'unknown_submit']],
    [
      'a lookup that sees the end',
      async () => {
        const { id } = await gateway.running(ada.key)
        gateway.media.polled = images(['one'])
        await Promise.all(Array.from({ length: 9 }, () => gateway.poll(ada.key, id)))
      },
      ['queued', 'processing', 'completed'],
    ],
    [
      'a pass of the reconciler that sees the end',
      async () => {
        await gateway.running(ada.key)
        gateway.media.polled = failed
        gateway.clock.advance(MINUTE_MS)
        await gateway.reconcile()
        await gateway.reconcile()
      },
      ['queued', 'processing', 'failed generation_failed'],
    ],
    [
      'an unknown submit that is found finished',
      async () => {
        await submitted(unknown)
        gateway.media.recovered = { ...images(['one']), upstreamId: 'up-1' }
        await gateway.reconcile()
      },
      ['queued', 'unknown_submit', 'processing', 'completed'],
    ],
    [
      'an unknown submit that is released',
      async () => {
        await submitted(unknown)
        gateway.clock.advance(15 * MINUTE_MS)
        await gateway.reconcile()
        await gateway.reconcile()
      },
      ['queued', 'unknown_submit', 'failed submit_unconfirmed'],
    ],
    [
      'a job that is released at its deadline',
      async () => {
        await gateway.running(ada.key)
        gateway.clock.jump(DAY_MS)
        await gateway.reconcile()
      },
      ['queued', 'processing', 'failed overdue'],
    ],
  ]

  test.each(plays)(
    'each change of a state is one log line, and is counted once: %s',
    async (_, play, changes) => {
      await play()

      await expectChanges(changes)
    },
  )

  test('a repeat by an idempotency key, a refusal and an archived result do not count', async () => {
    gateway.media.submitted = images(['one'])
    const headers = { 'idempotency-key': 'k' }
    await (await gateway.create(ada.key, { n: 2 }, { headers })).arrayBuffer()
    await (await gateway.create(ada.key, { n: 2 }, { headers })).arrayBuffer()
    await (await gateway.create(ada.key, { n: 11 })).arrayBuffer()
    gateway.clock.jump(8 * DAY_MS)
    await gateway.reconcile()

    await expectChanges(['queued', 'completed'])
  })
})

test('the line of a change says which job, why, how old it is, and what became of its money', async () => {
  await submitted(unknown)
  gateway.clock.advance(15 * MINUTE_MS)
  await gateway.reconcile()

  await until('all changes are logged', () => lines.filter(({ message }) => message === 'job').length === 3)
  const [queued, lost, released] = lines.filter(({ message }) => message === 'job')
  const common = {
    time: expect.anything(),
    level: 'info',
    message: 'job',
    job_id: expect.stringMatching(/^img_/),
    route: 'images',
    model: 'draw-1',
    provider: 'box',
  }
  expect(queued as object).toEqual({ ...common, state: 'queued', age_ms: 0, held_usd: '0.08' })
  expect(lost as object).toEqual({
    ...common,
    level: 'warn',
    state: 'unknown_submit',
    age_ms: 0,
    problem: 'HTTP 503 from api.pics.example',
    held_usd: '0.08',
  })
  expect(released as object).toEqual({
    ...common,
    level: 'warn',
    state: 'failed',
    age_ms: 15 * MINUTE_MS,
    reason: 'submit_unconfirmed',
    error_code: 'submit_unconfirmed',
    problem: 'HTTP 503 from api.pics.example',
  })
})

test('the line of a request has the id and the state of its job', async () => {
  await submitted(images(['one']))

  const request = () => lines.find(({ message, route }) => message === 'request' && route === 'images')
  await until('the request is logged', () => request() !== undefined)
  const job = lines.find(({ message }) => message === 'job')
  expect(request()).toMatchObject({
    job_id: job?.['job_id'],
    job_state: 'completed',
    cost_usd: '0.04',
  })
})

test('the cost of a job is counted once as media, whoever asks for it, and never as text', async () => {
  gateway.media.submitted = images(['one', 'two'])
  const headers = { 'idempotency-key': 'k' }
  await (await gateway.create(ada.key, { n: 2 }, { headers })).arrayBuffer()
  await (await gateway.create(ada.key, { n: 2 }, { headers })).arrayBuffer()
  gateway.media.submitted = undefined
  const { id } = await gateway.running(ada.key)
  gateway.media.polled = images(['three'])
  await gateway.poll(ada.key, id)
  await gateway.poll(ada.key, id)

  expect(await samples('tollgate_cost_usd_total')).toEqual({ 'model="draw-1",kind="media"': 0.12 })
})

test('the jobs that have not ended are a gauge by state', async () => {
  await submitted(unknown)
  gateway.media.submitted = undefined
  await gateway.running(ada.key)

  expect(await samples('tollgate_open_jobs')).toEqual({
    'state="processing"': 1,
    'state="unknown_submit"': 1,
  })
})

describe('a loss', () => {
  test('a loss of a lost result is counted with the failure', async () => {
    const link = { from: 'url', url: 'http://169.254.169.254/a.png' } as const
    await submitted({ outcome: 'finished', result: { outputs: [link], isCounted: true } })

    expect(await samples('tollgate_job_losses_usd_total')).toEqual({ 'model="draw-1"': 0.04 })
    await expectChanges(['queued', 'failed result_lost'])
    expect(lines.findLast(({ message }) => message === 'job')).toMatchObject({ loss_usd: '0.04' })
  })

  test('a loss of a late completion is counted, and is a separate line', async () => {
    await submitted(unknown)
    gateway.clock.advance(15 * MINUTE_MS)
    await gateway.reconcile()
    gateway.media.recovered = { ...images(['one']), upstreamId: 'up-1' }
    await gateway.reconcile()
    await gateway.reconcile()

    const late = () => lines.filter(({ message }) => message === 'job finished late')
    await until('the loss is logged', () => late().length > 0)
    expect(late()).toMatchObject([{ state: 'failed', loss_usd: '0.04', upstream_id: 'up-1' }])
    expect(await samples('tollgate_job_losses_usd_total')).toEqual({ 'model="draw-1"': 0.04 })
    expect(await samples('tollgate_late_completions_total')).toEqual({ 'model="draw-1"': 1 })
  })
})

test('an unknown state of a provider is counted each time, and logged once', async () => {
  const { id } = await gateway.running(ada.key)
  gateway.media.polled = { outcome: 'running', upstreamStatus: 'PONDERING', isKnownStatus: false }
  await gateway.poll(ada.key, id)
  await gateway.poll(ada.key, id)

  expect(await samples('tollgate_unknown_job_statuses_total')).toEqual({ 'provider="box"': 2 })
  const reports = () => lines.filter(({ message }) => message === 'a provider sent an unknown job status')
  await until('the status is logged', () => reports().length > 0)
  expect(reports()).toMatchObject([{ level: 'warn', provider: 'box', status: 'PONDERING' }])
})

test('an error that a client gets has the id under which its job is logged', async () => {
  gateway.media.submitted = noId

  const { id } = await errorOf(await gateway.create(ada.key))

  await until('the failure is logged', () => lines.some(({ state }) => state === 'failed'))
  expect(lines.filter(({ message }) => message === 'job').map(line => line['job_id'])).toEqual([id, id])
})
