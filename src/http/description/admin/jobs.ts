import { jobTransitions, jobIdPrefix } from '../../../domain/jobs/job.ts'
import { attributionMembers } from '../account.ts'
import { ok, pageParameters, type Parameter, type Paths } from '../operation.ts'
import {
  about,
  anything,
  count,
  dateTime,
  idOf,
  listOf,
  mapOf,
  nullable,
  object,
  pageSchema,
  ref,
  text,
  usd,
  words,
  type Members,
} from '../schema.ts'
import { bytes, fileHeaders, partHeaders, rangeHeaders } from '../videos.ts'

export const AT = '2026-11-21T05:50:09.183Z'
export const jobKinds = Object.keys(jobIdPrefix)
const states = Object.keys(jobTransitions)

const jobMembers = {
  id: idOf(...Object.values(jobIdPrefix)),
  request_id: about('Of the request that created it. Null if an earlier version did.', nullable(idOf('req'))),
  kind: words(jobKinds),
  state: words(states),
  account: nullable(idOf('acct')),
  account_name: nullable(text),
  key: nullable(idOf('key')),
  route: text,
  model: text,
  provider: text,
  upstream_id: nullable(text),
  held_usd: usd,
  cost_usd: nullable(usd),
  provider_cost_usd: about(
    'The cost of the job: as the provider reported it, or by the `cost` of the row.',
    nullable(usd),
  ),
  created_at: dateTime,
  changed_at: dateTime,
}

export const adminJobSchemas: Members = {
  Job: object(jobMembers, attributionMembers),
  JobDetails: object(
    {
      ...jobMembers,
      why: text,
      next: about('Null once nothing more happens.', nullable(text)),
      next_at: nullable(dateTime),
      upstream_model: text,
      upstream_status: nullable(text),
      problem: nullable(text),
      failure: nullable(object({ reason: text, code: nullable(text), message: text })),
      node: text,
      submitted_at: nullable(dateTime),
      next_poll_at: dateTime,
      deadline_at: dateTime,
      watched_until: nullable(dateTime),
      archived_at: nullable(dateTime),
      loss_usd: nullable(usd),
      request: object({
        params: mapOf(anything),
        count,
        duration: nullable({ type: 'number' }),
        images: count,
        videos: count,
      }),
      duration: nullable({ type: 'number' }),
      outputs: listOf(object({ key: text, bytes: count, media_type: text, sha256: text })),
      history: listOf(object({ state: words(states), detail: nullable(text), at: dateTime })),
    },
    attributionMembers,
  ),
}

export const jobExample = {
  id: 'vid_01m81jy9wb0002mkb67zqax8qd',
  request_id: 'req_01m81jy9wa000t3c8hvkz5m2qe',
  kind: 'video',
  state: 'processing',
  account: 'acct_01m7yafb7z000c1awn4tmfekz0',
  account_name: 'ada',
  key: 'key_01m7yafb7z000c1awn4tmfekz0',
  route: 'videos',
  model: 'sandbox-video',
  provider: 'sandbox',
  upstream_id: 'job-1',
  held_usd: '0.25',
  cost_usd: null,
  provider_cost_usd: null,
  created_at: AT,
  changed_at: AT,
}
const details = {
  ...jobExample,
  why: 'The provider accepted the job and works on it.',
  next: 'The provider is asked for its state.',
  next_at: AT,
  upstream_model: 'video',
  upstream_status: 'running',
  problem: null,
  failure: null,
  node: 'node-1',
  submitted_at: AT,
  next_poll_at: AT,
  deadline_at: AT,
  watched_until: null,
  archived_at: null,
  loss_usd: null,
  request: { params: { aspect_ratio: '16:9' }, count: 1, duration: 5, images: 0, videos: 0 },
  duration: null,
  outputs: [],
  history: [{ state: 'queued', detail: null, at: AT }],
}

const common = { tag: 'Admin: reading and checking', access: 'admin' } as const
export const ofAccount: Parameter = {
  name: 'account',
  in: 'query',
  description: 'The id or the name of an account. Default: all.',
  schema: text,
  example: 'ada',
}
const jobParameter: Parameter = {
  name: 'job',
  in: 'path',
  description: 'The id of the job.',
  schema: jobMembers.id,
  example: jobExample.id,
}
export const lastPage = { has_more: false, next: null }

/** Image and video jobs, and the files that they made. */
export const adminJobPaths: Paths = {
  jobs: {
    get: {
      ...common,
      id: 'listJobs',
      summary: 'Image and video jobs, newest first',
      parameters: [
        ofAccount,
        { name: 'kind', in: 'query', description: 'Only jobs of this kind.', schema: words(jobKinds) },
        { name: 'state', in: 'query', description: 'Only jobs in this state.', schema: words(states) },
        ...pageParameters,
      ],
      replies: ok('A page.', pageSchema(ref('Job')), { data: [jobExample], ...lastPage }),
      errors: ['invalid_field', 'not_found'],
    },
  },
  'jobs/{job}': {
    get: {
      ...common,
      id: 'readJob',
      summary: 'A job, why it is in its state, what happens next, and its history',
      parameters: [jobParameter],
      replies: ok('The job.', ref('JobDetails'), details),
      errors: ['not_found'],
    },
  },
  'jobs/{job}/content/{n}': {
    get: {
      ...common,
      id: 'readJobContent',
      summary: 'An image or a clip that a job made',
      description:
        'The reply has the type of the file if browsers can show it safely, and else `application/octet-stream`. Its headers keep a browser from running it.',
      parameters: [
        jobParameter,
        {
          name: 'n',
          in: 'path',
          description: 'The place among the `outputs` of the job, from 0.',
          schema: count,
          example: 0,
        },
        ...rangeHeaders,
      ],
      replies: {
        200: { description: 'The file.', content: bytes, headers: fileHeaders },
        206: { description: 'The bytes that `Range` asks for.', content: bytes, headers: partHeaders },
        304: { description: 'The client has this file.', headers: fileHeaders },
      },
      errors: ['not_found', 'content_archived', 'range_not_satisfiable', 'unavailable'],
    },
  },
}
