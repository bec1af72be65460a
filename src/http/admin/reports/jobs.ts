import { formatId } from '../../../domain/ids.ts'
import {
  jobTransitions,
  isFinal,
  jobIdPrefix,
  type Job,
  type JobKind,
  type JobState,
} from '../../../domain/jobs/job.ts'
import { formatUsd, ZERO, type NanoUsd } from '../../../domain/money.ts'
import { MS_PER_S, instant } from '../../../domain/time.ts'
import { parseJobId, publicId } from '../../../gateway/media/job-id.ts'
import type { BufferedReply } from '../../request-context.ts'
import { accountOf } from '../accounts/accounts.ts'
import { wrongField } from '../body.ts'
import { adminReply, type AdminCall } from '../call.ts'
import type { ReportPorts } from '../ports.ts'
import { absenceOf, found } from '../found.ts'
import { attributionJson } from '../../account/usage.ts'
import { publicNames, type PublicNames } from './public-names.ts'
import { readAdminPage } from '../query.ts'

const kinds = Object.keys(jobIdPrefix) as readonly JobKind[]
const states = Object.keys(jobTransitions) as readonly JobState[]

/** One page of jobs, newest first. They can be limited to one account, kind and state. */
export async function listJobs({ query }: AdminCall, ports: ReportPorts): Promise<BufferedReply> {
  const { limit, cursor } = readAdminPage(query, ['account', 'kind', 'state'])
  const named = query.get('account')
  const account = named === null ? undefined : await accountOf({ account: named }, ports)
  const kind = oneOf(query, 'kind', kinds)
  const state = oneOf(query, 'state', states)
  const { jobs, next } = await ports.jobs.list({
    limit,
    ...(account === undefined ? {} : { accountId: account.id }),
    ...(kind === undefined ? {} : { kind }),
    ...(state === undefined ? {} : { state }),
    ...(cursor === undefined ? {} : { cursor }),
  })
  const names = await publicNames(jobs, ports)
  return adminReply({
    data: jobs.map(job => jobBody(job, names)),
    has_more: next !== undefined,
    next: next ?? null,
  })
}

/** One job: its state, why it is in that state, what happens next, and what happened before. */
export async function getJob({ params }: AdminCall, ports: ReportPorts): Promise<BufferedReply> {
  const job = await jobOf(params, ports)
  const names = await publicNames([job], ports)
  const { why, next, nextAtMs } = ports.explainJob(job)
  const history = await ports.jobs.history(job.id)
  return adminReply({
    ...jobBody(job, names),
    why,
    next,
    next_at: instantOrNull(nextAtMs),
    ...detailsBody(job),
    history: history.map(({ state, detail, atMs }) => ({ state, detail, at: instant(atMs) })),
  })
}

/** The job that a path names. Throws `not_found`. */
export async function jobOf(params: AdminCall['params'], ports: Pick<ReportPorts, 'jobs'>): Promise<Job> {
  const id = params['job'] ?? ''
  return found(await jobNamed(id, ports), () => absenceOf('job', id))
}

async function jobNamed(text: string, { jobs }: Pick<ReportPorts, 'jobs'>): Promise<Job | undefined> {
  const kind = kinds.find(each => text.startsWith(`${jobIdPrefix[each]}_`))
  const id = kind === undefined ? undefined : parseJobId(kind, text)
  const job = id === undefined ? undefined : await jobs.find(id)
  return job?.kind === kind ? job : undefined
}

function jobBody(job: Job, { accounts, accountNames, keys }: PublicNames) {
  return {
    id: publicId(job),
    request_id: job.requestId && formatId('req', job.requestId),
    kind: job.kind,
    state: job.state,
    account: accounts.get(job.accountId) ?? null,
    account_name: accountNames.get(job.accountId) ?? null,
    key: keys.get(job.apiKeyId) ?? null,
    route: job.route,
    model: job.model,
    provider: job.provider,
    upstream_id: job.upstreamId,
    ...attributionJson(job),
    held_usd: formatUsd(isFinal(job.state) ? ZERO : job.held),
    cost_usd: usdOrNull(job.cost),
    provider_cost_usd: usdOrNull(job.providerCost),
    created_at: instant(job.createdAtMs),
    changed_at: instant(job.changedAtMs),
  }
}

/** Leaves out the prompt, which belongs to the customer. */
function detailsBody(job: Job) {
  const { request, failure } = job
  return {
    upstream_model: job.upstreamModel,
    upstream_status: job.upstreamStatus,
    problem: job.problem,
    failure: failure && { reason: failure.reason, code: failure.code ?? null, message: failure.message },
    node: job.node,
    submitted_at: instantOrNull(job.submittedAtMs),
    next_poll_at: instant(job.nextPollAtMs),
    deadline_at: instant(job.deadlineAtMs),
    watched_until: instantOrNull(job.watchUntilMs),
    archived_at: instantOrNull(job.archivedAtMs),
    loss_usd: usdOrNull(job.loss),
    request: {
      params: request.params,
      count: request.count,
      duration: request.durationMs === undefined ? null : request.durationMs / MS_PER_S,
      images: request.images.length,
      videos: request.videos.length,
    },
    duration: job.durationMs === null ? null : job.durationMs / MS_PER_S,
    outputs: job.outputs.map(({ key, bytes, mediaType, sha256 }) => ({
      key,
      bytes,
      media_type: mediaType,
      sha256,
    })),
  }
}

function oneOf<Value extends string>(
  query: URLSearchParams,
  name: string,
  values: readonly Value[],
): Value | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const value = values.find(each => each === text)
  if (value === undefined) throw wrongField(name, `must be one of ${values.join(', ')}`)
  return value
}

function usdOrNull(amount: NanoUsd | null): string | null {
  return amount === null ? null : formatUsd(amount)
}

function instantOrNull(atMs: number | null): string | null {
  return atMs === null ? null : instant(atMs)
}
