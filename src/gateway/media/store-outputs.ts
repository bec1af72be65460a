import type { Job, StoredFile } from '../../domain/jobs/job.ts'
import { mediaTypeOf, SIGNATURE_BYTES } from '../../protocol/media/media-signature.ts'
import { BlobTooLargeError, type Blobs } from '../ports/blobs.ts'
import type { ByteStream } from '../ports/byte-stream.ts'
import type { MediaOutput, MediaResult } from '../ports/media-provider.ts'
import type { FetchedBody, UntrustedFetch } from '../ports/untrusted-fetch.ts'
import { clipDuration } from './clip-duration.ts'
import { publicId } from './job-id.ts'
import { PeekedStream } from './peeked-stream.ts'

/** The largest result that is fetched or stored. */
export const RESULT_BYTES_MAX = 2 * 1024 ** 3
const FETCH_TIMEOUT_MS = 600_000
const UNKNOWN_TYPE = 'application/octet-stream'

export type StoreOutputsPorts = { readonly blobs: Blobs; readonly fetchUntrusted: UntrustedFetch }

export type StoredOutputs =
  | {
      readonly outcome: 'stored'
      readonly files: readonly StoredFile[]
      /** The duration in the clip's own header. */
      readonly clipMs: number | undefined
    }
  /** Not now. A later try may succeed. */
  | {
      readonly outcome: 'unavailable'
      readonly problem: string
      /** The link gave a still image instead of a clip, which may be all that there is. */
      readonly isStillImage?: true
    }
  /** Never. */
  | { readonly outcome: 'lost'; readonly problem: string }

/**
 * Stores the files of a result, at most the requested number, each under a key of the job. Repeating it writes the same
 * files again. Only files that a provider sends in its reply are in memory as a whole.
 */
export async function storeOutputs(
  job: Job,
  { outputs }: Pick<MediaResult, 'outputs'>,
  ports: StoreOutputsPorts,
): Promise<StoredOutputs> {
  const files: StoredFile[] = []
  for (const [index, output] of outputs.slice(0, job.request.count).entries()) {
    const target = { key: `${publicId(job)}/out-${index}`, kind: job.kind }
    const stored = await storeOutput(output, target, ports)
    if ('outcome' in stored) return stored
    files.push(stored)
  }
  const [clip] = files
  const clipMs =
    job.kind === 'video' && clip !== undefined ? await clipDuration(clip, ports.blobs) : undefined
  return { outcome: 'stored', files, clipMs }
}

type NotStored = Exclude<StoredOutputs, { outcome: 'stored' }>

/** Where a file of a result is stored, and the kind of its job. */
type Target = { readonly key: string; readonly kind: Job['kind'] }

async function storeOutput(
  output: MediaOutput,
  target: Target,
  ports: StoreOutputsPorts,
): Promise<StoredFile | NotStored> {
  const { blobs } = ports
  if (output.from === 'lost') return { outcome: 'lost', problem: output.problem }
  if (output.from === 'bytes') {
    const { bytes } = output
    if (isPage(bytes)) return { outcome: 'lost', problem: 'the result in the answer is a web page' }
    if (isStillImage(bytes, target.kind))
      return { outcome: 'lost', problem: `the result in the answer is ${STILL_IMAGE}` }
    const mediaType = mediaTypeOf(bytes) ?? UNKNOWN_TYPE
    return store(onePiece(bytes), { key: target.key, mediaType }, blobs)
  }
  const { url, authorization } = output
  const fetched = await ports.fetchUntrusted(url, {
    bytesMax: RESULT_BYTES_MAX,
    timeoutMs: FETCH_TIMEOUT_MS,
    ...(authorization === undefined ? {} : { authorization }),
  })
  if (fetched.outcome === 'refused')
    return { outcome: 'lost', problem: `result link refused: ${fetched.problem}` }
  if (fetched.outcome === 'failed') return failed(fetched)
  try {
    return await storeDownload(fetched, target, blobs)
  } catch (error) {
    if (error instanceof BrokenDownload) return failed(error.failure)
    throw error
  }
}

