import type { Job } from '../domain/jobs/job.ts'
import type { Blobs } from '../gateway/ports/blobs.ts'
import type { Jobs } from '../gateway/ports/jobs.ts'
import { sweepJobs } from './sweep.ts'

/** How long results are kept; null for a kind whose results are never archived. */
export type Retention = { readonly imageMs: number; readonly videoMs: number | null }

/**
 * Archives results past their retention: first the files, then the job. A crash in between leaves a job whose files the next pass
 * finds archived. Safe to run on every node at once.
 */
export async function archiveResults(
  { jobs, blobs, retention }: { readonly jobs: Jobs; readonly blobs: Blobs; readonly retention: Retention },
  nowMs: number,
  onFailed: (error: unknown) => void,
): Promise<{ readonly archived: number }> {
  const archive = async (job: Job) => {
    const keptMs = job.kind === 'image' ? retention.imageMs : retention.videoMs
    if (keptMs === null || job.changedAtMs > nowMs - keptMs) return false
    for (const { key } of job.outputs) await blobs.archive(key)
    return (await jobs.archive(job.id, nowMs)).changed
  }
  const shortestMs = Math.min(retention.imageMs, retention.videoMs ?? Infinity)
  const { changed } = await sweepJobs({ jobs, work: 'archive', atMs: nowMs - shortestMs }, archive, onFailed)
  return { archived: changed }
}
