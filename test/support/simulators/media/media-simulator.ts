import type { Bytes } from '../../../../src/domain/bytes.ts'
import type { Clock } from '../../../../src/gateway/ports/clock.ts'
import { tinyMp4 } from '../../tiny-mp4.ts'
import { htmlReply, jsonReply, type SimulatedReply, type SimulatedRequest } from '../simulated-reply.ts'
import {
  pollBehaviors,
  submitBehaviors,
  type ErrorAnswer,
  type PollBehavior,
  type PollBehaviorName,
  type SubmitBehavior,
  type SubmitBehaviorName,
} from './behaviors.ts'
import type { Asked, Call, Dialect, JobView } from './dialect.ts'
import { fileReply } from './file-reply.ts'
import { isShown, outputsOf, viewAs, viewOf, type SimulatedJob } from './simulated-job.ts'

export type MediaSimulatorOptions = {
  /** The jobs live on this clock. */
  readonly clock: Pick<Clock, 'now'>
  /** The key that requests must carry; any key or none if absent. */
  readonly key?: string
  /** The address of the API, without a path. */
  readonly url?: () => string
  /** Where results are linked to; without a slash at its end. */
  readonly filesUrl?: () => string
  /** How long a job takes unless its behavior says otherwise. */
  readonly jobMs?: number
  readonly file?: {
    readonly mediaType: string
    readonly bytesOf: (durationMs: number) => Bytes
  }
}

/** What the provider believes of one job: the oracle that a run is checked against. */
export type SimulatedLedgerRow = {
  readonly id: string
  readonly ourId: string | undefined
  readonly prompt: string
  readonly durationMs: number | undefined
  readonly acceptedAtMs: number
  readonly state: 'running' | 'finished' | 'failed' | 'filtered'
  readonly endedAtMs: number | undefined
  /** What the operator owes for it: nothing before its end, and nothing without a result. */
  readonly unitsCharged: number
  /** Whether the answer to its submit named it. */
  readonly isConfirmed: boolean
  /** How many submits had the same body, refused ones included. More than one is a submit that was repeated. */
  readonly creates: number
}

type ControlScript = {
  readonly submits?: readonly SubmitBehaviorName[]
  readonly polls?: readonly PollBehaviorName[]
}

const JOB_MS = 5000
/** To another host, which must get neither the request nor the key. */
const REDIRECT: SimulatedReply = {
  send: 'answer',
  status: 307,
  headers: { location: 'http://elsewhere.invalid/' },
  body: '',
}
const CLIP_MS = 5000
const clips = { mediaType: 'video/mp4', bytesOf: tinyMp4 }

/**
 * A provider of images or videos in memory, with scripted behaviors and its own ledger. Its dialect reads the requests
 * and writes the replies.
 */
export class MediaSimulator {
  /** Submits that arrived, refused ones included. */
  creates = 0
  /** Questions about jobs. */
  polls = 0
  /** The requests for files, in order. */
  readonly fileRequests: SimulatedRequest[] = []
  readonly #dialect: Dialect
  readonly #options: MediaSimulatorOptions
  readonly #jobs: SimulatedJob[] = []
  readonly #createsOf = new Map<string, number>()
  readonly #submits: SubmitBehavior[] = []
  readonly #polls: PollBehavior[] = []

  constructor(dialect: Dialect, options: MediaSimulatorOptions) {
    this.#dialect = dialect
    this.#options = options
  }

  /** What the next submits are treated like, one each. Those that come after are accepted. */
  scriptSubmits(...behaviors: readonly (SubmitBehaviorName | SubmitBehavior)[]): void {
    for (const one of behaviors) this.#submits.push(typeof one === 'string' ? submitBehaviors[one] : one)
  }

  /** What the next questions are treated like, one each. */
  scriptPolls(...behaviors: readonly (PollBehaviorName | PollBehavior)[]): void {
    for (const one of behaviors) this.#polls.push(isPollName(one) ? pollBehaviors[one] : one)
  }

