import type {
  AcceptedJob,
  MediaProvider,
  PollOutcome,
  RecoverOutcome,
  SubmitCall,
  SubmitOutcome,
  UnconfirmedJob,
} from '../../src/gateway/ports/providers/media-provider.ts'
import type { Gate } from './gate.ts'
import type { Random } from './random.ts'
import { submitFaults, type SubmitFault } from './submit-faults.ts'
import type { UpstreamJob } from './upstream-job.ts'
import { UpstreamLedger } from './upstream-ledger.ts'
import { POLL_EVERY_MS, UpstreamRules } from './upstream-rules.ts'
import type { World } from './world.ts'

export type UpstreamTraits = {
  readonly id: string
  /** Its submit gives the result. */
  readonly isSynchronous: boolean
  /** It finds jobs by our id. */
  readonly recovers: boolean
}

/** A provider as the gateway and the checks of a run see it. */
export type AnyUpstream = Pick<Upstream, 'traits' | 'ledger' | 'adapter'>

/** The answer to a submit, and the job that it is about. */
type Answer = { readonly outcome: SubmitOutcome; readonly job?: UpstreamJob }

/**
 * A provider of images and videos without a wire, with its own ledger of what it accepted, finished and charges for.
 */
export class Upstream {
  readonly traits: UpstreamTraits
  readonly ledger: UpstreamLedger
  readonly #world: World
  readonly #random: Random
  readonly #rules: UpstreamRules

