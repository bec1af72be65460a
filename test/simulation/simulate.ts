import type { Authenticated } from '../../src/gateway/ports/access/api-keys.ts'
import { aPlan } from './plan.ts'
import { checkBlobs } from './checks/check-blobs.ts'
import { checkBooks } from './checks/check-books.ts'
import { checkJobs } from './checks/check-jobs.ts'
import { checkUpstreams } from './checks/check-upstreams.ts'
import { endedJobs } from './checks/ended-jobs.ts'
import { Cluster } from './cluster.ts'
import { runCustomer } from './customer.ts'
import { drain } from './drain.ts'
import { runOperator, runRotations } from './operator.ts'
import { Random } from './random.ts'
import { Scheduler, type Turn } from './scheduler.ts'
import { template } from './template.ts'
import { NOW } from '../support/ledger-builders.ts'
import { Views } from './views.ts'
import { World } from './world.ts'

/** What a run came to. `violations` is empty where every rule held. */
export type Outcome = {
  readonly seed: number
  readonly steps: number
  readonly digest: bigint
  readonly faults: ReadonlyMap<string, number>
  /** How the jobs of the providers ended for us, by kind of end. */
  readonly ends: ReadonlyMap<string, number>
  readonly jobs: number
  readonly violations: readonly string[]
}

export type OnStep = (turn: Turn, nowMs: number) => void

/**
 * Runs the gateway on one seed: customers, faults and kills, then the time until everything is over, then the checks.
 */
export async function simulate(seed: number, onStep: OnStep = () => {}): Promise<Outcome> {
  const random = new Random(seed)
  const plan = aPlan(random)
  const { callers, copy } = await template()
  const world = new World(plan, random)
  const cluster = new Cluster(world, copy())
  const { disorder, batching } = plan.chaos
  const interfere = (turn: Turn) => cluster.interfere(turn)
  const scheduler = new Scheduler({
    random: random.fork(),
    startMs: NOW,
    disorder,
    batching,
    interfere,
    onStep,
  })
  world.scheduler = scheduler
  const payers = callers.slice(0, plan.funds.length)
  await cluster.fund(payers)
  cluster.start()
  let ends: Outcome['ends'] = new Map()
  try {
    const views = new Views(world)
    const customers = Array.from({ length: plan.requests }, () =>
      runCustomer(payers, { world, cluster, views }),
    )
    const operators = [runOperator({ world, cluster }), runRotations(payers, { world, cluster })]
    await until(scheduler, Promise.all([...customers, ...operators]))
    await until(scheduler, drain({ world, cluster }))
    ends = await check(world, cluster, payers)
  } catch (error) {
    world.violated(`the run broke off: ${error instanceof Error ? error.stack : String(error)}`)
  }
  await cluster.close()
  const { faults, violations, created } = world
  const { steps, digest } = scheduler
  return { seed, steps, digest, faults: faults.counts, ends, jobs: created.size, violations }
}

async function check(
  world: World,
  cluster: Cluster,
  payers: readonly Authenticated[],
): Promise<Outcome['ends']> {
  const observer = cluster.observer()
  const ended = await endedJobs(observer)
  await checkBooks(world, ended, { ...observer, payers })
  checkJobs(world, ended)
  checkBlobs(world, ended)
  return checkUpstreams(world, ended)
}

/** Takes steps until something has ended. Rejects as that does. */
async function until(scheduler: Scheduler, work: Promise<unknown>): Promise<void> {
  let isOver = false
  const over = work.finally(() => (isOver = true))
  over.catch(() => {})
  await scheduler.run(() => isOver)
  await over
}