  /** What the provider believes it accepted, finished and charged, in the order of the submits. */
  ledger(): readonly SimulatedLedgerRow[] {
    return this.#jobs.map(job => {
      const { id, asked, acceptedAtMs, endsAtMs, isConfirmed, body } = job
      const { state: shown, outputs = [] } = this.#view(job)
      const state = shown === 'queued' ? 'running' : shown
      return {
        id,
        ourId: asked.ourId,
        prompt: asked.prompt,
        durationMs: asked.durationMs,
        acceptedAtMs,
        state,
        endedAtMs: state === 'running' ? undefined : endsAtMs,
        unitsCharged: state === 'finished' ? outputs.length : 0,
        isConfirmed,
        creates: this.#createsOf.get(body) ?? 1,
      }
    })
  }

  /** What the submits asked for, in order; refused ones are not in it. */
  get asked(): readonly Asked[] {
    return this.#jobs.map(({ asked }) => asked)
  }

  handle(request: SimulatedRequest): SimulatedReply {
    const { pathname, searchParams: query } = new URL(request.path, 'http://simulator')
    if (pathname.startsWith(this.#control)) return this.#script(request)
    const [, file] = /^\/files\/([^/]+)\.[a-z0-9]+$/.exec(pathname) ?? []
    if (file !== undefined) return this.#file(file, request)
    const call = this.#dialect.read({ ...request, pathname, query }, this.#context)
    return this.#answerCall(call, request)
  }

  #answerCall(call: Call, request: SimulatedRequest): SimulatedReply {
    const { key } = this.#options
    if (key !== undefined && call.key !== key) return this.#dialect.error('key_refused', {})
    switch (call.call) {
      case 'create':
        return this.#create(call.asked, bodyWithoutBoundary(request))
      case 'query':
        return this.#query(call.id, call.about)
      case 'other':
        return call.reply
      case 'file':
        return this.#file(call.file, request)
      case 'unknown':
        return htmlReply(404)
    }
  }

  get #control(): string {
    return `/__sim/${this.#dialect.name}/`
  }

  /** For a test in another process: `POST script` with lists of names, and `GET ledger`. */
  #script({ method, path, body }: SimulatedRequest): SimulatedReply {
    if (method === 'GET' && path === `${this.#control}ledger`) return jsonReply({ jobs: this.ledger() })
    if (method !== 'POST' || path !== `${this.#control}script`) return htmlReply(404)
    const { submits = [], polls = [] } = JSON.parse(body) as ControlScript
    const unknown = [
      ...submits.filter(name => !(name in submitBehaviors)),
      ...polls.filter(name => !isPollName(name)),
    ]
    if (unknown.length > 0) return jsonReply({ unknown }, 400)
    this.scriptSubmits(...submits)
    this.scriptPolls(...polls)
    return jsonReply({ ok: true })
  }

  #create(asked: Asked | undefined, body: string): SimulatedReply {
    this.creates += 1
    if (asked === undefined) return this.#dialect.error('invalid', {})
    this.#createsOf.set(body, (this.#createsOf.get(body) ?? 0) + 1)
    const behavior = this.#submits.shift() ?? submitBehaviors.accept
    if (!behavior.accepts) return this.#answer(behavior, undefined)
    const previous = this.#jobs.at(-1)
    const job = this.#accept(asked, body, behavior)
    return this.#answer(behavior, behavior.answer === 'previous_id' ? (previous ?? job) : job)
  }

  #accept(asked: Asked, body: string, { answer, job: behavior = {} }: SubmitBehavior): SimulatedJob {
    const nowMs = this.#options.clock.now()
    const number = this.#jobs.length
    const job: SimulatedJob = {
      number,
      asked,
      body,
      behavior,
      id: behavior.id ?? this.#dialect.idOf(number),
      acceptedAtMs: nowMs,
      endsAtMs: nowMs + (behavior.endsAfterMs ?? this.#usualMs),
      isConfirmed: answer === 'normal',
    }
    this.#jobs.push(job)
    return job
  }

  #answer({ answer }: SubmitBehavior, job: SimulatedJob | undefined): SimulatedReply {
    if (typeof answer === 'object') {
      if ('reply' in answer) return answer.reply
      if (!('idOf' in answer)) return this.#error(answer)
      const other = this.#jobs.find(({ id }) => id === answer.idOf)
      return other === undefined ? this.#dialect.createdWithoutId() : this.#created(other)
    }
    switch (answer) {
      case 'normal':
      case 'previous_id':
        return job === undefined ? this.#dialect.error('server', {}) : this.#created(job)
      case 'reset':
      case 'nothing':
        return { send: answer }
      case 'html':
        return htmlReply()
      case 'empty':
        return { send: 'answer', status: 200, headers: {}, body: '' }
      case 'truncated':
        return { send: 'answer', status: 200, headers: {}, body: '{"id":"half of a te' }
      case 'no_id':
        return this.#dialect.createdWithoutId()
      case 'redirect':
        return REDIRECT
    }
  }

  #created(job: SimulatedJob): SimulatedReply {
    if (this.#dialect.isSynchronous !== true) return this.#dialect.created(this.#view(job), this.#context)
    if (job.behavior.endsAfterMs === Infinity) return { send: 'nothing' }
    const state = job.behavior.ending ?? 'finished'
    return this.#dialect.created({ ...this.#view(job), state }, this.#context)
  }

  /** How long a job takes whose behavior does not say it. */
  get #usualMs(): number {
    return this.#dialect.isSynchronous === true ? 0 : (this.#options.jobMs ?? JOB_MS)
  }

  #error(answer: ErrorAnswer): SimulatedReply {
    if (answer.error !== undefined) return this.#dialect.error(answer.error, answer)
    return htmlReply(answer.status)
  }

  #query(id: string, about: string | undefined): SimulatedReply {
    this.polls += 1
    const behavior = this.#polls.shift() ?? 'normal'
    if (typeof behavior === 'object') return 'reply' in behavior ? behavior.reply : this.#error(behavior)
    if (behavior === 'reset' || behavior === 'nothing') return { send: behavior }
    if (behavior === 'html') return htmlReply()
    if (behavior === 'redirect') return REDIRECT
    const job = this.#jobs.find(job => job.id === id || job.asked.ourId === id)
    if (job === undefined || !this.#isShown(job)) return this.#dialect.error('not_found', {})
    return this.#dialect.task(viewAs(this.#view(job), behavior), { ...this.#context, about })
  }

  get #context() {
    const jobs = this.#jobs.filter(job => this.#isShown(job)).map(job => this.#view(job))
    return { url: this.#options.url?.() ?? 'http://simulator', jobs }
  }

  #view(job: SimulatedJob): JobView {
    return viewOf(job, { nowMs: this.#options.clock.now(), fileUrl: file => this.#fileUrl(file) })
  }

  #isShown(job: SimulatedJob): boolean {
    return isShown(job, this.#options.clock.now())
  }

  #fileUrl(file: string): string {
    const { mediaType } = this.#options.file ?? clips
    return `${this.#options.filesUrl?.() ?? 'http://files.invalid'}/${file}.${mediaType.replace(/^.*\//, '')}`
  }

  #file(name: string, request: SimulatedRequest): SimulatedReply {
    this.fileRequests.push(request)
    const [number, index] = name.split('-').map(Number)
    const job = this.#jobs[number ?? -1]
    const output = job === undefined ? undefined : outputsOf(job.behavior)?.[index ?? -1]
    if (job === undefined || output === undefined) return htmlReply(404)
    const { mediaType, bytesOf } = this.#options.file ?? clips
    return fileReply(output.file ?? 'file', {
      bytes: bytesOf(output.clipMs ?? job.asked.durationMs ?? CLIP_MS),
      mediaType,
      url: this.#fileUrl(name),
      isRedirected: request.path.endsWith('?redirected'),
    })
  }
}

/** Each form has a boundary of its own. */
function bodyWithoutBoundary({ headers, body }: SimulatedRequest): string {
  const [, boundary] = /boundary=(.+)$/.exec(headers['content-type'] ?? '') ?? []
  return boundary === undefined ? body : body.replaceAll(boundary, '')
}

function isPollName(behavior: PollBehaviorName | PollBehavior): behavior is PollBehaviorName {
  return typeof behavior === 'string' && behavior in pollBehaviors
}