  constructor(traits: UpstreamTraits, world: World) {
    this.traits = traits
    this.#world = world
    this.#random = world.random.fork()
    this.#rules = new UpstreamRules(world)
    this.ledger = new UpstreamLedger(traits.id, world, this.#random)
  }

  /** The adapter of this provider on one node. */
  adapter(gate: Gate): MediaProvider {
    return {
      pollEveryMsMin: POLL_EVERY_MS,
      submit: call => this.#submit(call, gate),
      poll: job => this.#poll(job, gate),
      ...(this.traits.recovers ? { recover: job => this.#recover(job, gate) } : {}),
    }
  }

  async #submit(call: SubmitCall, gate: Gate): Promise<SubmitOutcome> {
    this.#rules.expectFirstSubmit(call)
    const fault = this.#failsNow() ? this.#random.weighted(submitFaults) : undefined
    if (fault !== undefined) this.#world.faults.count(`submit: ${fault}`)
    if (fault === 'not sent') return { outcome: 'not_sent', problem: 'the connection was refused' }
    if (!(await this.#rules.readInputs(call, gate))) return unknown('an input could not be read')
    await gate.network(`${this.traits.id} ${call.jobId} submit`)
    const { outcome, job } = await this.#arrive(call, fault, gate)
    await gate.network(`${this.traits.id} ${call.jobId} submit answered`)
    if (job !== undefined) job.answeredAtMs = gate.nowMs
    return outcome
  }

  /** The submit has reached the provider. */
  async #arrive(call: SubmitCall, fault: SubmitFault | undefined, gate: Gate): Promise<Answer> {
    const { ledger } = this
    switch (fault) {
      case undefined:
        return this.traits.isSynchronous ? this.#make(call, gate) : this.#accept(call, gate)
      case 'not sent':
      case 'rejected':
        return { outcome: rejected('invalid', 400) }
      case 'rate limited':
        return { outcome: rejected('rate_limited', 429) }
      case 'operator refused':
        return { outcome: rejected('operator', 402) }
      case 'no id, stored':
        return { outcome: rejected('no_id', 200), job: ledger.store(call, gate, { answer: 'no id' }) }
      case 'no id':
        return { outcome: rejected('no_id', 200) }
      case 'error':
        return { outcome: unknown('the provider answered 502') }
      case 'error, stored':
      case 'reply lost':
        ledger.store(call, gate, { answer: 'nothing' })
        return { outcome: unknown('the connection was reset') }
      case 'error, stored later':
        ledger.store(call, gate, { answer: 'nothing', inMs: this.#random.magnitude(1000, 1_500_000) })
        return { outcome: unknown('the provider answered 504') }
      case 'silence, stored':
        ledger.store(call, gate, { answer: 'nothing' })
        await gate.sleep(call.timeoutMs)
        return { outcome: unknown('the provider did not answer') }
      case 'id of another job':
      case 'id of another job, stored':
        return this.#mistake(call, gate, fault === 'id of another job, stored')
    }
  }

  #accept(call: SubmitCall, gate: Gate): Answer {
    const job = this.ledger.store(call, gate, { answer: 'its id' })
    return { outcome: { outcome: 'accepted', upstreamId: job.upstreamId }, job }
  }

  /** Answers with the result itself, or not in time. */
  async #make(call: SubmitCall, gate: Gate): Promise<Answer> {
    const job = this.ledger.store(call, gate, { answer: 'its result' })
    const takesMs = job.endsAtMs - gate.nowMs
    const isInTime = takesMs <= call.timeoutMs
    if (!isInTime) job.answer = 'nothing'
    await gate.sleep(isInTime ? takesMs : call.timeoutMs)
    if (!isInTime) return { outcome: unknown('the provider did not answer') }
    if (job.ending === 'failed') return { outcome: rejected('invalid', 400), job }
    return { outcome: { outcome: 'finished', result: job.result }, job }
  }

  /**
   * Answers with an id that it gave to another job, and that the store has; where there is none, without an id. The
   * gateway cannot notice the id of a job whose own answer was lost.
   */
  #mistake(call: SubmitCall, gate: Gate, isStored: boolean): Answer {
    const other = this.ledger.jobs.find(({ upstreamId }) => this.#world.isTaken(this.traits.id, upstreamId))
    const answer = other === undefined ? 'no id' : 'the id of another job'
    const job = isStored ? { job: this.ledger.store(call, gate, { answer }) } : {}
    return other === undefined
      ? { outcome: rejected('no_id', 200), ...job }
      : { outcome: { outcome: 'accepted', upstreamId: other.upstreamId }, ...job }
  }

  async #poll(call: AcceptedJob, gate: Gate): Promise<PollOutcome> {
    const { upstreamId } = call
    this.#rules.expectPause(call, gate)
    await gate.network(`${upstreamId} poll`)
    const job = this.ledger.find(upstreamId)
    if (job === undefined) this.#world.violated(`a poll for "${upstreamId}", an id that was never given`)
    const outcome = job === undefined ? unavailable() : this.#stateOf(job, gate)
    await gate.network(`${upstreamId} poll answered`)
    this.#rules.polled(upstreamId, gate)
    return outcome
  }

  async #recover({ jobId }: UnconfirmedJob, gate: Gate): Promise<RecoverOutcome> {
    await gate.network(`${this.traits.id} ${jobId} recover`)
    const job = this.ledger.findOurs(jobId, gate.nowMs)
    const state = job === undefined ? undefined : this.#stateOf(job, gate)
    await gate.network(`${this.traits.id} ${jobId} recover answered`)
    if (job === undefined || state === undefined)
      return this.#failsNow() ? unavailable() : { outcome: 'absent' }
    return state.outcome === 'unavailable' ? state : { ...state, upstreamId: job.upstreamId }
  }

  /** What the provider says of a job now: the truth, or a wrong or unknown state that is not final. */
  #stateOf(job: UpstreamJob, { nowMs }: Gate): PollOutcome {
    job.askedAtMs = nowMs
    if (this.#failsNow()) {
      const fault = this.#random.pick(['poll failed', 'unknown status', 'state goes backwards'])
      this.#world.faults.count(fault)
      if (fault === 'poll failed') return unavailable(this.#random.pick([undefined, 7, 60]))
      return running(fault === 'unknown status' ? 'reticulating' : 'queued')
    }
    if (nowMs < job.endsAtMs) return running('processing')
    if (job.ending === 'failed')
      return { outcome: 'failed', code: 'NO_LUCK', message: 'It did not work out.' }
    return { outcome: 'finished', result: job.result }
  }

  #failsNow(): boolean {
    return !this.#world.isCalm && this.#random.chance(this.#world.plan.chaos.upstreamFaults)
  }
}

function unknown(problem: string): SubmitOutcome {
  return { outcome: 'unknown', problem }
}

function rejected(reason: 'invalid' | 'rate_limited' | 'operator' | 'no_id', status: number): SubmitOutcome {
  return { outcome: 'rejected', reason, status, code: `CODE_${status}`, message: 'The provider says no.' }
}

function running(upstreamStatus: string): PollOutcome {
  return { outcome: 'running', upstreamStatus, isKnownStatus: upstreamStatus !== 'reticulating' }
}

function unavailable(retryAfterS?: number): Extract<PollOutcome, { outcome: 'unavailable' }> {
  const problem = 'the provider answered 503'
  return { outcome: 'unavailable', problem, ...(retryAfterS === undefined ? {} : { retryAfterS }) }
}
