import { cpuUsedMs, readCpu } from '../proc.ts'
import { createOpenVideo } from './clip-job.ts'
import type { MediaServers } from './start-media.ts'

export type ReconcilerCost = {
  readonly openJobs: number
  /** Jobs whose provider was asked in the pass. */
  readonly polled: number
  readonly passSeconds: number
  readonly passCpuSeconds: number
  /** Of one core, with a pass every 150 seconds, and with what the idle gateway needs. */
  readonly coreShare: number
}

const OPEN_JOBS = 10_000
const CREATED_AT_A_TIME = 32
/** The default of TOLLGATE_RECONCILE_EVERY_S. */
const PASS_EVERY_S = 150
const IDLE_MS = 10_000

/** Creates jobs that do not end, and measures a pass of the reconciler over them. */
export async function measureReconciler(
  { gateway }: MediaServers,
  logProgress: (line: string) => void,
): Promise<ReconcilerCost> {
  logProgress(`creating ${OPEN_JOBS} jobs`)
  let created = 0
  const create = async () => {
    while (created < OPEN_JOBS) {
      created += 1
      await createOpenVideo(gateway)
    }
  }
  await Promise.all(Array.from({ length: CREATED_AT_A_TIME }, create))
  logProgress('a pass of the reconciler')
  const idleFrom = readCpu(gateway.pid)
  await Bun.sleep(IDLE_MS)
  const passFrom = readCpu(gateway.pid)
  const startMs = performance.now()
  const { jobs } = await gateway.admin<{ jobs: { polled: number } }>('POST', 'reconcile')
  const passSeconds = (performance.now() - startMs) / 1000
  const passCpuSeconds = cpuUsedMs(passFrom, readCpu(gateway.pid)) / 1000
  const idleShare = cpuUsedMs(idleFrom, passFrom) / IDLE_MS
  return {
    openJobs: OPEN_JOBS,
    polled: jobs.polled,
    passSeconds,
    passCpuSeconds,
    coreShare: passCpuSeconds / PASS_EVERY_S + idleShare,
  }
}
