import { GatewayError } from '../../src/domain/errors.ts'
import type { Job, JobKind } from '../../src/domain/jobs/job.ts'
import { readJob } from '../../src/gateway/media/read-job.ts'
import type { Authenticated } from '../../src/gateway/ports/access/api-keys.ts'
import type { Cluster } from './cluster.ts'
import { handle, type MediaRequest } from './media-request.ts'
import { ConnectionLost, type SimulatedNode } from './node.ts'
import type { Random } from './random.ts'
import { aRequest } from './requests.ts'
import type { Views } from './views.ts'
import { isInjected, publicId, type World } from './world.ts'

export type Customers = { readonly world: World; readonly cluster: Cluster; readonly views: Views }

/**
 * Everything that one client does about one request: sends it, perhaps twice, leaves or waits, and asks for its job.
 */
export async function runCustomer(
  callers: readonly Authenticated[],
  { world, cluster, views }: Customers,
): Promise<void> {
  const random = world.random.fork()
  const { outside } = cluster
  const { scheduler, plan } = world
  const sleep = (ms: number) => scheduler.pause(outside, ms)
  const client = new Client({ world, cluster, views, random, sleep })

  await sleep(random.integer(0, plan.spanMs))
  const request = aRequest(random.pick(callers), { world, random })
  const sent = [client.send(request)]
  if (request.idempotencyKey !== undefined && random.chance(0.5)) {
    if (random.chance(0.5)) await sleep(random.magnitude(1, 60_000))
    sent.push(client.send(request))
  }
  const jobs = (await Promise.all(sent)).filter(job => job !== undefined)
  for (const job of jobs) await client.follow(job, request.caller)
}

type ClientParts = Customers & { readonly random: Random; readonly sleep: (ms: number) => Promise<void> }

class Client {
  readonly #parts: ClientParts

  constructor(parts: ClientParts) {
    this.#parts = parts
  }

  /** Undefined where there is no job, or where the client did not stay to learn of it. */
  async send(request: MediaRequest): Promise<Job | undefined> {
    const { world, views, random, sleep } = this.#parts
    const leaving = new AbortController()
    if (random.chance(0.2)) void sleep(random.magnitude(1, 120_000)).then(() => leaving.abort())
    views.sent(request)
    const since = world.scheduler.steps
    try {
      const job = await this.#on(async node => {
        const caller = await world.secrets.admit(request.caller, node, random)
        return caller && handle({ ...request, caller }, leaving.signal, { node, world })
      })
      if (job !== undefined) views.created(request, job, since)
      return job
    } catch (error) {
      views.refused(request, error, leaving.signal.aborted)
      return undefined
    }
  }

  /** Asks for the job a few times, on any node; sometimes on all nodes at once. */
  async follow({ id, kind }: Job, { account }: Authenticated): Promise<void> {
    const { random, sleep, cluster } = this.#parts
    for (let times = random.integer(0, 6); times > 0; times -= 1) {
      await sleep(random.magnitude(1, 600_000))
      const reads = random.chance(0.3) ? cluster.nodes.length : 1
      await Promise.all(
        Array.from({ length: reads }, () => this.#read(publicId({ id, kind }), kind, account.id)),
      )
    }
  }

  async #read(id: string, kind: JobKind, accountId: number): Promise<void> {
    const { world, views } = this.#parts
    const since = world.scheduler.steps
    const read = await this.#on(node => readJob(id, kind, { accountId }, node)).catch((error: unknown) => {
      if (!isInjected(error)) world.violated(`job ${id} could not be read: ${String(error)}`)
    })
    if (read !== undefined) views.seen(read, since)
  }

  /** Does something on a node that runs. Undefined where there is none, or where it dies meanwhile. */
  async #on<Answer>(work: (node: SimulatedNode) => Promise<Answer>): Promise<Answer | undefined> {
    const { nodes } = this.#parts.cluster
    if (nodes.length === 0) return undefined
    const node = this.#parts.random.pick(nodes)
    return node
      .serve(() => work(node))
      .catch((error: unknown) => {
        if (error instanceof ConnectionLost) return undefined
        throw error
      })
  }
}

/** Whether a refusal is one that a client can get: by a rule of the gateway, or because the store cannot be written. */
export function isRefusal(error: unknown): error is GatewayError {
  return error instanceof GatewayError && (error.code !== 'unavailable' || isInjected(error))
}
