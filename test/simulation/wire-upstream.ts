import type {
  AcceptedJob,
  MediaOutput,
  MediaProvider,
  MediaResult,
  PollOutcome,
  RecoverOutcome,
  SubmitCall,
  SubmitOutcome,
  UnconfirmedJob,
} from '../../src/gateway/ports/providers/media-provider.ts'
import type { SendMedia, MediaReply, MediaRequest } from '../../src/providers/media/media-http.ts'
import { bytesOf } from '../support/byte-streams.ts'
import type { PollBehaviorName, SubmitBehavior } from '../support/simulators/media/behaviors.ts'
import { MediaSimulator } from '../support/simulators/media/media-simulator.ts'
import { modelOf, type SimulatedKind } from '../support/simulators/media/simulated-media.ts'
import type { SimulatedReply } from '../support/simulators/simulated-reply.ts'
import type { Gate } from './gate.ts'
import type { Random } from './random.ts'
import { submitFaults, type SubmitFault } from './submit-faults.ts'
import type { AnyUpstream, UpstreamTraits } from './upstream.ts'
import type { UpstreamJob } from './upstream-job.ts'
import { UpstreamLedger } from './upstream-ledger.ts'
import { UpstreamRules } from './upstream-rules.ts'
import { answerOf, failedPolls, jobBehavior, submitBehavior } from './wire-behaviors.ts'
import type { World } from './world.ts'

/** A provider behind its real adapter: requests and replies are those of its API. */
export class WireUpstream implements AnyUpstream {
  readonly traits: UpstreamTraits
  readonly ledger: UpstreamLedger
  readonly #kind: SimulatedKind
  readonly #world: World
  readonly #random: Random
  readonly #rules: UpstreamRules
  readonly #simulator: MediaSimulator

  constructor(id: string, kind: SimulatedKind, world: World) {
    this.traits = { id, isSynchronous: kind.dialect.isSynchronous === true, recovers: kind.recovers === true }
    this.#kind = kind
    this.#world = world
    this.#random = world.random.fork()
    this.#rules = new UpstreamRules(world)
    this.ledger = new UpstreamLedger(id, world, this.#random)
    this.#simulator = new MediaSimulator(kind.dialect, { clock: { now: () => world.scheduler.nowMs } })
  }

  adapter(gate: Gate): MediaProvider {
    return {
      pollEveryMsMin: this.#provider(gate, unused).pollEveryMsMin,
      submit: call => this.#submit(call, gate),
      poll: job => this.#poll(job, gate),
      ...(this.traits.recovers ? { recover: job => this.#recover(job, gate) } : {}),
    }
  }

  #provider({ process }: Gate, send: SendMedia): MediaProvider {
    const { scheduler } = this.#world
    return this.#kind.provider({
      send,
      clock: {
        now: () => scheduler.nowMs,
        monotonicMs: () => scheduler.nowMs,
        after: (delayMs, then) => scheduler.after(process, delayMs, then),
      },
      secretOf: () => 'access,secret',
    })
  }

  async #submit(call: SubmitCall, gate: Gate): Promise<SubmitOutcome> {
    this.#rules.expectFirstSubmit(call)
    const fault = this.#failsNow() ? this.#random.weighted(submitFaults) : undefined
    if (fault !== undefined) this.#world.faults.count(`submit: ${fault}`)
    if (!(await this.#rules.readInputs(call, gate)))
      return { outcome: 'unknown', problem: 'an input could not be read' }
    let job: UpstreamJob | undefined
    let requests = 0
    const provider = this.#provider(gate, async request => {
      requests += 1
      this.#rules.expectFirstRequest(call, requests)
      if (fault === 'not sent') return { reply: 'none', isSent: false, problem: 'ECONNREFUSED' }
      const body = await bodyOf(request)
      if (body === undefined) return { reply: 'none', isSent: true, problem: 'an input broke off' }
      await gate.network(`${this.traits.id} ${call.jobId} submit`)
      const arrived = this.#arrive(call, fault, gate, { ...request, body })
      job = arrived.job
      const isInTime = await this.#make(job, request.timeoutMs, gate)
      if (!isInTime) return { reply: 'none', isSent: true, problem: 'RESPONSE_TIMEOUT' }
      await gate.network(`${this.traits.id} ${call.jobId} submit answered`)
      return wholeReply(arrived.reply, request, gate)
    })
    const model = modelOf(this.#kind, call.kind) ?? call.model
    const outcome = await provider.submit({ ...call, model })
    if (job !== undefined) job.answeredAtMs = gate.nowMs
    return outcome
  }

