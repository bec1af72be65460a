import { GatewayError } from '../../domain/errors.ts'
import type { StoredFile } from '../../domain/jobs/job.ts'
import { openClip, type PaidClip, type ResultPorts } from '../../gateway/media/files/open-result.ts'
import type { BlobRange, OpenBlob } from '../../gateway/ports/media/blobs.ts'
import { errorBody, statusOfError } from '../errors.ts'
import { isKnown, type IncomingRequest } from '../incoming-request.ts'
import { jsonReply, type HttpReply } from '../request-context.ts'

/** A browser must not run a file that a provider sent instead of a clip. */
const MEDIA_TYPE = /^video\/[\w.+-]+$/

/**
 * The bytes of a clip, or the part that the request asks for. Throws `content_archived` if the stored file is missing
 * or changed.
 */
export async function clipReply(
  paid: PaidClip,
  request: Pick<IncomingRequest, 'method' | 'header'>,
  ports: ResultPorts,
): Promise<HttpReply> {
  const { clip } = paid
  const headers = {
    'content-type': MEDIA_TYPE.test(clip.mediaType) ? clip.mediaType : 'application/octet-stream',
    'x-content-type-options': 'nosniff',
  }
  return fileReply({ file: clip, headers, open: range => openClip(paid, range, ports) }, request)
}

/**
 * The bytes of a stored file, or the part that the request asks for, read from the blob store as the client takes them.
 * Rejects if `open` does.
 */
export async function fileReply(
  {
    file,
    headers: fileHeaders,
    open,
  }: {
    readonly file: StoredFile
    /** Of replies with bytes of the file. */
    readonly headers: Readonly<Record<string, string>>
    readonly open: (range: BlobRange) => Promise<OpenBlob>
  },
  request: Pick<IncomingRequest, 'method' | 'header'>,
): Promise<HttpReply> {
  const etag = `"${file.sha256}"`
  const common = {
    'accept-ranges': 'bytes',
    etag,
    // Only the client's own cache may keep it, and must ask whether it is still there.
    'cache-control': 'private, no-cache',
  }
  if (isKnown(etag, request.header('if-none-match'))) return { status: 304, headers: common, body: null }
  const range = askedRange(file, etag, request)
  if (range.kind === 'unsatisfiable') return outOfRange(file, common)
  const headers = { ...common, ...fileHeaders }
  const { start, end } = range.kind === 'whole' ? { start: 0, end: file.bytes } : range
  const { stream } = await open({ start, end })
  const content = { body: stream, contentLength: end - start }
  if (range.kind === 'whole') return { status: 200, headers, ...content }
  const contentRange = `bytes ${start}-${end - 1}/${file.bytes}`
  return { status: 206, headers: { ...headers, 'content-range': contentRange }, ...content }
}

function outOfRange({ bytes }: StoredFile, headers: Record<string, string>): HttpReply {
  const error = new GatewayError(
    'range_not_satisfiable',
    `The file has ${bytes} bytes, and "Range" is outside of it.`,
  )
  return jsonReply(statusOfError(error.code), errorBody(error), {
    ...headers,
    'content-range': `bytes */${bytes}`,
  })
}

/** Ranges are for GET only. If `If-Range` names another version of the file, the whole file is sent. */
function askedRange(
  { bytes }: StoredFile,
  etag: string,
  request: Pick<IncomingRequest, 'method' | 'header'>,
): AskedRange {
  const ifRange = request.header('if-range')
  const isMeant = request.method === 'GET' && (ifRange === null || ifRange.trim() === etag)
  return readRange(isMeant ? request.header('range') : null, bytes)
}

/** The part of a file that a `Range` header asks for. */
export type AskedRange =
  /** No range, or one that is ignored: another unit, several ranges, or text that is not a range. */
  | { readonly kind: 'whole' }
  | ({ readonly kind: 'part' } & BlobRange)
  /** The file has no byte in the range. */
  | { readonly kind: 'unsatisfiable' }

const WHOLE: AskedRange = { kind: 'whole' }
const SINGLE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i

/**
 * Reads a `Range` header for a file with this number of bytes. Only single ranges are supported; a server may ignore
 * any other.
 */
export function readRange(header: string | null, bytes: number): AskedRange {
  const [, first = '', last = ''] = SINGLE.exec(header ?? '') ?? []
  if (first === '' && last === '') return WHOLE
  if (first === '') return part(Math.max(0, bytes - Number(last)), bytes)
  const start = Number(first)
  if (last !== '' && Number(last) < start) return WHOLE
  return part(start, last === '' ? bytes : Math.min(bytes, Number(last) + 1))
}

function part(start: number, end: number): AskedRange {
  return start < end ? { kind: 'part', start, end } : { kind: 'unsatisfiable' }
}
