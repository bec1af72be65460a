import type {
  MediaProvider,
  MediaResult,
  PollOutcome,
  SubmitCall,
  SubmitOutcome,
} from '../../src/gateway/ports/providers/media-provider.ts'
import { forbiddenRange } from '../../src/providers/fetch-untrusted/address-guard.ts'
import { parseAddress } from '../../src/domain/ip-address.ts'
import { untrustedUrl } from '../../src/providers/fetch-untrusted/fetch-untrusted.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { accepted, aSubmitCall, unconfirmed } from '../support/media-calls.ts'
import { literalSecret } from '../support/media-providers.ts'
import { simulatedSend } from '../support/simulators/simulated-send.ts'
import { RIGHT_LENGTH, type Case } from './cases.ts'
import type { OpenSubject, Subject } from './subjects.ts'

const JOB_MS = 5000
const TIMEOUT_MS = 1000

/** What does not apply: the provider cannot behave like that. */
export const NOT_APPLICABLE = '–'

type Run = {
  readonly subject: Subject
  readonly opened: OpenSubject
  readonly clock: ReturnType<typeof fakeClock>
  readonly provider: MediaProvider
  readonly sentTo: Set<string>
}

/** Lets an adapter meet a behavior of its provider, and says in a few words what it made of it. */
export async function observe(subject: Subject, one: Case): Promise<string> {
  const run = start(subject)
  if (!applies(one, subject)) return NOT_APPLICABLE
  if (one.submit !== undefined && !run.opened.scriptSubmit(one.submit)) return NOT_APPLICABLE
  const seen = await met(run, one)
  if (run.sentTo.size !== 1) throw new Error(`${subject.name} called ${[...run.sentTo].join(' and ')}.`)
  return seen
}

/** A synchronous provider gives no ids, has no jobs to poll, and sends the images themselves. */
function applies(one: Case, { isSynchronous, makes }: Subject): boolean {
  const { submit, poll, pollAfterMs, second } = one
  if (makes === 'image' && isAboutLength(one)) return false
  if (!isSynchronous) return true
  return (
    poll === undefined &&
    pollAfterMs === undefined &&
    second === undefined &&
    !/^id_|_url$/.test(submit ?? '')
  )
}

function isAboutLength({ title, submit }: Case): boolean {
  return submit?.startsWith('duration') === true || title === RIGHT_LENGTH
}

function start(subject: Subject): Run {
  const clock = fakeClock()
  const opened = subject.open(clock)
  const send = simulatedSend(request => opened.handle(request), clock)
  const sentTo = new Set<string>()
  const provider = opened.provider({
    clock,
    secretOf: literalSecret,
    send: request => {
      sentTo.add(request.url.origin)
      return send(request)
    },
  })
  return { subject, opened, clock, provider, sentTo }
}

async function met(run: Run, one: Case): Promise<string> {
  const { opened, provider } = run
  const call = aCall(run, 'A lighthouse at dawn')
  const outcome = await submitted(run, call)
  if (outcome.outcome === 'unknown') return recovered(provider, call)
  if (outcome.outcome === 'rejected') return reasons[outcome.reason]
  if (outcome.outcome === 'not_sent') return 'not sent'
  if (outcome.outcome === 'finished') return resultText(outcome.result, one)
  if (one.second !== undefined) {
    opened.scriptSubmit(one.second)
    const second = await submitted(run, aCall(run, 'A bay'))
    const isSame = second.outcome === 'accepted' && second.upstreamId === outcome.upstreamId
    return isSame ? 'refused' : second.outcome
  }
  return polled(run, one, accepted(call, outcome.upstreamId))
}

function aCall({ subject, opened }: Run, prompt: string): SubmitCall {
  const { makes, model } = subject
  const length = makes === 'video' ? { durationMs: 5000 } : {}
  return aSubmitCall(opened.row, { kind: makes, model, prompt, timeoutMs: TIMEOUT_MS, ...length })
}

/** Lets the time of the call pass where no answer comes. */
async function submitted({ opened, provider, clock }: Run, call: SubmitCall): Promise<SubmitOutcome> {
  const before = opened.creates()
  const progress = { isOver: false }
  const outcome = provider.submit(call).finally(() => (progress.isOver = true))
  const isSilent = () => opened.creates() > before && clock.waiting > 0
  while (!progress.isOver && !isSilent()) await Promise.resolve()
  if (!progress.isOver) clock.advance(TIMEOUT_MS)
  return outcome
}

const reasons = { invalid: 'request', rate_limited: 'rate', operator: 'operator', no_id: 'no id' } as const

async function recovered(provider: MediaProvider, call: SubmitCall): Promise<string> {
  const found = await provider.recover?.(unconfirmed(call))
  if (found === undefined) return 'unknown'
  return 'upstreamId' in found ? 'found' : found.outcome
}

async function polled(
  { opened, provider, clock }: Run,
  one: Case,
  job: ReturnType<typeof accepted>,
): Promise<string> {
  clock.advance(one.pollAfterMs ?? JOB_MS)
  if (one.poll !== undefined && !opened.scriptPoll(one.poll)) return NOT_APPLICABLE
  const first = await provider.poll(job)
  const text = pollText(first, one)
  if (first.outcome !== 'unavailable' || one.poll === undefined) return text
  const second = await provider.poll(job)
  return second.outcome === 'finished' ? 'again' : `${text}, ${pollText(second, one)}`
}

function pollText(outcome: PollOutcome, one: Case): string {
  switch (outcome.outcome) {
    case 'running':
      return outcome.isKnownStatus ? 'running' : 'counted'
    case 'failed':
      return 'failed'
    case 'unavailable':
      return 'again'
    case 'finished':
      return resultText(outcome.result, one)
  }
}

function resultText({ outputs, durationMs }: MediaResult, one: Case): string {
  if (isAboutLength(one)) return durationMs === undefined ? 'header' : String(durationMs)
  const [output] = outputs
  if (output === undefined) return 'no output'
  if (output.from !== 'url') return output.from
  return isFetched(output.url) ? 'link' : 'refused'
}

/** Whether the fetcher for untrusted links opens a link, by its own rules. */
function isFetched(link: string): boolean {
  try {
    const address = parseAddress(untrustedUrl(link).hostname)
    return address === undefined || forbiddenRange(address, { allowsPrivate: false }) === undefined
  } catch {
    return false
  }
}
