import type { Job, JobState, StoredFile } from '../../src/domain/jobs/job.ts'
import { nanoUsd, usd, ZERO, type NanoUsd } from '../../src/domain/money.ts'
import type { JobResult, Jobs, NewJob } from '../../src/gateway/ports/media/jobs.ts'
import { anId, NOW, openWithFunds } from './ledger-builders.ts'
import type { OpenOptions, StoreKind, TestStore } from './test-store.ts'

export const DAY_MS = 86_400_000
/** What a job of `aJob` holds, and what its whole result costs. */
export const HELD = usd('4')
export const COST = usd('3')
/** When a job of `aJob` is released whatever happens. */
export const DEADLINE_MS = NOW + DAY_MS
export const UNKNOWN_DEADLINE_MS = NOW + 900_000

export type Payer = { readonly accountId: number; readonly apiKeyId: number }

/** A job for four images at one dollar each, which nothing has recorded yet. */
export function aJob({ accountId, apiKeyId }: Payer, change: Partial<NewJob> = {}): NewJob {
  return {
    id: anId(),
    requestId: anId(),
    kind: 'image',
    accountId,
    apiKeyId,
    route: 'images',
    model: 'draw-1',
    provider: 'pics',
    upstreamModel: 'draw/v1',
    request: { prompt: 'A lighthouse', params: { aspect_ratio: '1:1' }, count: 4, images: [], videos: [] },
    quote: { kind: 'images', tariff: { perImage: usd('1') } },
    held: HELD,
    createdAtMs: NOW,
    deadlineAtMs: DEADLINE_MS,
    ...change,
  }
}

export function aVideoJob(payer: Payer, change: Partial<NewJob> = {}): NewJob {
  return aJob(payer, {
    kind: 'video',
    route: 'videos',
    request: { prompt: 'Waves', params: {}, count: 1, durationMs: 5000, images: [], videos: [] },
    quote: { kind: 'video', tariff: { perSecond: usd('0.5') }, heldMs: 8000 },
    ...change,
  })
}

export function aFile(key: string): StoredFile {
  return { key, sha256: 'ab'.repeat(32), bytes: 7, mediaType: 'image/png' }
}

/** Three images of the four. */
export function aResult(change: Partial<JobResult> = {}): JobResult {
  const outputs = [0, 1, 2].map(index => aFile(`img_x/out-${index}`))
  return { outputs, cost: COST, count: 3, atMs: NOW + 5000, ...change }
}

export const aFailure = {
  reason: 'generation_failed',
  code: 'NSFW',
  message: 'The prompt was refused.',
  atMs: NOW + 5000,
} as const

/** A store with an account that has 10 dollars. */
export async function openJobs(kind: StoreKind, options?: OpenOptions) {
  const opened = await openWithFunds(kind, usd('10'), options)
  return { ...opened, jobs: opened.store.jobs, payer: opened }
}

/** Records a job, which must not be refused. */
export async function record(jobs: Jobs, job: NewJob): Promise<Job> {
  const created = await jobs.create(job)
  if (created.outcome !== 'created') throw new Error(`The job was not created: ${created.outcome}.`)
  return created.job
}

let upstreamIds = 0

/** The one step of the port that moves a job to each state. */
export const moveTo = {
  processing: (jobs, id) => {
    upstreamIds += 1
    return jobs.accept(id, { upstreamId: `up-${upstreamIds}`, atMs: NOW + 1000, nextPollAtMs: NOW + 3000 })
  },
  unknown_submit: (jobs, id) =>
    jobs.loseSubmit(id, { problem: 'ECONNRESET', atMs: NOW + 1000, deadlineAtMs: UNKNOWN_DEADLINE_MS }),
  completed: (jobs, id) => jobs.complete(id, aResult()),
  failed: (jobs, id) => jobs.fail(id, aFailure),
} as const satisfies Record<
  Exclude<JobState, 'queued'>,
  (jobs: Jobs, id: Job['id']) => ReturnType<Jobs['fail']>
>

/** A job whose submit has begun, and that was moved to a state. */
export async function jobIn(state: JobState, jobs: Jobs, job: NewJob): Promise<Job> {
  const created = await record(jobs, job)
  const begun = await jobs.beginSubmit(created.id, NOW + 500)
  return state === 'queued' ? begun.job : (await moveTo[state](jobs, created.id)).job
}

/** What the account of 10 dollars must have, given the states of its jobs of `aJob`. */
export function moneyWith(...states: readonly JobState[]) {
  const sum = (amount: NanoUsd, counts: (state: JobState) => boolean) =>
    nanoUsd(BigInt(states.filter(counts).length) * amount)
  const held = sum(HELD, state => state !== 'completed' && state !== 'failed')
  const spent = sum(COST, state => state === 'completed')
  return {
    available: nanoUsd(usd('10') - held - spent),
    held: { text: ZERO, media: held },
    spent: { text: ZERO, media: spent },
  }
}

/** The ledger's balance of the account, once it has found nothing wrong in the books. */
export async function soundBalance({ ledger }: TestStore, accountId: number) {
  const { problems } = await ledger.verify()
  if (problems.length > 0) throw new Error(`The books are not sound: ${JSON.stringify(problems)}`)
  return ledger.balance(accountId)
}
