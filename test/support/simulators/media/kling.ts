import { refusalOfToken } from '../kling-auth.ts'
import { htmlReply, jsonReply, type SimulatedReply } from '../simulated-reply.ts'
import type { ErrorAnswer, ErrorName } from './behaviors.ts'
import type { Asked, Call, Dialect, JobView, ReadableRequest } from './dialect.ts'
import { readJson } from './read-json.ts'

const VIDEOS = /^\/v1\/videos\/(text2video|image2video)(?:\/(.+))?$/
const FIRST_TASK = 700_000_000_001
const UNITS_A_SECOND = 2

const errors: Readonly<Record<ErrorName, { readonly status: number; readonly code: number }>> = {
  invalid: { status: 400, code: 1201 },
  safety: { status: 400, code: 1301 },
  rate_limited: { status: 429, code: 1302 },
  no_credit: { status: 429, code: 1102 },
  key_refused: { status: 401, code: 1002 },
  not_found: { status: 404, code: 1203 },
  server: { status: 500, code: 5000 },
}

type Keys = { readonly accessKey: string; readonly secretKey: string }

/** The Kling API, as far as the gateway uses it. With keys, it checks the tokens of requests. */
export function klingDialect(auth?: { readonly keys: Keys; readonly nowMs: () => number }): Dialect {
  return {
    name: 'kling',

    read(request, { jobs }) {
      const refused =
        auth === undefined
          ? undefined
          : refusalOfToken(request.headers['authorization'], auth.keys, auth.nowMs())
      if (refused !== undefined) return { key: undefined, call: 'other', reply: envelope(401, refused) }
      return callOf(request, jobs)
    },

    created: job => success(taskOf({ ...job, state: 'queued' })),
    createdWithoutId: () => success({}),

    /** A job is found by either id, under the kind that it was created with. */
    task: (job, { about }) =>
      about === job.asked.extra?.['kind'] ? success(taskOf(job)) : envelope(404, 1203),

    error(name: ErrorName, { status = errors[name].status, retryAfterS }: ErrorAnswer) {
      return envelope(status, errors[name].code, retryAfterS)
    },

    idOf: number => String(FIRST_TASK + number),
  }
}

function callOf({ method, pathname, query, body }: ReadableRequest, jobs: readonly JobView[]): Call {
  const key = undefined
  const [, kind, id] = VIDEOS.exec(pathname) ?? []
  if (kind === undefined) return { key, call: 'other', reply: envelope(404, 1202) }
  if (method === 'GET' && id !== undefined)
    return { key, call: 'query', id: decodeURIComponent(id), about: kind }
  if (method !== 'POST') return { key, call: 'other', reply: success(page(jobs, kind, query)) }
  const asked = askedOf(body, kind)
  const isTaken = asked?.ourId !== undefined && jobs.some(job => job.asked.ourId === asked.ourId)
  return isTaken ? { key, call: 'other', reply: envelope(400, 1201) } : { key, call: 'create', asked }
}

/** Newest first. */
function page(jobs: readonly JobView[], kind: string, query: URLSearchParams): readonly object[] {
  const size = Number(query.get('pageSize') ?? 30)
  const start = (Number(query.get('pageNum') ?? 1) - 1) * size
  const listed = jobs.filter(({ asked }) => asked.extra?.['kind'] === kind).toReversed()
  return listed.slice(start, start + size).map(taskOf)
}

/** Undefined for what the API cannot read. */
function askedOf(body: string, kind: string): Asked | undefined {
  const { prompt, duration = '5', external_task_id, image, image_tail, video } = readJson(body) ?? {}
  const seconds = Number(duration)
  if (typeof prompt !== 'string' || typeof duration !== 'string' || !(seconds > 0)) return undefined
  return {
    prompt,
    durationMs: seconds * 1000,
    inputs: [image, image_tail, video].filter(input => typeof input === 'string'),
    extra: { kind },
    ...(typeof external_task_id === 'string' ? { ourId: external_task_id } : {}),
  }
}

function taskOf(job: JobView): object {
  const { id, asked, state, status, acceptedAtMs, updatedAtMs } = job
  const task = {
    task_id: id,
    task_info: { external_task_id: asked.ourId },
    created_at: acceptedAtMs,
    updated_at: updatedAtMs,
  }
  if (status === 'none') return task
  if (status === 'unknown') return { ...task, task_status: 'dreaming' }
  switch (state) {
    case 'queued':
      return { ...task, task_status: 'submitted' }
    case 'running':
      return { ...task, task_status: 'processing' }
    case 'failed':
    case 'filtered':
      return { ...task, task_status: 'failed', task_status_msg: 'Failure to pass the risk control system' }
    case 'finished':
      return {
        ...task,
        task_status: 'succeed',
        task_result: { videos: videosOf(job) },
        final_unit_deduction: String((UNITS_A_SECOND * (asked.durationMs ?? 0)) / 1000),
      }
  }
}

/** Lengths are text. */
function videosOf({ outputs, seconds }: JobView): readonly object[] | undefined {
  const duration = typeof seconds === 'number' ? String(seconds) : seconds
  return outputs?.map(({ file, url }) => ({ id: `v-${file}`, url, duration }))
}

function success(data: object): SimulatedReply {
  return jsonReply({ code: 0, message: 'SUCCEED', request_id: 'simulated', data })
}

function envelope(status: number, code?: number, retryAfterS?: number): SimulatedReply {
  const wait: Readonly<Record<string, string>> =
    retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }
  if (code === undefined) return htmlReply(status, wait)
  return jsonReply({ code, message: `Simulated code ${code}`, request_id: 'simulated' }, status, wait)
}
