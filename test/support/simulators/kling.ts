import type { Clock } from '../../../src/gateway/ports/clock.ts'
import { tinyMp4 } from '../tiny-mp4.ts'
import { pollBehaviors, submitBehaviors } from './kling-behaviors.ts'
import type {
  JobBehavior,
  PollBehavior,
  PollBehaviorName,
  SubmitBehavior,
  SubmitBehaviorName,
} from './kling-behaviors.ts'
import { clipReply } from './kling-files.ts'
import { refusalOfToken } from './kling-auth.ts'
import { htmlReply, jsonReply, type SimulatedReply, type SimulatedRequest } from './simulated-reply.ts'

export type KlingSimulatorOptions = {
  /** The jobs and the tokens live on this clock. */
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>
  readonly keys?: { readonly accessKey: string; readonly secretKey: string }
  /** Where clips are linked to; without a slash at its end. */
  readonly filesUrl?: () => string
  /** How long a job takes unless its behavior says otherwise. */
  readonly jobMs?: number
  /** Running jobs at once; more are refused with the code 1303. */
  readonly parallelMax?: number
  readonly clipOf?: (durationMs: number) => Uint8Array<ArrayBuffer>
}

/** What the provider believes of one job: the oracle that a run is checked against. */
export type KlingLedgerRow = {
  readonly taskId: string
  readonly externalTaskId: string | undefined
  readonly kind: CreateKind
  readonly prompt: string
  readonly acceptedAtMs: number
  readonly state: 'running' | 'succeed' | 'failed'
  readonly endedAtMs: number | undefined
  readonly seconds: number
  /** What the operator owes for it: nothing before its end, and nothing for a failure. */
  readonly unitsCharged: number
  /** Whether the answer to its create named it. */
  readonly isConfirmed: boolean
  /** How many creates carried its external id, refused ones included. More than one is a submit that was repeated. */
  readonly creates: number
}

export type CreateKind = 'text2video' | 'image2video'

export type SimulatedJob = {
  readonly taskId: string
  readonly externalTaskId: string | undefined
  readonly kind: CreateKind
  readonly prompt: string
  readonly seconds: number
  readonly acceptedAtMs: number
  readonly endsAtMs: number
  readonly isConfirmed: boolean
  readonly behavior: JobBehavior
}

/** Not part of the API that is simulated. */
const CONTROL = '/__sim/kling/'
type ControlScript = {
  readonly submits?: readonly SubmitBehaviorName[]
  readonly polls?: readonly PollBehaviorName[]
}

const JOB_MS = 5000
const FIRST_TASK = 700_000_000_001
const UNITS_A_SECOND = 2
/** A fifth of a job's time is spent waiting. */
const SUBMITTED_SHARE = 0.2

/** The Kling API in memory, as far as the gateway uses it. */
export class KlingSimulator {
  /** Creates that arrived, refused ones included. */
  creates = 0
  polls = 0
  readonly #options: KlingSimulatorOptions
  readonly #jobs: SimulatedJob[] = []
  readonly #createsOf = new Map<string, number>()
  readonly #submits: SubmitBehavior[] = []
  readonly #polls: PollBehavior[] = []

  constructor(options: KlingSimulatorOptions) {
    this.#options = options
  }

  /** What the next creates are treated like, one each; those that come after are accepted. */
  scriptSubmits(...behaviors: readonly (SubmitBehaviorName | SubmitBehavior)[]): void {
    for (const one of behaviors) this.#submits.push(typeof one === 'string' ? submitBehaviors[one] : one)
  }

  /** What the next queries are treated like, one each. */
  scriptPolls(...behaviors: readonly (PollBehaviorName | PollBehavior)[]): void {
    for (const one of behaviors) this.#polls.push(isPollName(one) ? pollBehaviors[one] : one)
  }

