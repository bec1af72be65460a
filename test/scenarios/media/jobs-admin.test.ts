import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Ask } from '../../../src/cli/ask.ts'
import { reconcile } from '../../../src/cli/commands/operating/checks.ts'
import { listJobs, showJob } from '../../../src/cli/commands/reports/jobs.ts'
import type { SubmitOutcome } from '../../../src/gateway/ports/providers/media-provider.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { rejection } from '../../support/rejection.ts'
import { images, startImageGateway, startScriptedImages, STEP_MS } from '../gateways/image-gateway.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

type JobRow = { readonly id: string; readonly state: string; readonly created_at: string }
type JobDetails = JobRow & {
  readonly request_id: string
  readonly why: string
  readonly next: string | null
  readonly next_at: string | null
  readonly changed_at: string
  readonly deadline_at: string
  readonly next_poll_at: string
  readonly watched_until: string | null
  readonly history: readonly { readonly state: string; readonly detail: string | null; readonly at: string }[]
}
type JobsPage = { readonly data: readonly JobRow[]; readonly has_more: boolean; readonly next: string | null }

let gateway: Awaited<ReturnType<typeof startScriptedImages>>
let ada: TestAccount

beforeEach(async () => {
  gateway = await startScriptedImages()
  ada = await gateway.account({ grant: '10' })
})
afterEach(() => gateway.stop())

const list = (query = '') => gateway.admin<JobsPage>('GET', `jobs${query}`)
const show = (id: string) => gateway.admin<JobDetails>('GET', `jobs/${id}`)

/** The id of a job whose submit ends in this way. */
async function submitted(outcome: SubmitOutcome): Promise<string> {
  gateway.media.submitted = outcome
  await gateway.create(ada.key, { n: 2, image: 'https://example.com/a.png' })
  return (await list('?limit=1')).data[0]!.id
}

const unknown: SubmitOutcome = { outcome: 'unknown', problem: 'HTTP 503 from api.pics.example' }

describe('GET jobs', () => {
  test('GET jobs lists all jobs, newest first, with their money', async () => {
    const completed = await submitted(images(['one']))
    const lost = await submitted(unknown)

    const page = await list()

    expect(page).toMatchObject({ has_more: false, next: null })
    expect(page.data).toEqual([
      {
        id: lost,
        request_id: expect.stringMatching(/^req_/),
        kind: 'image',
        state: 'unknown_submit',
        account: ada.id,
        account_name: 'account 1',
        key: expect.stringMatching(/^key_/),
        route: 'images',
        model: 'draw-1',
        provider: 'box',
        upstream_id: null,
        held_usd: '0.08',
        cost_usd: null,
        provider_cost_usd: null,
        created_at: expect.any(String),
        changed_at: expect.any(String),
      } as object,
      expect.objectContaining({ id: completed, state: 'completed', held_usd: '0', cost_usd: '0.04' }),
    ] as JobRow[])
  })

  test('GET jobs comes in pages, and by account, kind and state', async () => {
    const eve = await gateway.account()
    const ids = [await submitted(images(['one'])), await submitted(unknown), await submitted(images(['two']))]
    const idsOf = async (query: string) => (await list(query)).data.map(({ id }) => id)

    const first = await list('?limit=2')
    const rest = await list(`?limit=2&cursor=${first.next}`)

    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(ids.toReversed())
    expect([first.has_more, rest.has_more]).toEqual([true, false])
    expect(await idsOf('?state=unknown_submit')).toEqual([ids[1]!])
    expect(await idsOf('?state=completed&kind=image')).toEqual([ids[2]!, ids[0]!])
    expect(await idsOf('?kind=video')).toEqual([])
    expect(await idsOf(`?account=${eve.id}`)).toEqual([])
    expect(await idsOf(`?account=${ada.id}`)).toHaveLength(3)
  })

  test.each(['?state=running', '?kind=text', '?account=nobody', '?color=red', '?limit=0', '?cursor=x'])(
    'GET jobs refuses %s',
    async query => {
      expect(String(await rejection(list(query)))).toMatch(/GET jobs.*: 40[04] /)
    },
  )
})

