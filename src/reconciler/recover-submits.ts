import { recoverJob, type RecoverPorts } from '../gateway/media/recover-job.ts'
import { sweepJobs } from './sweep.ts'

/**
 * Looks for jobs of unknown submits at providers that can be asked, and goes on with those that are found. Safe to run on every node
 * at once: an upstream id belongs to one job.
 */
export async function recoverSubmits(
  ports: RecoverPorts,
  nowMs: number,
  onFailed: (error: unknown) => void,
): Promise<{ readonly recovered: number }> {
  const { changed } = await sweepJobs(
    { jobs: ports.jobs, work: 'recover', atMs: nowMs },
    async job => (await recoverJob(job, ports)).state !== job.state,
    onFailed,
  )
  return { recovered: changed }
}
