import { describe, expect, test } from 'bun:test'
import { jobTransitions, isFinal, mayFollow, type JobState } from '../../src/domain/jobs/job.ts'
import { usd, ZERO } from '../../src/domain/money.ts'
import { UpstreamIdTakenError } from '../../src/gateway/ports/media/jobs.ts'
import {
  aFailure,
  aFile,
  aJob,
  aResult,
  aVideoJob,
  COST,
  DEADLINE_MS,
  HELD,
  jobIn,
  moneyWith,
  moveTo,
  openJobs,
  record,
  soundBalance,
  UNKNOWN_DEADLINE_MS,
} from '../support/job-builders.ts'
import { anId, NOW } from '../support/ledger-builders.ts'
import { rejection } from '../support/rejection.ts'
import type { StoreKind } from '../support/test-store.ts'
import { jobClaimsConform } from './jobs/claims.ts'
import { idempotencyKeysConform } from './jobs/idempotency-keys.ts'
import { jobListsConform } from './jobs/lists.ts'
import { jobRacesConform } from './jobs/races.ts'
import { jobRestartsConform } from './jobs/restarts.ts'
import { jobWatchesConform } from './jobs/watches.ts'

const states = Object.keys(jobTransitions) as JobState[]
const targets = states.filter(state => state !== 'queued')

