import { adminPath, withQuery, type Ask } from '../../ask.ts'
import { table, type Outcome } from '../../outcome.ts'
import { tagsText, type Attributed } from './usage.ts'

/** A job in the admin API. */
type JobRow = Attributed & {
  readonly id: string
  /** Null for a job of an earlier version. */
  readonly request_id: string | null
  readonly kind: string
  readonly state: string
  readonly account: string | null
  readonly account_name: string | null
  readonly model: string
  readonly provider: string
  readonly upstream_id: string | null
  readonly held_usd: string
  readonly cost_usd: string | null
  readonly created_at: string
  readonly changed_at: string
}

type JobReply = JobRow & {
  readonly why: string
  readonly next: string | null
  readonly next_at: string | null
  readonly submitted_at: string | null
  readonly next_poll_at: string
  readonly deadline_at: string
  readonly problem: string | null
  readonly loss_usd: string | null
  readonly provider_cost_usd: string | null
  readonly history: readonly { readonly state: string; readonly detail: string | null; readonly at: string }[]
}

export type LossFilters = { readonly limit: string; readonly cursor?: string }

type LossRow = {
  readonly id: string
  readonly reason: string
  readonly account_name: string | null
  readonly model: string
  readonly provider: string
  readonly loss_usd: string
  readonly provider_cost_usd: string | null
  readonly at: string
}

type LossPage = { readonly data: readonly LossRow[]; readonly next: string | null }

export type JobFilters = {
  readonly account?: string
  readonly kind?: string
  readonly state?: string
  readonly limit: string
  readonly cursor?: string
}

/** Prints one page of image and video jobs, newest first. */
export async function listJobs(ask: Ask, filters: JobFilters): Promise<Outcome> {
  const page = await ask<{ readonly data: readonly JobRow[]; readonly next: string | null }>({
    method: 'GET',
    path: withQuery('jobs', filters),
  })
  const rows = page.data.map(job => [
    job.created_at,
    job.id,
    job.state,
    job.model,
    job.provider,
    job.account_name ?? '–',
    job.cost_usd ?? (isOpen(job) ? `(${job.held_usd})` : '0'),
  ])
  const head = ['CREATED', 'ID', 'STATE', 'MODEL', 'PROVIDER', 'ACCOUNT', 'USD (HELD)']
  return {
    value: page,
    text: rows.length === 0 ? 'No jobs.' : table(head, rows),
    ...(page.next === null ? {} : { note: `Older jobs: --cursor ${page.next}` }),
  }
}

/** Prints the jobs and attempts that cost the operator money and that no customer paid for. */
export async function listLosses(ask: Ask, filters: LossFilters): Promise<Outcome> {
  const page = await ask<LossPage>({
    method: 'GET',
    path: withQuery('losses', filters),
  })
  const rows = page.data.map(line => [
    line.at,
    line.id,
    line.reason,
    line.model,
    line.provider,
    line.account_name ?? '–',
    line.loss_usd,
    line.provider_cost_usd ?? '–',
  ])
  const head = ['AT', 'ID', 'REASON', 'MODEL', 'PROVIDER', 'ACCOUNT', 'LOSS USD', 'PROVIDER COST USD']
  return {
    value: page,
    text: rows.length === 0 ? 'No losses.' : table(head, rows),
    ...(page.next === null ? {} : { note: `Older losses: --cursor ${page.next}` }),
  }
}

/** All jobs and attempts of that kind since a day, newest first, page by page. */
export async function* lossesSince(ask: Ask, day: string): AsyncGenerator<LossRow> {
  let cursor: string | null = ''
  while (cursor !== null) {
    const path = `losses?limit=500${cursor === '' ? '' : `&cursor=${cursor}`}`
    const page: LossPage = await ask<LossPage>({ method: 'GET', path })
    for (const loss of page.data) {
      if (loss.at < day) return
      yield loss
    }
    cursor = page.next
  }
}

/** Whether its money is still held. */
function isOpen({ state }: JobRow): boolean {
  return state !== 'completed' && state !== 'failed'
}

/** Prints the state of a job, why it is in that state, what happens next, and what happened before. */
export async function showJob(ask: Ask, id: string): Promise<Outcome> {
  const job = await ask<JobReply>({ method: 'GET', path: adminPath('jobs', id) })
  const lines = [
    ['state', job.state],
    ['why', job.why],
    ['next', nextLine(job)],
    ['account', `${job.account_name ?? '–'} (${job.account ?? '–'})`],
    ['request', job.request_id ?? '–'],
    ...(job.tags === undefined ? [] : [['tags', tagsText(job)]]),
    ...(job.user === undefined ? [] : [['user', job.user]]),
    ['model', `${job.model} at ${job.provider}`],
    ['upstream id', job.upstream_id ?? '–'],
    ['money', isOpen(job) ? `${job.held_usd} USD reserved` : `${job.cost_usd ?? '0'} USD charged`],
    ...(job.loss_usd === null ? [] : [['loss', `${job.loss_usd} USD`]]),
    ...(job.provider_cost_usd === null ? [] : [['provider cost', `${job.provider_cost_usd} USD`]]),
    ['submitted', job.submitted_at ?? 'not yet'],
    ...(isOpen(job)
      ? [
          ['next poll', job.next_poll_at],
          ['deadline', job.deadline_at],
        ]
      : []),
    ...(job.problem === null ? [] : [['last problem', job.problem]]),
  ]
  const width = Math.max(...lines.map(([name = '']) => name.length))
  const events = job.history.map(({ at, state, detail }) => [at, state, detail ?? ''])
  const text = [
    job.id,
    ...lines.map(([name = '', value]) => `${name.padEnd(width)}  ${value}`),
    '',
    table(['AT', 'STATE', 'WHAT HAPPENED'], events),
  ].join('\n')
  return { value: job, text }
}

function nextLine({ next, next_at: nextAt }: JobReply): string {
  if (next === null) return 'nothing'
  return nextAt === null ? next : `${next} (${nextAt})`
}
