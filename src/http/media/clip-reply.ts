import { GatewayError } from '../../domain/errors.ts'
import type { StoredFile } from '../../domain/jobs/job.ts'
import { openClip, type PaidClip, type ResultPorts } from '../../gateway/media/damaged-results.ts'
import { errorBody, statusOfError } from '../errors.ts'
import { isKnown, type IncomingRequest } from '../incoming-request.ts'
import { jsonReply, type HttpReply } from '../request-context.ts'
import { readRange, type AskedRange } from './byte-range.ts'

/** A browser must not run a file that a provider sent instead of a clip. */
const MEDIA_TYPE = /^video\/[\w.+-]+$/

/**
 * The bytes of a clip, or the part that the request asks for, read from the blob store as the client takes them. Throws
 * `content_archived` if the stored file is missing or changed.
 */
export async function clipReply(
  paid: PaidClip,
  request: Pick<IncomingRequest, 'method' | 'header'>,
  ports: ResultPorts,
): Promise<HttpReply> {
  const { clip } = paid
  const etag = `"${clip.sha256}"`
  const common = {
    'accept-ranges': 'bytes',
    etag,
    // Shared caches may keep it for the account of the key only, and must ask whether it is still there.
    'cache-control': 'private, no-cache',
  }
  if (isKnown(etag, request.header('if-none-match'))) return { status: 304, headers: common, body: null }
  const range = askedRange(clip, etag, request)
  if (range.kind === 'unsatisfiable') return outOfRange(clip, common)
  const headers = {
    ...common,
    'content-type': MEDIA_TYPE.test(clip.mediaType) ? clip.mediaType : 'application/octet-stream',
    'x-content-type-options': 'nosniff',
  }
  const { start, end } = range.kind === 'whole' ? { start: 0, end: clip.bytes } : range
  const { stream } = await openClip(paid, { start, end }, ports)
  const content = { body: stream, contentLength: end - start }
  if (range.kind === 'whole') return { status: 200, headers, ...content }
  const contentRange = `bytes ${start}-${end - 1}/${clip.bytes}`
  return { status: 206, headers: { ...headers, 'content-range': contentRange }, ...content }
}

function outOfRange({ bytes }: StoredFile, headers: Record<string, string>): HttpReply {
  const error = new GatewayError(
    'range_not_satisfiable',
    `The clip has ${bytes} bytes, and "Range" is outside of it.`,
  )
  return jsonReply(statusOfError(error.code), errorBody(error), {
    ...headers,
    'content-range': `bytes */${bytes}`,
  })
}

/** Ranges are for GET only. If `If-Range` names another version of the clip, the whole clip is sent. */
function askedRange(
  { bytes }: StoredFile,
  etag: string,
  request: Pick<IncomingRequest, 'method' | 'header'>,
): AskedRange {
  const ifRange = request.header('if-range')
  const isMeant = request.method === 'GET' && (ifRange === null || ifRange.trim() === etag)
  return readRange(isMeant ? request.header('range') : null, bytes)
}
