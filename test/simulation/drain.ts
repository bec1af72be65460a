import type { Cluster } from './cluster.ts'
import type { SimulatedNode } from './node.ts'
import { restoreCatalog } from './operator.ts'
import type { World } from './world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** How long a released job is watched, and how old an orphan is when it is removed. */
const WATCH_MS = 24 * HOUR
const ORPHAN_MS = HOUR
const PASSES_SOON = 8

/**
 * Lets the time go on without faults until every deadline is over, every released job has been watched for its day, and
 * every orphan is old enough, with passes of the reconciler on both nodes in turn.
 */
export async function drain({
  world,
  cluster,
}: {
  readonly world: World
  readonly cluster: Cluster
}): Promise<void> {
  const { scheduler } = world
  const sleep = (ms: number) => scheduler.pause(cluster.outside, ms)
  cluster.calm()
  await restoreCatalog({ world, cluster })
  await Promise.all(cluster.nodes.map(node => node.stop()))
  let passes = 0
  const pass = async (node: SimulatedNode | undefined) => {
    passes += 1
    const startedAtMs = scheduler.nowMs
    await node?.reconcile()
    world.calmPasses.push({ startedAtMs, endedAtMs: scheduler.nowMs })
  }
  const endMs = scheduler.nowMs + world.settings.jobTtlMs + WATCH_MS + 2 * ORPHAN_MS
  while (scheduler.nowMs < endMs) {
    await sleep(passes < PASSES_SOON ? 150_000 : 2 * HOUR)
    await pass(cluster.nodes[passes % 2])
  }
  // After the last clips of late results, whose files nothing names.
  await sleep(2 * ORPHAN_MS)
  for (const node of cluster.nodes) await pass(node)
  await Promise.all(cluster.nodes.map(node => node.stop()))
}