describe('GET jobs/{id}', () => {
  test('GET jobs/{id} shows a running job: what its provider says, when it is polled next, and its deadline', async () => {
    gateway.media.polled = { outcome: 'running', upstreamStatus: 'IN_QUEUE', isKnownStatus: true }
    const { id } = await gateway.running(ada.key, { n: 2, image: 'https://example.com/a.png' })

    const job = await show(id)

    const createdAtMs = Date.parse(job.created_at)
    expect(job).toMatchObject({
      state: 'processing',
      why: 'The provider accepted the job and says "IN_QUEUE".',
      next: expect.stringContaining('polled by the next pass of the reconciler') as unknown as string,
      next_at: job.next_poll_at,
      upstream_id: 'upstream-1',
      upstream_status: 'IN_QUEUE',
      upstream_model: 'image',
      node: 'main',
      problem: null,
      failure: null,
      deadline_at: new Date(createdAtMs + DAY_MS).toISOString(),
      request: { params: { aspect_ratio: '1:1', resolution: '1K' }, count: 2, images: 1, videos: 0 },
      held_usd: '0.08',
      cost_usd: null,
    })
    expect(job.history.map(({ state, detail }) => [state, detail])).toEqual([
      ['queued', null],
      ['queued', 'The submission began.'],
      ['processing', null],
    ])
  })

  test('GET jobs/{id} shows the id of the request that created the job, also after a repeat of the request', async () => {
    gateway.media.submitted = images(['one'])
    const options = { headers: { 'idempotency-key': 'order-1' } }
    const first = await gateway.create(ada.key, { n: 2 }, options)
    const repeat = await gateway.create(ada.key, { n: 2 }, options)
    const { data } = await list()

    const job = await show(data[0]!.id)

    expect(data).toHaveLength(1)
    expect(job).toHaveProperty('request_id', first.headers.get('x-request-id'))
    expect(repeat.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
  })

  test('GET jobs/{id} never shows the prompt', async () => {
    gateway.media.submitted = images(['one'])
    await gateway.create(ada.key, { prompt: 'A very private prompt' })
    const { data } = await list()

    const texts = [JSON.stringify(data), JSON.stringify(await show(data[0]!.id))]

    expect(texts.join()).not.toContain('private')
  })

  test('GET jobs/{id} shows the last problem of a running job', async () => {
    const { id } = await gateway.running(ada.key)
    gateway.media.polled = { outcome: 'unavailable', problem: 'HTTP 503', retryAfterS: 30 }
    await gateway.poll(ada.key, id)

    const job = await show(id)

    expect(job).toMatchObject({ problem: 'HTTP 503', next_at: job.next_poll_at })
    expect(job.why).toEndWith('The last problem: HTTP 503')
  })

  test('GET jobs/{id} shows an unknown submission: what went wrong, who looks for it, and when it is released', async () => {
    const id = await submitted(unknown)

    const job = await show(id)

    expect(job.why).toBe(
      'The submission may have reached the provider, and no answer came. The last problem: HTTP 503 from api.pics.example',
    )
    expect(job.next).toBe(
      'Each pass of the reconciler asks the provider for the job. Its reserve is released at the deadline.',
    )
    expect(job.next_at).toBe(job.deadline_at)
    expect(Date.parse(job.deadline_at) - Date.parse(job.changed_at)).toBe(15 * MINUTE_MS)
  })

  test('GET jobs/{id} shows that a job whose provider is gone from the catalog cannot be asked for', async () => {
    const { id } = await gateway.running(ada.key)
    await gateway.admin('PUT', 'catalog', { providers: [], models: [] })
    gateway.clock.advance(STEP_MS)
    await gateway.reconcile()

    const job = await show(id)

    expect(job.next).toBe('Its provider is not in the catalog, so it cannot be asked.')
    expect(job).toMatchObject({ problem: 'There is no provider "box" in the catalog.' })
  })

  test('GET jobs/{id} shows a submission that runs', async () => {
    const answer = Promise.withResolvers<SubmitOutcome>()
    gateway.media.submitted = answer.promise
    const { id } = await gateway.running(ada.key)

    const job = await show(id)
    answer.resolve(images(['one']))

    expect(job).toMatchObject({ state: 'queued', submitted_at: expect.any(String) })
    expect(job.why).toBe('The submission has begun, and its answer is not recorded.')
    expect(job.next).toStartWith('Its node records the answer to the submission.')
  })

  test('GET jobs/{id} shows a completed job: its files, its cost, and when its result is archived', async () => {
    const id = await submitted(images(['one', 'two']))

    const job = await show(id)

    expect(job).toMatchObject({
      state: 'completed',
      why: 'The provider finished the job.',
      next: 'Its result is archived.',
      next_at: new Date(Date.parse(job.changed_at) + 7 * DAY_MS).toISOString(),
      cost_usd: '0.08',
      outputs: [{ key: `${id}/out-0`, bytes: 8 + 3 }, { key: `${id}/out-1` }],
    })
    gateway.clock.jump(7 * DAY_MS)
    await gateway.reconcile()
    expect(await show(id)).toMatchObject({
      next: null,
      next_at: null,
      archived_at: expect.any(String),
    })
  })

  test('GET jobs/{id} shows a failed job: why it failed', async () => {
    const id = await submitted({
      outcome: 'rejected',
      reason: 'invalid',
      status: 400,
      code: 'BAD',
      message: 'No.',
    })

    const job = await show(id)

    expect(job).toMatchObject({
      state: 'failed',
      why: 'No.',
      next: null,
      failure: { reason: 'rejected', code: 'BAD', message: 'No.' },
      cost_usd: null,
    })
  })

  test('GET jobs/{id} shows that a released job is watched, and what it cost', async () => {
    const id = await submitted(unknown)
    gateway.clock.advance(15 * MINUTE_MS)
    await gateway.reconcile()
    const watched = await show(id)
    gateway.media.recovered = { ...images(['one']), upstreamId: 'up-9' }
    await gateway.reconcile()

    const late = await show(id)

    expect(watched.next).toBe('Until then, the gateway asks the provider whether it finished the job late.')
    expect(watched.next_at).toBe(watched.watched_until)
    expect(late).toMatchObject({ next: null, watched_until: null, loss_usd: '0.04' })
    expect(late.why).toEndWith('The provider made the result, and its price was booked as a loss.')
  })

  test.each(['img_00000000000000000000000000', 'vid_x', 'x'])('GET jobs/{id} is 404 for %s', async id => {
    expect(String(await rejection(show(id)))).toContain(': 404 ')
  })
})

test('a job has its own id in /v1/usage, in the usage of the admin API and in the statement', async () => {
  const id = await submitted(images(['one', 'two']))

  const own = await fetch(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': ada.key } })
  const { data } = (await own.json()) as { data: readonly object[] }
  const all = await gateway.admin<{ data: readonly object[] }>('GET', 'usage')
  const statement = await gateway.admin<{ data: readonly { kind: string; ref: string }[] }>(
    'GET',
    `accounts/${ada.id}/statement`,
  )

  const usage = {
    id,
    route: 'images',
    model: 'draw-1',
    usage: { images: 2 },
    cost_usd: '0.08',
    source: 'reported',
  }
  expect(data).toMatchObject([usage])
  expect(all.data).toMatchObject([{ ...usage, provider: 'box', account: ada.id }])
  expect(statement.data.map(({ kind, ref }) => [kind, ref])).toEqual([
    ['capture', id],
    ['hold', id],
    ['grant', ''],
  ])
})

describe('the command', () => {
  const ask: Ask = ({ method, path }) => gateway.admin(method, path)

  test('jobs list prints a line for each job, with what is held or charged', async () => {
    const completed = await submitted(images(['one']))
    const lost = await submitted(unknown)

    const { text, value } = await listJobs(ask, { limit: '50' })
    const one = await listJobs(ask, { limit: '1' })

    const columns = text.split('\n').map(line => line.split(/\s{2,}/))
    expect(columns).toEqual([
      ['CREATED', 'ID', 'STATE', 'MODEL', 'PROVIDER', 'ACCOUNT', 'USD (HELD)'],
      [expect.any(String), lost, 'unknown_submit', 'draw-1', 'box', 'account 1', '(0.08)'],
      [expect.any(String), completed, 'completed', 'draw-1', 'box', 'account 1', '0.04'],
    ] as string[][])
    expect(value).toEqual(await list())
    expect(one.note).toBe(`Older jobs: --cursor ${(await list('?limit=1')).next}`)
  })

  test('jobs list of nothing says so', async () => {
    expect((await listJobs(ask, { limit: '50', state: 'failed' })).text).toBe('No jobs.')
  })

  test('jobs show prints why a job is in its state, what happens next, and what happened', async () => {
    const id = await submitted(unknown)

    const { text, value } = await showJob(ask, id)

    const job = await show(id)
    expect(value).toEqual(job)
    const lines = text.split('\n')
    expect(lines[0]).toBe(id)
    expect(lines).toContain('state         unknown_submit')
    expect(lines).toContain(`why           ${job.why}`)
    expect(lines).toContain(`next          ${job.next} (${job.next_at})`)
    expect(lines).toContain(`request       ${job.request_id}`)
    expect(lines).toContain('money         0.08 USD reserved')
    expect(lines).toContain(`deadline      ${job.deadline_at}`)
    expect(lines).toContain('last problem  HTTP 503 from api.pics.example')
    expect(lines.at(-1)).toEndWith('unknown_submit  HTTP 503 from api.pics.example')
  })

  test('jobs show of a lost result shows the loss', async () => {
    const link = { from: 'url', url: 'http://169.254.169.254/a.png' } as const
    const id = await submitted({ outcome: 'finished', result: { outputs: [link], isCounted: true } })

    const { text } = await showJob(ask, id)

    expect(text).toMatch(/^money +0 USD charged$/m)
    expect(text).toMatch(/^loss +0\.04 USD$/m)
  })

  test('jobs show of an ended job has no deadline', async () => {
    const id = await submitted(images(['one']))

    const { text } = await showJob(ask, id)

    expect(text).toMatch(/^money +0\.04 USD charged$/m)
    expect(text).not.toContain('deadline')
  })

  test('reconcile prints what was done for jobs', async () => {
    await submitted(unknown)
    gateway.media.recovered = { ...images(['one']), upstreamId: 'up-1' }

    const { text, exitCode } = await reconcile(ask)

    expect(text).toContain('Unknown submissions found at their provider: 1.')
    expect(exitCode).toBe(0)
  })

  test('reconcile exits with 1 if the work for a job failed', async () => {
    await submitted(unknown)
    gateway.media.recover = async () => {
      throw new Error('A bug.')
    }

    const { text, exitCode } = await reconcile(ask)

    expect(text).toContain('Not settled: 1.')
    expect(exitCode).toBe(1)
  })
})

describe('an unknown submit on a provider that cannot be asked', () => {
  const started = startImageGateway({
    providers: [{ id: 'pics', kind: 'openai-images', base_url: 'http://127.0.0.1:9', api_key: 'secret-key' }],
    models: [
      {
        id: 'draw-pics',
        kind: 'image',
        upstreams: [{ provider: 'pics', model: 'gpt-image-1' }],
        pricing: { per_image: '0.04' },
      },
    ],
  })
  afterAll(async () => (await started).stop())

  test('an unknown submission on a provider that cannot be asked says so', async () => {
    const other = await started
    const { key } = await other.account()
    const response = await other.create(key, { model: 'draw-pics' })
    const { id } = (await response.json()) as { id: string }

    const job = await other.admin<JobDetails>('GET', `jobs/${id}`)

    expect(job.state).toBe('unknown_submit')
    expect(job.next).toBe('Its provider has no way to find the job. Its reserve is released at the deadline.')
    other.clock.advance(15 * MINUTE_MS)
    await other.reconcile()
    expect(await other.admin<JobDetails>('GET', `jobs/${id}`)).toMatchObject({ state: 'failed', next: null })
  })
})
