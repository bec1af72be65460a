import { GatewayError } from '../../src/domain/errors.ts'
import type { Job, JobState } from '../../src/domain/jobs/job.ts'
import { usd } from '../../src/domain/money.ts'
import { fingerprintOf, type MediaRequest } from './media-request.ts'
import { isRefusal } from './customer.ts'
import { publicId, type World } from './world.ts'

/** How far a job has come. A client that asks later never sees less. */
const rankOf = {
  queued: 0,
  unknown_submit: 1,
  processing: 2,
  completed: 3,
  failed: 3,
} as const satisfies Record<JobState, number>

type View = { readonly atStep: number; readonly job: Job }

/** What clients were told, and the rules for it. */
export class Views {
  readonly #world: World
  /** The latest and furthest view of each job. */
  readonly #views = new Map<string, View[]>()
  /** The fingerprints that were sent with each idempotency key, and the job that each made. */
  readonly #keys = new Map<string, Map<string, string | undefined>>()

  constructor(world: World) {
    this.#world = world
  }

  sent(request: MediaRequest): void {
    const name = keyName(request)
    if (name === undefined) return
    const jobs = this.#keys.get(name) ?? new Map<string, string | undefined>()
    this.#keys.set(name, jobs)
    const fingerprint = fingerprintOf(request)
    if (!jobs.has(fingerprint)) jobs.set(fingerprint, undefined)
  }

  created(request: MediaRequest, job: Job, since: number): void {
    this.seen(job, since)
    const name = keyName(request)
    if (name === undefined) return
    const jobs = this.#keys.get(name)!
    const fingerprint = fingerprintOf(request)
    const others = [...jobs.values()].filter(known => known !== undefined && known !== publicId(job))
    if (others.length > 0) this.#world.violated(`key ${name} made ${publicId(job)} and ${others.join(', ')}`)
    jobs.set(fingerprint, publicId(job))
  }

  refused(request: MediaRequest, error: unknown, hasLeft: boolean): void {
    if (!isRefusal(error)) {
      this.#world.violated(`a request failed with ${error instanceof Error ? error.stack : String(error)}`)
      return
    }
    const { code, extras } = error
    if (code === 'malformed_request' && !hasLeft) this.#world.violated('an upload broke by itself')
    if (code === 'idempotency_key_reuse' && (this.#keys.get(keyName(request) ?? '')?.size ?? 0) < 2)
      this.#world.violated('a key was refused as used for another request, and there was none')
    if ((code === 'insufficient_balance' || code === 'budget_exceeded') && isAffordable(extras.extensions))
      this.#world.violated('a request was refused for want of money that was there')
  }

  /** A client got this answer to a question that it asked at step `since`. */
  seen(job: Job, since: number): void {
    const id = publicId(job)
    const views = this.#views.get(id) ?? []
    this.#views.set(id, views)
    for (const before of views) {
      if (before.atStep >= since) continue
      const isBehind = rankOf[job.state] < rankOf[before.job.state]
      const isAnotherEnd =
        rankOf[before.job.state] === 3 && (before.job.state !== job.state || before.job.cost !== job.cost)
      if (isBehind || isAnotherEnd)
        this.#world.violated(`${id} was ${before.job.state}, and then ${job.state}`)
    }
    views.push({ atStep: this.#world.scheduler.steps, job })
  }
}

function keyName({ caller, idempotencyKey }: MediaRequest): string | undefined {
  return idempotencyKey === undefined ? undefined : `${caller.account.name} ${idempotencyKey}`
}

function isAffordable(extensions: GatewayError['extras']['extensions']): boolean {
  const required = extensions?.['required_usd']
  const available = extensions?.['available_usd'] ?? extensions?.['remaining_usd']
  return typeof required === 'string' && typeof available === 'string' && usd(available) >= usd(required)
}
