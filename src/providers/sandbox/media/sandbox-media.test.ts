import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { accepted, aSubmitCall, unconfirmed } from '../../../../test/support/media-calls.ts'
import { sandboxProvider } from '../../../../test/support/media-providers.ts'
import type { SubmitCall } from '../../../gateway/ports/providers/media-provider.ts'
import { ENDS_AT_ONCE } from './poll-job.ts'
import { openRenderer } from './renderer.ts'
import { JOB_TTL_MS } from './sandbox-jobs.ts'
import { sandboxMedia } from './sandbox-media.ts'

const renderer = openRenderer()

function open(options: { readonly jobsMax?: number; readonly videoMs?: number } = {}) {
  const clock = fakeClock()
  const sandbox = sandboxMedia({ clock, ...options })
  const aVideo = (change: Partial<SubmitCall> = {}) =>
    aSubmitCall(sandboxProvider, { kind: 'video', ...change })
  const poll = (call: SubmitCall) => sandbox.poll(accepted(call, call.jobId))
  return { clock, sandbox, aVideo, poll }
}

describe('the sandbox', () => {
  test.each(['', ' \n'])('the sandbox rejects the empty prompt %j', async prompt => {
    const { sandbox } = open()

    const outcome = await sandbox.submit(aSubmitCall(sandboxProvider, { prompt }))

    expect(outcome).toMatchObject({
      outcome: 'rejected',
      reason: 'invalid',
      status: 400,
      code: 'EMPTY_PROMPT',
    })
  })

  test('the sandbox rejects directives that it does not know, and lists those it knows', async () => {
    const { sandbox } = open()

    const outcome = await sandbox.submit(aSubmitCall(sandboxProvider, { prompt: '[sandbox explode]' }))

    expect(outcome).toMatchObject({
      outcome: 'rejected',
      reason: 'invalid',
      code: 'sandbox_invalid_request',
      message: expect.stringContaining('delay_ms'),
    })
  })

  test('the sandbox rejects a second submission of the same job', async () => {
    const { sandbox, aVideo } = open()
    const call = aVideo()
    await sandbox.submit(call)

    expect(await sandbox.submit(call)).toMatchObject({
      outcome: 'rejected',
      status: 409,
      code: 'DUPLICATE_JOB',
    })
  })

  test('the sandbox finishes a video after the set time', async () => {
    const { sandbox, clock, aVideo, poll } = open({ videoMs: 700 })
    const call = aVideo()
    await sandbox.submit(call)

    clock.advance(699)
    const before = await poll(call)
    clock.advance(1)

    expect(before.outcome).toBe('running')
    expect((await poll(call)).outcome).toBe('finished')
  })

  test('the sandbox answers a silent submission only when its time is over', async () => {
    const { sandbox, clock, aVideo } = open()
    let isAnswered = false
    const answered = sandbox
      .submit(aVideo({ prompt: '[sandbox submit=hang]', timeoutMs: 1000 }))
      .then(outcome => {
        isAnswered = true
        return outcome
      })

    clock.advance(999)
    await Promise.resolve()
    expect(isAnswered).toBe(false)
    clock.advance(1)

    expect(await answered).toEqual({ outcome: 'unknown', problem: 'no answer in time' })
  })

  test('the sandbox reports a job that it has lost as failed', async () => {
    const { sandbox, clock, aVideo, poll } = open()
    const call = aVideo()
    await sandbox.submit(call)
    const restarted = open()

    clock.advance(JOB_TTL_MS)

    expect(await poll(call)).toMatchObject({ outcome: 'failed', code: 'SANDBOX_JOB_LOST' })
    expect(await restarted.poll(call)).toMatchObject({ outcome: 'failed', code: 'SANDBOX_JOB_LOST' })
    expect(await restarted.sandbox.recover?.(unconfirmed(call))).toEqual({ outcome: 'absent' })
  })

  test('the sandbox rejects jobs while its memory is full of undelivered ones', async () => {
    const { sandbox, clock, aVideo, poll } = open({ jobsMax: 10 })
    const calls = Array.from({ length: 10 }, () => aVideo({ prompt: '[sandbox fail=TOO_DARK]' }))
    for (const call of calls) await sandbox.submit(call)

    const refused = await sandbox.submit(aVideo())
    clock.advance(10_000)
    await poll(calls[4]!)
    await poll(calls[7]!)
    const taken = await sandbox.submit(aVideo())

    expect(refused).toMatchObject({
      outcome: 'rejected',
      reason: 'rate_limited',
      status: 429,
      code: 'SANDBOX_FULL',
    })
    expect(taken.outcome).toBe('accepted')
    // The job delivered first made room; the other one may still be asked for.
    expect(await poll(calls[4]!)).toMatchObject({ code: 'SANDBOX_JOB_LOST' })
    expect(await poll(calls[7]!)).toMatchObject({ code: 'TOO_DARK' })
  })

  test('the sandbox forgets jobs that are too old before it refuses new ones', async () => {
    const { sandbox, clock, aVideo } = open({ jobsMax: 2 })
    await sandbox.submit(aVideo({ prompt: '[sandbox never]' }))
    await sandbox.submit(aVideo({ prompt: '[sandbox never]' }))

    clock.advance(JOB_TTL_MS)

    expect((await sandbox.submit(aVideo())).outcome).toBe('accepted')
  })

  test('the sandbox ends only some jobs of a backlog at once, and the others as time passes', async () => {
    const { sandbox, clock, aVideo, poll } = open({ videoMs: 0 })
    const calls = Array.from({ length: 300 }, () => aVideo())
    for (const call of calls) await sandbox.submit(call)
    const countEnded = async () => {
      const outcomes = await Promise.all(calls.map(call => poll(call)))
      expect(outcomes.filter(({ outcome }) => outcome !== 'finished')).toEqual(
        outcomes.filter(({ outcome }) => outcome === 'running'),
      )
      return outcomes.filter(({ outcome }) => outcome === 'finished').length
    }

    const atOnce = await countEnded()
    clock.advance(200)
    const soon = await countEnded()
    clock.advance(60_000)
    const later = await countEnded()

    expect([atOnce, soon, later]).toEqual([ENDS_AT_ONCE, 5, ENDS_AT_ONCE])
  })

  test('the sandbox answers every image request at once, however many there are', async () => {
    const { sandbox } = open()
    const calls = Array.from({ length: 60 }, () => aSubmitCall(sandboxProvider))

    const outcomes = await Promise.all(calls.map(call => sandbox.submit(call)))

    expect(outcomes.filter(({ outcome }) => outcome !== 'finished')).toEqual([])
  })

  test('the sandbox accepts an image that it cannot render now, and renders it when it is polled', async () => {
    const clock = fakeClock()
    let isBusy = true
    const busy = {
      ...renderer,
      render: async (file: Parameters<typeof renderer.render>[0]) =>
        isBusy ? undefined : renderer.render(file),
    }
    const sandbox = sandboxMedia({ clock, renderer: busy })
    const call = aSubmitCall(sandboxProvider)

    const outcome = await sandbox.submit(call)
    const first = await sandbox.poll(accepted(call, call.jobId))
    isBusy = false
    const second = await sandbox.poll(accepted(call, call.jobId))

    expect([outcome.outcome, first.outcome, second.outcome]).toEqual(['accepted', 'unavailable', 'finished'])
  })
})
