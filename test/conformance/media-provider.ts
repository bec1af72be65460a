import { afterEach, describe, expect, test } from 'bun:test'
import type {
  AcceptedJob,
  MediaProvider,
  MediaResult,
  PollOutcome,
  SubmitCall,
  SubmitOutcome,
} from '../../src/gateway/ports/providers/media-provider.ts'
import { accepted, unconfirmed } from '../support/media-calls.ts'

/** What can happen to one job at a provider, from its submit to its result. */
export const mediaFaults = [
  /** A 4xx about the request, with a code. */
  'rejected',
  /** 408 and 409: refused as by any other 4xx. */
  'rejected_408',
  'rejected_409',
  /** A 429 that asks to wait 7 seconds. */
  'rate_limited',
  /** The operator's key is refused. */
  'key_refused',
  /** The operator's credit is used up. */
  'no_credit',
  /** A success without an id, or without a result where the provider is synchronous. */
  'no_id',
  /** A success that is not what it should be: a page of HTML, half of a JSON text, nothing at all. */
  'html',
  'truncated',
  'empty',
  /** A 5xx: the provider has the job, or has it not. */
  'server_error_accepted',
  'server_error',
  /** The provider has the job, and the connection breaks before the answer. */
  'reply_lost',
  /** The provider has the job, and never answers. */
  'silent',
  /** Nothing listens at the provider's address. */
  'refused_connection',
  'generation_failed',
  'no_output',
  /** The job runs under a status that no document of the provider names. */
  'unknown_status',
  /** The first poll is answered with an error. */
  'poll_refused',
  'poll_server_error',
  'poll_html',
] as const
export type MediaFault = (typeof mediaFaults)[number]

export type MediaUnderTest = {
  readonly provider: MediaProvider
  /** A submit of a new job, which the provider will treat as the fault says. */
  call(fault?: MediaFault): SubmitCall
  /** How many submits have arrived at the provider; absent where it is not behind a network. */
  submits?(): number
  /** Waits until a silent provider has the request, and lets the time of its call pass. */
  passTimeout(call: SubmitCall): Promise<void>
  /** Lets the provider work until its jobs are finished. */
  finishJobs(): Promise<void>
  close(): Promise<void>
}

export type MediaTraits = {
  readonly faults: readonly MediaFault[]
  /** Its submit gives the result. */
  readonly isSynchronous: boolean
  /** The clips it makes have a duration. */
  readonly makesVideos: boolean
  /** Its row has `KEY_UNDER_TEST`. */
  readonly hasKey: boolean
  /** It finds the job of a submit without an answer. Default: true. */
  readonly recovers?: boolean
  /** Its refusals have a code. Default: true. */
  readonly refusalsHaveCodes?: boolean
}

/** What no outcome may contain. */
export const KEY_UNDER_TEST = 'key-4c1d-under-test'

/** What any provider of images or videos must do. */
export function mediaProviderConforms(open: () => Promise<MediaUnderTest>, traits: MediaTraits): void {
  const opened: MediaUnderTest[] = []
  const openOne = async () => {
    const one = await open()
    opened.push(one)
    return one
  }
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close()
  })
  const faults = (...asked: readonly MediaFault[]) => asked.filter(fault => traits.faults.includes(fault))

  submitConforms(openOne, traits, faults)
  if (!traits.isSynchronous) {
    pollConforms(openOne, faults)
    if (traits.recovers ?? true) recoverConforms(openOne, faults)
    else neverRecovers(openOne)
  }
}

type Open = () => Promise<MediaUnderTest>
type PossibleFaults = (...asked: readonly MediaFault[]) => readonly MediaFault[]

