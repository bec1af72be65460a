import { GatewayError } from '../../../domain/errors.ts'
import type { Job, StoredFile } from '../../../domain/jobs/job.ts'
import { publicId } from '../../../gateway/media/job-id.ts'
import type { BlobRange, OpenBlob } from '../../../gateway/ports/media/blobs.ts'
import { fileReply } from '../../media/clip-reply.ts'
import type { HttpReply } from '../../request-context.ts'
import type { AdminCall } from '../call.ts'
import type { ReportPorts } from '../ports.ts'
import { jobOf } from './jobs.ts'

/** The types that a browser may show, with the ends of their file names. Others are only downloaded. */
const shownTypes: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
}

/**
 * A file that a job made, by its place among the results, or the part that the request asks for. Throws `not_found` if
 * there is none, and `content_archived` if it can no longer be read.
 */
export async function getJobContent({ params, request }: AdminCall, ports: ReportPorts): Promise<HttpReply> {
  const job = await jobOf(params, ports)
  const place = params['n'] ?? ''
  const file = /^\d{1,4}$/.test(place) ? job.outputs[Number(place)] : undefined
  if (file === undefined)
    throw new GatewayError(
      'not_found',
      `The job has ${job.outputs.length} results, counted from 0, and none is "${place.slice(0, 60)}".`,
      { shouldRetry: false },
    )
  if (job.archivedAtMs !== null) throw unreadable('This result was archived and can no longer be read.')
  const headers = contentHeaders(file, `${publicId(job)}-${Number(place)}`)
  return fileReply({ file, headers, open: range => openResult(job, file, range, ports) }, request)
}

/** A provider chose the bytes and their type. A browser must never run them as a page of this site. */
export function contentHeaders(
  { mediaType }: Pick<StoredFile, 'mediaType'>,
  name: string,
): Record<string, string> {
  const ending = Object.hasOwn(shownTypes, mediaType) ? shownTypes[mediaType] : undefined
  const shown =
    ending === undefined
      ? {
          'content-type': 'application/octet-stream',
          'content-disposition': `attachment; filename="${name}.bin"`,
        }
      : { 'content-type': mediaType, 'content-disposition': `inline; filename="${name}.${ending}"` }
  return {
    ...shown,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    'cross-origin-resource-policy': 'same-origin',
  }
}

async function openResult(
  job: Job,
  file: StoredFile,
  range: BlobRange,
  { blobs, damagedResults }: Pick<ReportPorts, 'blobs' | 'damagedResults'>,
): Promise<OpenBlob> {
  const blob = await blobs.readIntact(file, range)
  if (typeof blob !== 'string') return blob
  damagedResults.note({ job, key: file.key, damage: blob })
  throw unreadable(`The stored file "${file.key}" is ${blob}. Restore it from a backup.`)
}

function unreadable(message: string): GatewayError {
  return new GatewayError('content_archived', message, { shouldRetry: false })
}
