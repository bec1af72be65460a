import type { Job } from '../domain/jobs/job.ts'
import type { Blobs } from '../gateway/ports/blobs.ts'
import type { Jobs } from '../gateway/ports/jobs.ts'
import { sweepJobs, type SweepPorts } from './sweep.ts'

/** The time for each kind. The next pass continues with the rest. */
const ARCHIVE_MS_MAX = 5000

/** How long results are kept; null for a kind whose results are never archived. */
export type Retention = { readonly imageMs: number; readonly videoMs: number | null }

/**
 * Archives results past their retention: first the job, so that no reply promises files that are gone, and then its
 * files. The sweep of files moves those that a crash in between has left. Safe to run on every node at once.
 */
export async function archiveResults(
  ports: SweepPorts & {
    readonly jobs: Pick<Jobs, 'due' | 'archive'>
    readonly blobs: Pick<Blobs, 'archive'>
    readonly retention: Retention
  },
  nowMs: number,
): Promise<{ readonly archived: number }> {
  const archive = async ({ id, outputs }: Job) => {
    const { changed } = await ports.jobs.archive(id, nowMs)
    for (const { key } of outputs) await ports.blobs.archive(key)
    return changed
  }
  const { imageMs, videoMs } = ports.retention
  let archived = 0
  for (const [kind, keptMs] of [
    ['image', imageMs],
    ['video', videoMs],
  ] as const) {
    if (keptMs === null) continue
    const work = { work: 'archive', kind, atMs: nowMs - keptMs, limitMs: ARCHIVE_MS_MAX } as const
    archived += (await sweepJobs(ports, work, archive)).changed
  }
  return { archived }
}
