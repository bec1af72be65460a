import { isFinal, type JobKind } from '../domain/jobs/job.ts'
import { parseJobId } from '../gateway/media/job-id.ts'
import type { Blobs } from '../gateway/ports/media/blobs.ts'
import type { CallerSignal } from '../gateway/ports/caller-signal.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import type { Jobs } from '../gateway/ports/media/jobs.ts'
import type { SweepPlaces } from './sweep.ts'

/** A file may be stored before its job is recorded. After an hour, the job must exist. */
export const ORPHAN_AFTER_MS = 3_600_000
const PAGE = 500
/** Files looked at in one pass. The next pass continues after them. */
const SEEN_FILES_MAX = 5000
/** Files can be on another machine, where each change takes a while. Jobs are polled only after the pass. */
const SWEEP_MS_MAX = 10_000
const PLACE = 'files'

/**
 * Removes files that no job needs: inputs of jobs that were never recorded or have ended, results that no completed job
 * names, and the parts of writes that were cut off. Moves results of archived jobs to the archive. Leaves files younger
 * than an hour. Leaves the results of unknown jobs: a result is written only for a recorded job, so they belong to
 * other books, such as the newer ones of a restored backup, which share a storage. Safe to run on every node at once.
 */
export async function sweepBlobs(
  ports: {
    readonly jobs: Pick<Jobs, 'find'>
    readonly blobs: Pick<Blobs, 'list' | 'remove' | 'archive' | 'removeUnfinished'>
    readonly places: SweepPlaces
    readonly clock: Pick<Clock, 'monotonicMs'>
    readonly stopping: CallerSignal
  },
  nowMs: number,
): Promise<{ readonly removed: number }> {
  const { jobs, blobs, places, clock, stopping } = ports
  const endsAtMs = clock.monotonicMs() + SWEEP_MS_MAX
  let removed = 0
  if (!places.has(PLACE)) await blobs.removeUnfinished(nowMs - ORPHAN_AFTER_MS)
  for (let seen = 0; seen < SEEN_FILES_MAX && !stopping.aborted;) {
    const after = places.get(PLACE)
    const olderThanMs = nowMs - ORPHAN_AFTER_MS
    const page = await blobs.list({ olderThanMs, limit: PAGE, ...(after === undefined ? {} : { after }) })
    for (const { key } of page) {
      const need = await needOf(key, jobs)
      if (need === 'archive') await blobs.archive(key)
      if (need === 'none') {
        await blobs.remove(key)
        removed += 1
      }
      places.set(PLACE, key)
      if (clock.monotonicMs() >= endsAtMs) return { removed }
    }
    seen += page.length
    if (page.length < PAGE) {
      places.delete(PLACE)
      break
    }
  }
  return { removed }
}

type Need = 'live' | 'archive' | 'none'

const RESULT = /\/out-\d+$/

/** The first segment of a key is the id of its job. */
async function needOf(key: string, jobs: Pick<Jobs, 'find'>): Promise<Need> {
  const [name = ''] = key.split('/')
  const kind: JobKind = name.startsWith('img_') ? 'image' : 'video'
  const id = parseJobId(kind, name)
  const job = id === undefined ? undefined : await jobs.find(id)
  if (job === undefined) return RESULT.test(key) ? 'live' : 'none'
  // The outputs of a running job are written before the job names them.
  if (!isFinal(job.state)) return 'live'
  if (!job.outputs.some(file => file.key === key)) return 'none'
  return job.archivedAtMs === null ? 'live' : 'archive'
}
