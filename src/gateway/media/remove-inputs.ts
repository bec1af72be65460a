import { isFinal, type Job } from '../../domain/jobs/job.ts'
import type { Blobs } from '../ports/blobs.ts'

/** Removes the input files of a job that has ended. Repeating it changes nothing. */
export async function removeInputs(job: Job, blobs: Pick<Blobs, 'remove'>): Promise<void> {
  if (!isFinal(job.state)) return
  for (const input of [...job.request.images, ...job.request.videos])
    if (input.from === 'file') await blobs.remove(input.file.key)
}