function submitConforms(open: Open, traits: MediaTraits, faults: PossibleFaults): void {
  const { makesVideos, hasKey, refusalsHaveCodes = true } = traits
  describe('a submit', () => {
    test('a submission leads to a result with something in it', async () => {
      const under = await open()

      const result = await resultOf(under, under.call())

      expect(result.outputs.length).toBeGreaterThan(0)
      if (makesVideos) expect(result.durationMs).toBeGreaterThan(0)
      expectSubmits(under, 1)
    })

    test.each(faults('rejected', 'rejected_408', 'rejected_409'))(
      "a submission is rejected with the provider's code: %s",
      async fault => {
        const under = await open()

        const outcome = await submit(under, fault)

        expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'invalid' })
        if (refusalsHaveCodes) expect(outcome).toMatchObject({ code: expect.any(String) })
        else expect(outcome).not.toHaveProperty('code')
        expectSubmits(under, 1)
      },
    )

    test.each(faults('rate_limited'))('a submission is rejected with the time to wait: %s', async fault => {
      const under = await open()

      expect(await submit(under, fault)).toMatchObject({
        outcome: 'rejected',
        reason: 'rate_limited',
        retryAfterS: 7,
      })
    })

    test.each(faults('key_refused', 'no_credit'))(
      'a submission is rejected as trouble of the operator: %s',
      async fault => {
        const under = await open()

        expect(await submit(under, fault)).toMatchObject({ outcome: 'rejected', reason: 'operator' })
      },
    )

    test.each(faults('no_id', 'html', 'truncated', 'empty'))(
      'a submission is rejected where the success names no job: %s',
      async fault => {
        const under = await open()

        expect(await submit(under, fault)).toMatchObject({ outcome: 'rejected', reason: 'no_id' })
      },
    )

    test.each(faults('server_error', 'server_error_accepted', 'reply_lost', 'silent'))(
      'a submission is unknown and is not repeated: %s',
      async fault => {
        const under = await open()

        const outcome = await submit(under, fault)

        expect(outcome.outcome).toBe('unknown')
        expectSubmits(under, 1)
      },
    )

    test.each(faults('refused_connection'))('a submission was not sent: %s', async fault => {
      const under = await open()

      const outcome = await submit(under, fault)

      expect(outcome.outcome).toBe('not_sent')
      expectSubmits(under, 0)
    })

    if (hasKey)
      test('a submission never shows the key', async () => {
        const under = await open()
        const texts: string[] = []

        for (const fault of faults(...mediaFaults)) texts.push(JSON.stringify(await submit(under, fault)))

        expect(texts.length).toBeGreaterThan(0)
        expect(texts.filter(text => text.includes(KEY_UNDER_TEST))).toEqual([])
      })
  })
}

function pollConforms(open: Open, faults: PossibleFaults): void {
  describe('a poll', () => {
    test('a poll finds a job running, and later finished, again and again', async () => {
      const under = await open()
      const job = await acceptedJob(under)

      const running = await under.provider.poll(job)
      await under.finishJobs()
      const first = await under.provider.poll(job)
      const second = await under.provider.poll(job)

      expect(running).toMatchObject({ outcome: 'running', isKnownStatus: true })
      expect(first.outcome).toBe('finished')
      expect(second).toEqual(first)
    })

    test.each(faults('generation_failed'))('a poll finds a failure and its message: %s', async fault => {
      const under = await open()
      const job = await acceptedJob(under, fault)
      await under.finishJobs()

      const outcome = await under.provider.poll(job)

      expect(outcome.outcome).toBe('failed')
      expect((outcome as Extract<PollOutcome, { outcome: 'failed' }>).message).not.toBe('')
    })

    test.each(faults('no_output'))('a poll finds a result without outputs: %s', async fault => {
      const under = await open()
      const job = await acceptedJob(under, fault)
      await under.finishJobs()

      expect(await under.provider.poll(job)).toMatchObject({ outcome: 'finished', result: { outputs: [] } })
    })

    test.each(faults('unknown_status'))(
      'a poll reports a job as running under a status that is not known: %s',
      async fault => {
        const under = await open()
        const job = await acceptedJob(under, fault)

        const running = await under.provider.poll(job)
        await under.finishJobs()

        expect(running).toMatchObject({ outcome: 'running', isKnownStatus: false })
        expect((await under.provider.poll(job)).outcome).toBe('finished')
      },
    )

    test.each(faults('poll_refused', 'poll_server_error', 'poll_html'))(
      'a poll that fails says nothing about the job: %s',
      async fault => {
        const under = await open()
        const job = await acceptedJob(under, fault)
        await under.finishJobs()

        const first = await under.provider.poll(job)
        const second = await under.provider.poll(job)

        expect(first.outcome).toBe('unavailable')
        expect(JSON.stringify(first)).not.toContain(KEY_UNDER_TEST)
        expect(second.outcome).toBe('finished')
      },
    )
  })
}