  /** What the provider believes it accepted, finished and charged, in the order of the creates. */
  ledger(): readonly KlingLedgerRow[] {
    return this.#jobs.map(job => {
      const { taskId, externalTaskId, kind, prompt, seconds, acceptedAtMs, endsAtMs, isConfirmed } = job
      const state = stateOf(job, this.#nowMs())
      return {
        taskId,
        externalTaskId,
        kind,
        prompt,
        seconds,
        acceptedAtMs,
        isConfirmed,
        state,
        endedAtMs: state === 'running' ? undefined : endsAtMs,
        unitsCharged: state === 'succeed' ? UNITS_A_SECOND * seconds : 0,
        creates: this.#createsOf.get(externalTaskId ?? '') ?? 1,
      }
    })
  }

  handle(request: SimulatedRequest): SimulatedReply {
    const { method, path, headers, body } = request
    const { pathname, search } = new URL(path, 'http://simulator')
    if (pathname.startsWith(CONTROL)) return this.#control(request)
    const [, file] = /^\/files\/(.+)\.mp4$/.exec(pathname) ?? []
    if (file !== undefined) return this.#file(file, search !== '')
    const { keys, clock } = this.#options
    const refused =
      keys === undefined ? undefined : refusalOfToken(headers['authorization'], keys, clock.now())
    if (refused !== undefined) return envelope(401, refused)
    const [, kind, id] = /^\/v1\/videos\/(text2video|image2video)(?:\/(.+))?$/.exec(pathname) ?? []
    if (kind !== undefined && method === 'POST' && id === undefined)
      return this.#create(kind as CreateKind, body)
    if (kind !== undefined && method === 'GET' && id === undefined) return this.#list(kind, search)
    if (kind !== undefined && method === 'GET' && id !== undefined)
      return this.#query(kind, decodeURIComponent(id))
    return envelope(404, 1202)
  }

  /** For a test in another process: `POST script` with lists of names, and `GET ledger`. */
  #control({ method, path, body }: SimulatedRequest): SimulatedReply {
    if (method === 'GET' && path === `${CONTROL}ledger`) return jsonReply({ jobs: this.ledger() })
    if (method !== 'POST' || path !== `${CONTROL}script`) return htmlReply(404)
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

  #create(kind: CreateKind, body: string): SimulatedReply {
    this.creates += 1
    const asked = readCreate(body)
    if (asked === undefined) return envelope(400, 1200)
    const { externalTaskId } = asked
    if (externalTaskId !== undefined) {
      this.#createsOf.set(externalTaskId, (this.#createsOf.get(externalTaskId) ?? 0) + 1)
      if (this.#jobs.some(job => job.externalTaskId === externalTaskId)) return envelope(400, 1201)
    }
    const behavior = this.#submits.shift() ?? submitBehaviors.accept
    if (!behavior.accepts) return this.#answer(behavior, undefined)
    const running = this.#jobs.filter(({ endsAtMs }) => this.#nowMs() < endsAtMs)
    if (running.length >= (this.#options.parallelMax ?? Infinity)) return envelope(429, 1303)
    const previous = this.#jobs.at(-1)
    const job = this.#accept(kind, asked, behavior)
    return this.#answer(behavior, behavior.answer === 'previous_id' ? (previous ?? job) : job)
  }

  #accept(kind: CreateKind, asked: Asked, { answer, job: behavior = {} }: SubmitBehavior): SimulatedJob {
    const nowMs = this.#nowMs()
    const job: SimulatedJob = {
      ...asked,
      kind,
      behavior,
      taskId: behavior.taskId ?? String(FIRST_TASK + this.#jobs.length),
      acceptedAtMs: nowMs,
      endsAtMs: nowMs + (behavior.endsAfterMs ?? this.#options.jobMs ?? JOB_MS),
      isConfirmed: answer === 'normal',
    }
    this.#jobs.push(job)
    return job
  }

  #answer({ answer }: SubmitBehavior, job: SimulatedJob | undefined): SimulatedReply {
    if (typeof answer === 'object') {
      const { status, code, retryAfterS, isHtml } = answer
      return isHtml === true ? htmlReply(status) : envelope(status, code, retryAfterS)
    }
    switch (answer) {
      case 'normal':
      case 'previous_id':
        return job === undefined ? envelope(500, 5000) : success(this.#task(job))
      case 'reset':
      case 'nothing':
        return { send: answer }
      case 'html':
        return htmlReply()
      case 'empty':
        return { send: 'answer', status: 200, headers: {}, body: '' }
      case 'truncated':
        return { send: 'answer', status: 200, headers: {}, body: '{"code":0,"data":{"task_i' }
      case 'no_id':
        return success({})
      case 'unlisted_code':
        return jsonReply({ code: 1999, message: 'Simulated code 1999', data: job && this.#task(job) })
    }
  }

  #query(kind: string, id: string): SimulatedReply {
    this.polls += 1
    const behavior = this.#polls.shift() ?? 'normal'
    if (typeof behavior === 'object') return envelope(behavior.status, behavior.code, behavior.retryAfterS)
    if (behavior === 'reset' || behavior === 'nothing') return { send: behavior }
    if (behavior === 'html') return htmlReply()
    const job = this.#jobs.find(job => job.kind === kind && (job.taskId === id || job.externalTaskId === id))
    if (job === undefined || this.#isForgotten(job)) return envelope(404, 1203)
    if (behavior === 'normal') return success(this.#task(job))
    if (behavior === 'no_external_id') return success({ ...this.#task(job), task_info: {} })
    const task_status = { no_status: undefined, backwards: 'submitted', unknown_status: 'dreaming' }[behavior]
    return success({ ...this.#task(job), task_status, task_result: undefined })
  }

  /** Newest first. */
  #list(kind: string, search: string): SimulatedReply {
    const query = new URLSearchParams(search)
    const size = Number(query.get('pageSize') ?? 30)
    const start = (Number(query.get('pageNum') ?? 1) - 1) * size
    const listed = this.#jobs.filter(job => job.kind === kind && !this.#isForgotten(job)).toReversed()
    return success(listed.slice(start, start + size).map(job => this.#task(job)))
  }

  #isForgotten({ endsAtMs, behavior }: SimulatedJob): boolean {
    return this.#nowMs() >= endsAtMs + (behavior.forgottenAfterMs ?? Infinity)
  }

  #task(job: SimulatedJob): object {
    return taskOf(job, { nowMs: this.#nowMs(), filesUrl: this.#filesUrl() })
  }

  #file(name: string, isRedirected: boolean): SimulatedReply {
    const job = this.#jobs.find(job => fileName(job) === name)
    const { clipOf = tinyMp4 } = this.#options
    return clipReply(job, { clipOf, filesUrl: this.#filesUrl(), isRedirected })
  }

  #filesUrl(): string {
    return this.#options.filesUrl?.() ?? 'http://files.invalid'
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs()
  }
}

function isPollName(behavior: PollBehaviorName | PollBehavior): behavior is PollBehaviorName {
  return typeof behavior === 'string' && behavior in pollBehaviors
}

type Asked = Pick<SimulatedJob, 'prompt' | 'seconds' | 'externalTaskId'>

/** Undefined for what the API cannot read. */
function readCreate(body: string): Asked | undefined {
  try {
    const { prompt, duration = '5', external_task_id } = JSON.parse(body) as Record<string, unknown>
    const seconds = Number(duration)
    const isRight = typeof prompt === 'string' && typeof duration === 'string' && seconds > 0
    const externalTaskId = typeof external_task_id === 'string' ? external_task_id : undefined
    return isRight ? { prompt, seconds, externalTaskId } : undefined
  } catch {
    return undefined
  }
}

function stateOf(
  { acceptedAtMs, endsAtMs, behavior }: SimulatedJob,
  nowMs: number,
): 'running' | 'succeed' | 'failed' {
  if (nowMs < Math.max(endsAtMs, acceptedAtMs)) return 'running'
  return behavior.fails === true ? 'failed' : 'succeed'
}

/** A task as the API shows it. */
function taskOf(
  job: SimulatedJob,
  { nowMs, filesUrl }: { readonly nowMs: number; readonly filesUrl: string },
): object {
  const { taskId, externalTaskId, acceptedAtMs, endsAtMs, seconds, behavior } = job
  const state = stateOf(job, nowMs)
  const isSubmitted = nowMs - acceptedAtMs < SUBMITTED_SHARE * (endsAtMs - acceptedAtMs)
  const running = behavior.statusWord ?? (isSubmitted ? 'submitted' : 'processing')
  const units = 'reportedUnits' in behavior ? behavior.reportedUnits : String(UNITS_A_SECOND * seconds)
  return {
    task_id: taskId,
    task_status: state === 'running' ? running : state,
    task_status_msg: state === 'failed' ? 'Failure to pass the risk control system' : '',
    task_info: { external_task_id: externalTaskId },
    ...(state === 'succeed'
      ? { task_result: { videos: videosOf(job, filesUrl) }, final_unit_deduction: units }
      : {}),
    created_at: acceptedAtMs,
    updated_at: Math.min(nowMs, endsAtMs),
  }
}

function videosOf(job: SimulatedJob, filesUrl: string): unknown {
  const { behavior, taskId, seconds } = job
  if ('videos' in behavior) return behavior.videos
  const duration =
    'reportedDuration' in behavior ? behavior.reportedDuration : String(behavior.clipS ?? seconds)
  return [{ id: `v-${taskId}`, url: behavior.url ?? `${filesUrl}/${fileName(job)}.mp4`, duration }]
}

/** Ids may be anything, and the names of files are plain. */
export function fileName({ taskId }: Pick<SimulatedJob, 'taskId'>): string {
  return Bun.hash(taskId).toString(36)
}

function success(data: object): SimulatedReply {
  return jsonReply({ code: 0, message: 'SUCCEED', request_id: 'simulated', data })
}

function envelope(status: number, code?: number, retryAfterS?: number): SimulatedReply {
  const wait = retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }
  if (code === undefined) return htmlReply(status, wait)
  return jsonReply({ code, message: `Simulated code ${code}`, request_id: 'simulated' }, status, wait)
}
