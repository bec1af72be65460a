import { isFinal, type Job, type JobKind } from '../domain/jobs/job.ts'
import { parseJobId } from '../gateway/media/job-id.ts'
import type { Blobs } from '../gateway/ports/blobs.ts'
import type { Jobs } from '../gateway/ports/jobs.ts'

/** A file may be there before the job that names it; an hour later it must be. */
export const ORPHAN_AFTER_MS = 3_600_000
const PAGE = 1000
/** Files looked at in one pass; the next pass begins anew. */
const SEEN_MAX = 100_000

/**
 * Removes files that no job needs: of jobs that were never recorded, and inputs of jobs that have ended. A file is removed only when
 * it is older than an hour. Safe to run on every node at once.
 */
export async function sweepBlobs(
  { jobs, blobs }: { readonly jobs: Pick<Jobs, 'find'>; readonly blobs: Blobs },
  nowMs: number,
): Promise<{ readonly removed: number }> {
  let removed = 0
  let seen = 0
  let after: string | undefined
  while (seen < SEEN_MAX) {
    const page = await blobs.list({
      olderThanMs: nowMs - ORPHAN_AFTER_MS,
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    })
    for (const { key } of page) {
      if (await isNeeded(key, jobs)) continue
      await blobs.remove(key)
      removed += 1
    }
    seen += page.length
    after = page.at(-1)?.key
    if (page.length < PAGE) break
  }
  return { removed }
}

/** The first segment of a key is the id of its job. */
async function isNeeded(key: string, jobs: Pick<Jobs, 'find'>): Promise<boolean> {
  const [name = ''] = key.split('/')
  const kind: JobKind = name.startsWith('img_') ? 'image' : 'video'
  const id = parseJobId(kind, name)
  const job = id === undefined ? undefined : await jobs.find(id)
  return job !== undefined && names(job, key)
}

function names(job: Job, key: string): boolean {
  const isInput = [...job.request.images, ...job.request.videos].some(
    input => input.from === 'file' && input.file.key === key,
  )
  if (isInput) return !isFinal(job.state)
  // A running job's outputs are written before the job names them.
  return !isFinal(job.state) || job.outputs.some(file => file.key === key)
}