  /** The submit has reached the provider. */
  #arrive(
    call: SubmitCall,
    fault: SubmitFault | undefined,
    gate: Gate,
    request: MediaRequest & { readonly body: string },
  ): { readonly reply: SimulatedReply; readonly job?: UpstreamJob } {
    const rows = this.#simulator.ledger()
    const other = this.#earlierJob(request)
    const behavior = submitBehavior(fault, this.#random, other?.id)
    if (!behavior.accepts) return { reply: this.#reply(request, { submit: behavior }) }
    const answer = this.#answerOf(behavior)
    const isLater = fault === 'error, stored later' && this.traits.recovers
    const inMs = isLater ? this.#random.magnitude(1000, 1_500_000) : 0
    const job = this.ledger.store(call, gate, { answer, inMs, shape: result => this.#shaped(result) })
    const reply = this.#reply(request, {
      submit: { ...behavior, job: jobBehavior(job, gate.nowMs, this.#random) },
    })
    const asked = this.#simulator.asked[rows.length]
    if (asked === undefined) throw new Error(`The simulator refused ${request.body}.`)
    this.#rules.expectAsked(call, asked)
    job.upstreamId = this.#upstreamId(rows.length)
    return { reply, job }
  }

  /** The provider's id of an earlier job that the store has, as the gateway would read it from this answer. */
  #earlierJob(request: MediaRequest & { readonly body: string }): { readonly id: string } | undefined {
    const { method, url, headers, body } = request
    const { dialect, path, upstreamIdOf = (id: string) => id } = this.#kind
    const readable = { method, pathname: path + url.pathname, query: url.searchParams, body }
    const call = dialect.read({ ...readable, headers: Object.fromEntries(headers) }, { url: '', jobs: [] })
    const asked = call.call === 'create' ? call.asked : undefined
    if (asked === undefined) return undefined
    return this.#simulator
      .ledger()
      .find(({ id }) => this.#world.isTaken(this.traits.id, upstreamIdOf(id, asked)))
  }

  #answerOf(behavior: SubmitBehavior): UpstreamJob['answer'] {
    const answer = answerOf(behavior)
    return answer === 'its id' && this.traits.isSynchronous ? 'its result' : answer
  }

  /** A synchronous provider answers when the job is over. False where its caller does not wait so long. */
  async #make(job: UpstreamJob | undefined, timeoutMs: number, gate: Gate): Promise<boolean> {
    if (job === undefined || !this.traits.isSynchronous) return true
    const takesMs = job.endsAtMs - gate.nowMs
    const isInTime = takesMs <= timeoutMs
    if (!isInTime) job.answer = 'nothing'
    await gate.sleep(isInTime ? takesMs : timeoutMs)
    return isInTime
  }

  /** A result as this provider can report it. */
  #shaped({ durationMs, ...result }: MediaResult): MediaResult {
    const { reportsDuration = true, outputsMax } = this.#kind
    const outputs = result.outputs.slice(0, outputsMax).map(output => this.#sendable(output))
    const duration = reportsDuration && durationMs !== undefined ? { durationMs } : {}
    return { outputs, isCounted: true, ...duration }
  }

  #sendable(output: MediaOutput): MediaOutput {
    const { sendsBytes = false, sendsLinks = true } = this.#kind
    const { files } = this.#world
    if (output.from === 'bytes' && !sendsBytes)
      return { from: 'url', url: files.offer(output.bytes, { fromMs: 0, random: this.#random }) }
    return output.from === 'url' && !sendsLinks ? { from: 'bytes', bytes: files.bytesOf(output) } : output
  }

  async #poll(call: AcceptedJob, gate: Gate): Promise<PollOutcome> {
    const { upstreamId } = call
    this.#rules.expectPause(call, gate)
    const job = this.ledger.find(upstreamId)
    if (job === undefined) this.#world.violated(`a poll for "${upstreamId}", an id that was never given`)
    const outcome = await this.#provider(gate, this.#asking(job, `${upstreamId} poll`, gate)).poll(call)
    this.#rules.polled(upstreamId, gate)
    return outcome
  }

  async #recover(call: UnconfirmedJob, gate: Gate): Promise<RecoverOutcome> {
    const job = this.ledger.findOurs(call.jobId, gate.nowMs)
    const send = this.#asking(job, `${this.traits.id} ${call.jobId} recover`, gate)
    const outcome = await this.#provider(gate, send).recover?.(call)
    return outcome ?? { outcome: 'absent' }
  }

  /** Sends questions about a job, some of which go wrong. */
  #asking(job: UpstreamJob | undefined, label: string, gate: Gate): SendMedia {
    return async request => {
      await gate.network(label)
      if (job !== undefined) job.askedAtMs = gate.nowMs
      const fault = this.#failsNow() ? this.#random.pick(failedPolls) : undefined
      if (fault !== undefined) this.#world.faults.count(`poll: ${fault}`)
      const reply = this.#reply({ ...request, body: '' }, { poll: fault ?? 'normal' })
      await gate.network(`${label} answered`)
      return wholeReply(reply, request, gate)
    }
  }

  #reply(
    { method, url, headers, body }: MediaRequest & { readonly body: string },
    script: { readonly submit?: SubmitBehavior; readonly poll?: PollBehaviorName },
  ): SimulatedReply {
    const { submit, poll } = script
    if (submit !== undefined) this.#simulator.scriptSubmits(submit)
    if (poll !== undefined) this.#simulator.scriptPolls(poll)
    const path = this.#kind.path + url.pathname + url.search
    return this.#simulator.handle({ method, path, headers: Object.fromEntries(headers), body })
  }

  /** The id that the gateway stores for the job at this place of the simulator's ledger. */
  #upstreamId(index: number): string {
    const [row, asked] = [this.#simulator.ledger()[index], this.#simulator.asked[index]]
    if (row === undefined || asked === undefined) throw new RangeError(`There is no job ${index}.`)
    return this.#kind.upstreamIdOf?.(row.id, asked) ?? row.id
  }

  #failsNow(): boolean {
    return !this.#world.isCalm && this.#random.chance(this.#world.plan.chaos.upstreamFaults)
  }
}

const unused: SendMedia = () => Promise.reject(new Error('not called'))

/** Undefined where an input broke off: then no whole request arrives. */
async function bodyOf({ body = '' }: MediaRequest): Promise<string | undefined> {
  if (typeof body === 'string') return body
  return bytesOf(body.stream).then(
    bytes => bytes.toString(),
    () => undefined,
  )
}

async function wholeReply(
  reply: SimulatedReply,
  { timeoutMs }: MediaRequest,
  gate: Gate,
): Promise<MediaReply> {
  if (reply.send === 'reset') return { reply: 'none', isSent: true, problem: 'ECONNRESET' }
  if (reply.send !== 'answer') {
    await gate.sleep(timeoutMs)
    return { reply: 'none', isSent: true, problem: 'RESPONSE_TIMEOUT' }
  }
  const { status, headers, body } = reply
  const retryAfter = headers['retry-after']
  return {
    reply: 'answer',
    status,
    contentType: headers['content-type'],
    body: typeof body === 'string' ? body : new TextDecoder().decode(body),
    ...(retryAfter === undefined ? {} : { retryAfterS: Number(retryAfter) }),
  }
}
