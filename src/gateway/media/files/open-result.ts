import { GatewayError } from '../../../domain/errors.ts'
import type { Job, StoredFile } from '../../../domain/jobs/job.ts'
import type { BlobRange, Blobs, OpenBlob } from '../../ports/media/blobs.ts'
import type { DamagedResults, PaidJob } from './damaged-results.ts'

/** A clip, and the job that made it. */
export type PaidClip = { readonly job: PaidJob; readonly clip: StoredFile }

export type ResultPorts = {
  readonly blobs: Pick<Blobs, 'readIntact'>
  readonly damagedResults: Pick<DamagedResults, 'note'>
}

/** Opens all files of a completed job. Undefined, and a report for the operator, if one is damaged. */
export async function openImages(
  job: PaidJob & Pick<Job, 'outputs'>,
  { blobs, damagedResults }: ResultPorts,
): Promise<readonly OpenBlob[] | undefined> {
  const opened: OpenBlob[] = []
  try {
    for (const file of job.outputs) {
      const blob = await blobs.readIntact(file)
      if (typeof blob === 'string') {
        damagedResults.note({ job, key: file.key, damage: blob })
        break
      }
      opened.push(blob)
    }
  } catch (error) {
    close(opened)
    throw error
  }
  if (opened.length === job.outputs.length) return opened
  close(opened)
  return undefined
}

/** Opens the clip of a completed job. Throws `content_archived`, and reports it to the operator, if it is damaged. */
export async function openClip(
  { job, clip }: PaidClip,
  range: BlobRange,
  { blobs, damagedResults }: ResultPorts,
): Promise<OpenBlob> {
  const blob = await blobs.readIntact(clip, range)
  if (typeof blob !== 'string') return blob
  damagedResults.note({ job, key: clip.key, damage: blob })
  throw new GatewayError(
    'content_archived',
    'The stored file of this clip is damaged or missing and can no longer be read. Contact support and include this request id.',
    { shouldRetry: false },
  )
}

function close(blobs: readonly OpenBlob[]): void {
  for (const { stream } of blobs) stream.cancel()
}
