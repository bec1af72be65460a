import { jsonReply, type SimulatedReply } from '../simulated-reply.ts'
import type { ErrorAnswer, ErrorName } from './behaviors.ts'
import type { Asked, Dialect, JobView } from './dialect.ts'
import { readJson } from './read-json.ts'

/** Of v1, with the HTTP status 200. */
const codes: Readonly<Record<ErrorName, number>> = {
  invalid: 2013,
  safety: 1026,
  rate_limited: 1002,
  no_credit: 1008,
  key_refused: 1004,
  not_found: 2013,
  server: 1013,
}

function bearer(headers: Readonly<Record<string, string>>): string | undefined {
  return /^Bearer (.+)$/.exec(headers['authorization'] ?? '')?.[1]
}

/** An error as v1 has it: in a success, unless a status is asked for. */
function error(name: ErrorName, { status = 200, retryAfterS }: ErrorAnswer): SimulatedReply {
  const wait: Readonly<Record<string, string>> =
    retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }
  return jsonReply(
    { task_id: '', base_resp: { status_code: codes[name], status_msg: `Simulated ${name}` } },
    status,
    wait,
  )
}

const success = { base_resp: { status_code: 0, status_msg: 'success' } }
const idOf = (number: number) => String(106_916_112_212_000 + number)

/** The files of jobs have ids of their own. */
const FILE_IDS = 176_844_028_768_000

/** Version 1 of the MiniMax API: a finished job has a file, whose link is retrieved by a second request. */
export const minimaxV1Dialect: Dialect = {
  name: 'minimax-v1',

  read({ method, pathname, query, headers, body }, { jobs }) {
    const key = bearer(headers)
    if (method === 'POST' && pathname === '/v1/video_generation')
      return { key, call: 'create', asked: askedOfV1(body) }
    if (method === 'GET' && pathname === '/v1/query/video_generation')
      return { key, call: 'query', id: query.get('task_id') ?? '' }
    if (method === 'GET' && pathname === '/v1/files/retrieve') {
      const number = Number(query.get('file_id')) - FILE_IDS
      const job = jobs.find(other => other.number === number)
      return { key, call: 'query', id: job?.id ?? '', about: 'file' }
    }
    return { key, call: 'unknown' }
  },

  created: ({ id }) => jsonReply({ task_id: id, ...success }),
  createdWithoutId: () => jsonReply({ ...success }),
  task: (job, { about }) => {
    const fileId = FILE_IDS + job.number
    return about === 'file' ? fileOf(job, fileId) : jsonReply(taskOfV1(job, fileId))
  },
  error,
  idOf,
}

function askedOfV1(body: string): Asked | undefined {
  const { prompt, duration, first_frame_image, last_frame_image } = readJson(body) ?? {}
  if (typeof prompt !== 'string' || (duration !== undefined && typeof duration !== 'number')) return undefined
  const inputs = [first_frame_image, last_frame_image].filter(input => typeof input === 'string')
  return { prompt, inputs, ...(duration === undefined ? {} : { durationMs: duration * 1000 }) }
}

function taskOfV1({ id: task_id, state, status, outputs }: JobView, fileId: number): object {
  if (status === 'none') return { task_id, ...success }
  if (status === 'unknown') return { task_id, status: 'Dreaming', file_id: '', ...success }
  switch (state) {
    case 'queued':
      return { task_id, status: 'Queueing', file_id: '', ...success }
    case 'running':
      return { task_id, status: 'Processing', file_id: '', ...success }
    case 'failed':
      return {
        task_id,
        status: 'Fail',
        file_id: '',
        ...success,
      }
    case 'filtered':
      return {
        task_id,
        status: 'Fail',
        file_id: '',
        base_resp: { status_code: 1027, status_msg: 'Simulated filter' },
      }
    case 'finished':
      return {
        task_id,
        status: 'Success',
        ...success,
        ...((outputs?.length ?? 0) > 0 ? { file_id: String(fileId) } : {}),
      }
  }
}

function fileOf({ outputs = [] }: JobView, file_id: number): SimulatedReply {
  return jsonReply({ file: { file_id, filename: 'output.mp4', download_url: outputs[0]?.url }, ...success })
}

/** Version 2 of the MiniMax API. */
export const minimaxV2Dialect: Dialect = {
  name: 'minimax-v2',

  read({ method, pathname, headers, body }) {
    const key = bearer(headers)
    if (method === 'POST' && pathname === '/v2/video_generation')
      return { key, call: 'create', asked: askedOfV2(body) }
    const [, id] = /^\/v2\/query\/video_generation\/(.+)$/.exec(pathname) ?? []
    if (method === 'GET' && id !== undefined) return { key, call: 'query', id: decodeURIComponent(id) }
    return { key, call: 'unknown' }
  },

  created: ({ id }) => jsonReply({ task_id: id }),
  createdWithoutId: () => jsonReply({}),
  task: job => jsonReply({ task: taskOfV2(job) }),
  error,
  idOf,
}

function askedOfV2(body: string): Asked | undefined {
  const { content, duration } = readJson(body) ?? {}
  const items = Array.isArray(content) ? (content as Record<string, unknown>[]) : []
  const text = items.find(({ type }) => type === 'text')?.['text']
  if (typeof text !== 'string' || (duration !== undefined && typeof duration !== 'number')) return undefined
  const inputs = items.flatMap(({ image_url, video_url }) => {
    const { url } = (image_url ?? video_url ?? {}) as { url?: string }
    return url === undefined ? [] : [url]
  })
  return { prompt: text, inputs, ...(duration === undefined ? {} : { durationMs: duration * 1000 }) }
}

function taskOfV2({ id, state, status, outputs, seconds, asked }: JobView): object {
  if (status === 'none') return { id }
  if (status === 'unknown') return { id, status: 'dreaming' }
  switch (state) {
    case 'queued':
    case 'running':
      return { id, status: state }
    case 'failed':
      return { id, status: 'failed', error: { code: 1013, message: 'Simulated failure' } }
    case 'filtered':
      return { id, status: 'failed', error: { code: 1027, message: 'Simulated filter' } }
    case 'finished':
      return {
        id,
        status: 'succeeded',
        content: { url: outputs?.[0]?.url, prompt: asked.prompt },
        usage: { total_seconds: seconds, input_seconds: 0, output_seconds: seconds },
      }
  }
}