/** What the jobs of any store must do. */
export function jobsConform(kind: StoreKind): void {
  describe('creating a job', () => {
    test('creating a job records it as queued, with everything that it was given, and holds its money', async () => {
      const { store, jobs, payer } = await openJobs(kind)
      const asked = aJob(payer)

      const created = await jobs.create(asked)

      const expected = {
        ...asked,
        state: 'queued',
        // The process that submits it, which stores name in their own ways.
        node: expect.any(String),
        changedAtMs: NOW,
        submittedAtMs: null,
        upstreamId: null,
        upstreamStatus: null,
        problem: null,
        nextPollAtMs: NOW,
        outputs: [],
        durationMs: null,
        cost: null,
        failure: null,
        archivedAtMs: null,
        watchUntilMs: null,
        loss: null,
        providerCost: null,
      } as const
      expect(created).toEqual({ outcome: 'created', job: expected, rates: {} })
      expect(await jobs.find(asked.id)).toEqual(expected)
      expect(await jobs.history(asked.id)).toEqual([{ state: 'queued', detail: null, atMs: NOW }])
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('queued'))
    })

    test('creating a job keeps every part of a request', async () => {
      const { jobs, payer } = await openJobs(kind)
      const request = {
        prompt: 'Größe \u0000 “x” 😀',
        params: { aspect_ratio: '16:9', steps: 4, fast: true },
        count: 1,
        durationMs: 5500,
        images: [
          { from: 'url', url: 'https://example.com/a.png' },
          { from: 'file', file: aFile('vid_x/in-0') },
        ],
        videos: [{ from: 'provider_id', id: '0b5a9f0c-5b1e' }],
        refUpstreamId: 'up/../1',
        refJobId: 'vid_00000000000000000000000001',
        scenes: ['one', 'two'],
      } as const

      const { id } = await record(jobs, aVideoJob(payer, { request }))

      expect((await jobs.find(id))?.request).toEqual(request)
    })

    test('creating a job is refused with the balance where that does not cover it, and leaves no trace', async () => {
      const { store, jobs, payer } = await openJobs(kind)
      await record(jobs, aJob(payer, { held: usd('7') }))
      const before = await store.ledger.balance(payer.accountId)
      const asked = aJob(payer, { held: usd('3.000000001') })

      const outcome = await jobs.create(asked)

      expect(outcome).toEqual({ outcome: 'refused', available: usd('3'), held: usd('7'), heldText: ZERO })
      expect(await jobs.find(asked.id)).toBeUndefined()
      expect(await soundBalance(store, payer.accountId)).toEqual(before)
    })

    test('creating a job again, with the same id, changes nothing and gives the job as it is', async () => {
      const { store, jobs, payer } = await openJobs(kind)
      const asked = aJob(payer)
      await jobIn('processing', jobs, asked)

      const again = await jobs.create(asked)

      expect(again).toMatchObject({ outcome: 'repeated', job: { id: asked.id, state: 'processing' } })
      expect((await jobs.list({ limit: 10 })).jobs).toHaveLength(1)
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('processing'))
    })

    test('creating a job needs no money if it costs nothing', async () => {
      const { jobs, store, payer } = await openJobs(kind)
      await record(jobs, aJob(payer, { held: usd('10') }))
      const quote = { kind: 'images', tariff: { perImage: ZERO } } as const
      const free = aJob(payer, { held: ZERO, quote })

      const { id } = await record(jobs, free)
      const completed = await jobs.complete(id, aResult({ cost: ZERO }))

      expect(completed.job).toMatchObject({ state: 'completed', cost: ZERO })
      expect(await soundBalance(store, payer.accountId)).toMatchObject({ held: { media: usd('10') } })
    })

    test('creating a job for an account that does not exist fails', async () => {
      const { jobs, payer } = await openJobs(kind)

      const error = await rejection(jobs.create(aJob({ ...payer, accountId: payer.accountId + 99 })))

      expect(error).toBeInstanceOf(RangeError)
    })
  })

  test('a job keeps what its provider said that it cost, however it ends', async () => {
    const { store, jobs, payer } = await openJobs(kind)
    const [made, failed, silent] = [aJob(payer), aJob(payer), aJob(payer, { held: ZERO })]
    for (const job of [made, failed, silent]) await jobIn('processing', jobs, job)

    await jobs.complete(made.id, aResult({ providerCost: usd('0.5') }))
    await jobs.fail(failed.id, { ...aFailure, providerCost: usd('0.25') })
    await jobs.fail(silent.id, aFailure)

    const costs = [made, failed, silent].map(async ({ id }) => (await jobs.find(id))?.providerCost)
    expect(await Promise.all(costs)).toEqual([usd('0.5'), usd('0.25'), null])
    await soundBalance(store, payer.accountId)
  })

  test('images that are priced by their tokens are charged and listed with them', async () => {
    const { store, jobs, payer } = await openJobs(kind)
    const tariff = {
      textInput: usd('5'),
      imageInput: usd('10'),
      textOutput: usd('10'),
      imageOutput: usd('40'),
      maxPerImage: usd('1'),
    }
    const job = aJob(payer, { quote: { kind: 'images', tariff } })
    await jobIn('processing', jobs, job)
    const tokens = { textInput: 50, imageInput: 300, textOutput: 20, imageOutput: 4160 }

    await jobs.complete(job.id, aResult({ cost: usd('0.16985'), count: 1, tokens }))

    expect((await jobs.find(job.id))?.quote).toEqual({ kind: 'images', tariff })
    const [line] = await store.ledger.usage(payer.accountId, { limit: 1 })
    expect(line).toMatchObject({ kind: 'images', images: 1, tokens, tariff })
    const day = { fromMs: NOW, toMs: NOW + 86_400_000 }
    expect(await store.ledger.usageTotals(payer.accountId, day)).toMatchObject({
      inputTokens: 350,
      outputTokens: 4180,
      images: 1,
    })
    // The books are checked too: the price of the tokens is the cost.
    await soundBalance(store, payer.accountId)
  })

  describe.each(states)('from %s', from => {
    test.each(targets)('a job goes from one state to %s, as the table of states says', async to => {
      const { store, jobs, payer } = await openJobs(kind)
      const { id } = await jobIn(from, jobs, aJob(payer))
      const events = await jobs.history(id)

      const { changed, job } = await moveTo[to](jobs, id)

      const state = mayFollow(from, to) ? to : from
      expect([changed, job.state]).toEqual([mayFollow(from, to), state])
      expect(await jobs.find(id)).toEqual(job)
      expect((await jobs.history(id)).slice(events.length).map(event => event.state)).toEqual(
        changed ? [to] : [],
      )
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith(state))
    })

    test.each(targets)('a job that goes to %s twice does not change the second time', async to => {
      const { store, jobs, payer } = await openJobs(kind)
      const { id } = await jobIn(from, jobs, aJob(payer))
      const first = await moveTo[to](jobs, id)
      const events = await jobs.history(id)

      const second = await moveTo[to](jobs, id)

      expect(second).toEqual({ changed: false, job: first.job })
      expect(await jobs.history(id)).toEqual(events)
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith(first.job.state))
    })

    test('beginning a submit changes a queued job without one only', async () => {
      const { jobs, payer } = await openJobs(kind)
      const { id } = await jobIn(from, jobs, aJob(payer))
      const before = await jobs.find(id)

      const begun = await jobs.beginSubmit(id, NOW + 9000)

      expect(begun).toEqual({ changed: false, job: before! })
    })

    test('archiving changes a completed job only', async () => {
      const { store, jobs, payer } = await openJobs(kind)
      const { id } = await jobIn(from, jobs, aJob(payer))

      const archived = await jobs.archive(id, NOW + 9000)
      const again = await jobs.archive(id, NOW + 9999)

      expect(archived.changed).toBe(from === 'completed')
      expect(again).toEqual({ changed: false, job: archived.job })
      expect(archived.job.archivedAtMs).toBe(from === 'completed' ? NOW + 9000 : null)
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith(from))
    })

    test('a poll is noted while the job can end, and never moves it', async () => {
      const { jobs, payer } = await openJobs(kind)
      const before = await jobIn(from, jobs, aJob(payer))

      await jobs.notePoll(before.id, { nextPollAtMs: NOW + 7000, upstreamStatus: 'IN_QUEUE', problem: '503' })
      const noted = await jobs.find(before.id)
      await jobs.notePoll(before.id, { nextPollAtMs: NOW + 8000 })
      const later = await jobs.find(before.id)

      const isNoted = !isFinal(from)
      const poll = { nextPollAtMs: NOW + 7000, upstreamStatus: 'IN_QUEUE', problem: '503' }
      expect(noted).toEqual(isNoted ? { ...before, ...poll } : before)
      expect(later).toEqual(isNoted ? { ...noted!, nextPollAtMs: NOW + 8000, problem: null } : before)
    })
  })

  describe('a step', () => {
    test('a step that notes a poll late does not bring the next poll forward', async () => {
      const { jobs, payer } = await openJobs(kind)
      const { id } = await jobIn('processing', jobs, aJob(payer))
      await jobs.notePoll(id, { nextPollAtMs: NOW + 9000 })

      await jobs.notePoll(id, { nextPollAtMs: NOW + 7000 })

      expect((await jobs.find(id))?.nextPollAtMs).toBe(NOW + 9000)
    })

    test('a step marks a submission as begun, for one caller', async () => {
      const { jobs, payer } = await openJobs(kind)
      const { id } = await record(jobs, aJob(payer))

      const first = await jobs.beginSubmit(id, NOW + 5)
      const second = await jobs.beginSubmit(id, NOW + 6)

      expect(first).toMatchObject({ changed: true, job: { state: 'queued', submittedAtMs: NOW + 5 } })
      expect(second).toEqual({ changed: false, job: first.job })
    })

    test('a step stores the inputs that the submission sends, together with its mark', async () => {
      const { jobs, payer } = await openJobs(kind)
      const { id, request } = await record(jobs, aJob(payer))
      const inputs = { images: [{ from: 'file', file: aFile('img_x/in-0') }], videos: [] } as const

      const first = await jobs.beginSubmit(id, NOW + 5, inputs)
      const second = await jobs.beginSubmit(id, NOW + 6, { images: [], videos: [] })

      expect(first.job.request).toEqual({ ...request, ...inputs })
      expect(second).toEqual({ changed: false, job: first.job })
    })

    test('a step accepts a job under its upstream id', async () => {
      const { jobs, payer } = await openJobs(kind)
      const { id } = await jobIn('queued', jobs, aJob(payer))
      const to = { upstreamId: 'a/../é 1', atMs: NOW + 20, nextPollAtMs: NOW + 30 }

      const { job } = await jobs.accept(id, to)

      expect(job).toMatchObject({
        state: 'processing',
        upstreamId: 'a/../é 1',
        changedAtMs: NOW + 20,
        nextPollAtMs: NOW + 30,
        deadlineAtMs: DEADLINE_MS,
      })
    })

    test('a step refuses an upstream id that another job of the provider has, and changes nothing', async () => {
      const { store, jobs, payer } = await openJobs(kind)
      const taken = { upstreamId: 'up-taken', atMs: NOW, nextPollAtMs: NOW }
      const first = await jobIn('queued', jobs, aJob(payer))
      const second = await jobIn('queued', jobs, aJob(payer))
      await jobs.accept(first.id, taken)

      const error = await rejection(jobs.accept(second.id, taken))

      expect(error).toBeInstanceOf(UpstreamIdTakenError)
      expect(await jobs.find(second.id)).toEqual(second)
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('processing', 'queued'))
    })

    test('a step accepts one upstream id of two providers', async () => {
      const { jobs, payer } = await openJobs(kind)
      const to = { upstreamId: 'up-same', atMs: NOW, nextPollAtMs: NOW }
      const first = await jobIn('queued', jobs, aJob(payer))
      const second = await jobIn('queued', jobs, aJob(payer, { provider: 'films' }))

      const moved = [await jobs.accept(first.id, to), await jobs.accept(second.id, to)]

      expect(moved.map(({ changed }) => changed)).toEqual([true, true])
    })

    test('a step gives an unknown submission its own deadline, and the job its first one when it is found', async () => {
      const { jobs, payer } = await openJobs(kind)
      const lost = await jobIn('unknown_submit', jobs, aJob(payer))

      const { job: found } = await moveTo.processing(jobs, lost.id)

      expect(lost).toMatchObject({ deadlineAtMs: UNKNOWN_DEADLINE_MS, problem: 'ECONNRESET' })
      expect(found).toMatchObject({ state: 'processing', deadlineAtMs: DEADLINE_MS, problem: null })
    })

    test('a step stores the result of a job with its charge', async () => {
      const { store, jobs, payer } = await openJobs(kind)
      const { id } = await jobIn('processing', jobs, aJob(payer))
      const result = aResult()

      const { job } = await jobs.complete(id, result)

      expect(job).toMatchObject({
        state: 'completed',
        outputs: result.outputs,
        cost: COST,
        durationMs: null,
        changedAtMs: result.atMs,
      })
      const [charge, ...others] = await store.ledger.usage(payer.accountId, { limit: 5 })
      expect(charge).toMatchObject({ id, cost: COST, route: 'images', model: 'draw-1', provider: 'pics' })
      expect(others).toEqual([])
    })

    test('a step stores the duration of a clip', async () => {
      const { jobs, payer } = await openJobs(kind)
      const { id } = await jobIn('processing', jobs, aVideoJob(payer))

      const clip = { outputs: [aFile('vid_x/out-0')], cost: usd('2.5'), durationMs: 5042, chargedMs: 5042 }
      const { job } = await jobs.complete(id, { ...clip, atMs: NOW + 5000 })

      expect(job).toMatchObject({ durationMs: 5042, cost: usd('2.5'), outputs: clip.outputs })
    })

    test('a step refuses a cost above the hold, and changes nothing', async () => {
      const { store, jobs, payer } = await openJobs(kind)
      const running = await jobIn('processing', jobs, aJob(payer))

      const error = await rejection(jobs.complete(running.id, aResult({ cost: usd('4.000000001') })))

      expect(error).toBeInstanceOf(RangeError)
      expect(await jobs.find(running.id)).toEqual(running)
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('processing'))
    })

    test('a step keeps why a job failed', async () => {
      const { jobs, payer } = await openJobs(kind)
      const { id } = await jobIn('queued', jobs, aJob(payer))
      const limited = { reason: 'rate_limited', code: '1302', message: 'Too many.', retryAfterS: 30 } as const

      const { job } = await jobs.fail(id, { ...limited, atMs: NOW + 40 })

      expect(job).toMatchObject({ state: 'failed', failure: limited, cost: null, changedAtMs: NOW + 40 })
    })

    test('a step keeps the texts of a provider that have a NUL in them, with a sign in its place', async () => {
      const { store, jobs, payer } = await openJobs(kind)
      const { id } = await jobIn('queued', jobs, aJob(payer))
      await jobs.accept(id, { upstreamId: 'up\0nul', atMs: NOW, nextPollAtMs: NOW })
      await jobs.notePoll(id, { nextPollAtMs: NOW, upstreamStatus: 'on\0off' })

      const { job } = await jobs.fail(id, { ...aFailure, message: 'No\0.', problem: '\0' })

      const upstream = { upstreamId: 'up\uFFFDnul', upstreamStatus: 'on\uFFFDoff' }
      expect(job).toMatchObject({ ...upstream, failure: { message: 'No\uFFFD.' } })
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith('failed'))
    })

    test('a step keeps a failure without a code as one', async () => {
      const { jobs, payer } = await openJobs(kind)
      const { id } = await jobIn('queued', jobs, aJob(payer))

      const { job } = await jobs.fail(id, { reason: 'no_job_id', message: 'No id.', atMs: NOW })

      expect(job.failure).toEqual({ reason: 'no_job_id', message: 'No id.' })
    })

    test('a step writes what happened to a job, in order', async () => {
      const { jobs, payer } = await openJobs(kind)
      const { id } = await jobIn('unknown_submit', jobs, aJob(payer))
      await moveTo.processing(jobs, id)
      await jobs.complete(id, aResult())
      await jobs.archive(id, NOW + 9000)

      const history = await jobs.history(id)

      expect(history).toEqual([
        { state: 'queued', detail: null, atMs: NOW },
        { state: 'queued', detail: 'The submission began.', atMs: NOW + 500 },
        { state: 'unknown_submit', detail: 'ECONNRESET', atMs: NOW + 1000 },
        { state: 'processing', detail: null, atMs: NOW + 1000 },
        { state: 'completed', detail: null, atMs: NOW + 5000 },
        { state: 'completed', detail: 'The result was archived.', atMs: NOW + 9000 },
      ])
    })

    test('a step on a job that does not exist fails', async () => {
      const { jobs } = await openJobs(kind)
      const id = anId()

      const errors = await Promise.all([
        ...targets.map(state => rejection(moveTo[state](jobs, id))),
        rejection(jobs.beginSubmit(id, NOW)),
        rejection(jobs.archive(id, NOW)),
        rejection(jobs.notePoll(id, { nextPollAtMs: NOW })),
        rejection(jobs.bookLateCompletion(id, { cost: COST, atMs: NOW })),
        rejection(jobs.history(id)),
      ])

      expect(errors.map(error => error instanceof RangeError)).toEqual(errors.map(() => true))
      expect(await jobs.find(id)).toBeUndefined()
    })

    test('a step that ends a job takes its money once, however many callers try', async () => {
      const { store, jobs, payer } = await openJobs(kind)
      const { id } = await jobIn('processing', jobs, aJob(payer))

      const ends = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          index % 3 === 0 ? jobs.fail(id, aFailure) : jobs.complete(id, aResult()),
        ),
      )

      expect(ends.filter(({ changed }) => changed)).toHaveLength(1)
      expect(ends.every(({ job }) => isFinal(job.state))).toBe(true)
      expect(await soundBalance(store, payer.accountId)).toMatchObject(moneyWith(ends[0]!.job.state))
    })
  })

  test('ids that share their first half are different jobs', async () => {
    const { jobs, payer } = await openJobs(kind)
    const { key } = anId()
    const ids = [1n, -1n].map(tail => ({ key, tail }))

    for (const id of ids) await record(jobs, aJob(payer, { id, held: HELD }))
    await jobs.fail(ids[0]!, aFailure)

    expect((await jobs.find(ids[0]!))?.state).toBe('failed')
    expect((await jobs.find(ids[1]!))?.state).toBe('queued')
  })

  jobClaimsConform(kind)
  idempotencyKeysConform(kind)
  jobListsConform(kind)
  jobRacesConform(kind)
  jobRestartsConform(kind)
  jobWatchesConform(kind)
}