const STILL_IMAGE = 'a still image instead of a clip'

/**
 * Whether the first bytes of a file in a video job are those of a still image, which is no clip. A GIF or WebP file may
 * be an animation, and a file of an unknown format may be a clip: the provider has been paid for it, so it is stored.
 */
function isStillImage(bytes: Uint8Array, kind: Job['kind']): boolean {
  const type = mediaTypeOf(bytes)
  return kind === 'video' && (type === 'image/png' || type === 'image/jpeg')
}

/** Whether a result is an HTML page. No image or video begins in this way. */
function isPage(bytes: Uint8Array): boolean {
  return /^\s*<(?:!doctype\s+html|html)\b/i.test(new TextDecoder().decode(bytes.subarray(0, SIGNATURE_BYTES)))
}

/** A link may give an error page with status 200, or nothing. Such a body is not written over a result. */
async function storeDownload(
  { body, contentType }: { readonly body: FetchedBody; readonly contentType: string },
  { key, kind }: Target,
  blobs: Blobs,
): Promise<StoredFile | NotStored> {
  const { stream, head } = await PeekedStream.open(whole(body), SIGNATURE_BYTES)
  const mediaType = downloadType(head, contentType)
  const isStill = isStillImage(head, kind)
  if (mediaType !== undefined && !isStill) return store(stream, { key, mediaType }, blobs)
  stream.cancel()
  if (!isStill) return failed({ problem: 'the body is not an image or a video', isPermanent: false })
  const problem = downloadProblem(`the body is ${STILL_IMAGE}`)
  return { outcome: 'unavailable', problem, isStillImage: true }
}

/**
 * The media type of a downloaded result: by its signature, else as its server says. Undefined for an empty body and for
 * one that its server calls neither an image nor a video.
 */
function downloadType(head: Uint8Array, contentType: string): string | undefined {
  if (head.length === 0) return undefined
  const [named = ''] = contentType.toLowerCase().split(';')
  const type = named.trim() || UNKNOWN_TYPE
  return mediaTypeOf(head) ?? (type === UNKNOWN_TYPE || /^(?:image|video)\//.test(type) ? type : undefined)
}

/** A body that ended before its last byte must not take the place of a whole file that another node has stored. */
function whole(body: FetchedBody): ByteStream {
  return {
    async read() {
      const bytes = await body.read()
      if (bytes === undefined && body.failure !== undefined) throw new BrokenDownload(body.failure)
      return bytes
    },
    cancel: () => body.cancel(),
  }
}

class BrokenDownload extends Error {
  override readonly name = 'BrokenDownload'
  readonly failure: NonNullable<FetchedBody['failure']>

  constructor(failure: NonNullable<FetchedBody['failure']>) {
    super(failure.problem)
    this.failure = failure
  }
}

function failed({
  problem,
  isPermanent,
}: {
  readonly problem: string
  readonly isPermanent: boolean
}): NotStored {
  return { outcome: isPermanent ? 'lost' : 'unavailable', problem: downloadProblem(problem) }
}

function downloadProblem(problem: string): string {
  return `result download failed: ${problem}`
}

async function store(
  source: ByteStream,
  { key, mediaType }: Pick<StoredFile, 'key' | 'mediaType'>,
  blobs: Blobs,
): Promise<StoredFile | NotStored> {
  try {
    const { sha256, bytes } = await blobs.write(key, source, { bytesMax: RESULT_BYTES_MAX })
    return { key, sha256, bytes, mediaType }
  } catch (error) {
    if (error instanceof BlobTooLargeError) return { outcome: 'lost', problem: error.message }
    throw error
  }
}

function onePiece(bytes: Uint8Array<ArrayBuffer>): ByteStream {
  let rest: Uint8Array<ArrayBuffer> | undefined = bytes.length === 0 ? undefined : bytes
  return {
    async read() {
      const piece = rest
      rest = undefined
      return piece
    },
    cancel() {
      rest = undefined
    },
  }
}