function recoverConforms(open: Open, faults: PossibleFaults): void {
  describe('recovery', () => {
    test.each(faults('server_error_accepted', 'reply_lost', 'silent'))(
      'recovery finds the job of a submission without an answer: %s',
      async fault => {
        const under = await open()
        const call = under.call(fault)
        await submitted(under, fault, call)

        const found = await under.provider.recover?.(unconfirmed(call))
        await under.finishJobs()
        const finished = await under.provider.recover?.(unconfirmed(call))

        expect(found).toMatchObject({ upstreamId: expect.any(String) })
        expect(finished).toMatchObject({ outcome: 'finished', upstreamId: expect.any(String) })
      },
    )

    test('recovery finds the same upstream id that the submission had, by which the job is polled', async () => {
      const under = await open()
      const call = under.call()
      const job = await acceptedJob(under, undefined, call)

      const found = await under.provider.recover?.(unconfirmed(call))

      expect(found).toMatchObject({ upstreamId: job.upstreamId })
    })

    test.each(faults('server_error'))(
      'recovery does not take another job for the one that was not accepted: %s',
      async fault => {
        const under = await open()
        const call = under.call(fault)
        await submitted(under, fault, call)
        await acceptedJob(under)

        expect(await under.provider.recover?.(unconfirmed(call))).toEqual({ outcome: 'absent' })
      },
    )
  })
}

function neverRecovers(open: Open): void {
  test('the provider offers no recovery, because none of its answers names our job', async () => {
    const { provider } = await open()

    expect('recover' in provider).toBe(false)
  })
}

function expectSubmits(under: MediaUnderTest, count: number): void {
  if (under.submits !== undefined) expect(under.submits()).toBe(count)
}

async function submit(under: MediaUnderTest, fault: MediaFault): Promise<SubmitOutcome> {
  return submitted(under, fault, under.call(fault))
}

async function submitted(under: MediaUnderTest, fault: MediaFault, call: SubmitCall): Promise<SubmitOutcome> {
  const outcome = under.provider.submit(call)
  if (fault === 'silent') await under.passTimeout(call)
  return outcome
}

/** A job that its provider has accepted. */
async function acceptedJob(
  under: MediaUnderTest,
  fault?: MediaFault,
  call = under.call(fault),
): Promise<AcceptedJob> {
  const outcome = await under.provider.submit(call)
  if (outcome.outcome !== 'accepted') throw new Error(`The submit was ${outcome.outcome}.`)
  return accepted(call, outcome.upstreamId)
}

/** The result of a job whose provider has no faults. */
async function resultOf(under: MediaUnderTest, call: SubmitCall): Promise<MediaResult> {
  const outcome = await under.provider.submit(call)
  if (outcome.outcome === 'finished') return outcome.result
  if (outcome.outcome !== 'accepted') throw new Error(`The submit was ${outcome.outcome}.`)
  await under.finishJobs()
  const end = await under.provider.poll(accepted(call, outcome.upstreamId))
  if (end.outcome !== 'finished') throw new Error(`The job was ${end.outcome}.`)
  return end.result
}
