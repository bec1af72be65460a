import type { Bytes } from '../../../domain/bytes.ts'
import type { Job, StoredFile } from '../../../domain/jobs/job.ts'
import { outputTypesOf, type OutputType } from '../../../domain/jobs/output-types.ts'
import { RESULT_HEAD_BYTES, resultTypeOf } from '../../../protocol/media/media-signature.ts'
import { readMp4Header, type Mp4Header } from '../../../protocol/media/mp4-header.ts'
import { BlobTooLargeError, type Blobs } from '../../ports/media/blobs.ts'
import type { ByteStream } from '../../ports/byte-stream.ts'
import type { MediaOutput, MediaResult } from '../../ports/providers/media-provider.ts'
import type { FetchedBody, UntrustedFetch } from '../../ports/providers/untrusted-fetch.ts'
import { PeekedStream } from '../files/file-streams.ts'
import { publicId } from '../job-id.ts'

/** The largest result that is fetched or stored. */
const RESULT_BYTES_MAX = 2 * 1024 ** 3
const FETCH_TIMEOUT_MS = 600_000

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
      /** The link gave something other than an image or a clip, which may be all that there is. */
      readonly isNoMedia?: true
    }
  /** Never. */
  | { readonly outcome: 'lost'; readonly problem: string }

/**
 * Stores the files of a result, at most the requested number, each under a key of the job. Repeating it writes the same
 * files again. Only files that a provider sends in its reply are in memory as a whole. If one file is
 * not an image or a clip, the result is not stored.
 */
export async function storeOutputs(
  { kind, request, ...job }: Job,
  { outputs }: Pick<MediaResult, 'outputs'>,
  ports: StoreOutputsPorts,
): Promise<StoredOutputs> {
  const files: StoredFile[] = []
  let clipMs: number | undefined
  for (const [index, output] of outputs.slice(0, request.count).entries()) {
    const target = {
      key: `${publicId({ kind, ...job })}/out-${index}`,
      isClip: kind === 'video',
      types: outputTypesOf(kind, request.outputTypes),
    }
    const stored = await storeOutput(output, target, ports)
    if ('outcome' in stored) return stored
    files.push(stored.file)
    clipMs ??= stored.clipMs
  }
  return { outcome: 'stored', files, clipMs }
}

type NotStored = Exclude<StoredOutputs, { outcome: 'stored' }>
type Stored = { readonly file: StoredFile; readonly clipMs: number | undefined }

/** Where a file of a result is stored, and the formats that it may have. */
type Target = { readonly key: string; readonly isClip: boolean; readonly types: readonly OutputType[] }

async function storeOutput(
  output: MediaOutput,
  target: Target,
  ports: StoreOutputsPorts,
): Promise<Stored | NotStored> {
  if (output.from === 'lost') return { outcome: 'lost', problem: output.problem }
  if (output.from === 'bytes') {
    const stored = await storeMedia(onePiece(output.bytes), target, ports.blobs)
    // Asking again would bring the same bytes.
    return 'noMedia' in stored
      ? { outcome: 'lost', problem: `the result in the answer ${stored.noMedia}` }
      : stored
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
    const stored = await storeMedia(whole(fetched.body), target, ports.blobs)
    if (!('noMedia' in stored)) return stored
    // A link may give an error page with status 200, or nothing, until the file is there.
    return { outcome: 'unavailable', problem: downloadProblem(`the body ${stored.noMedia}`), isNoMedia: true }
  } catch (error) {
    if (error instanceof BrokenDownload) return failed(error.failure)
    throw error
  }
}

/**
 * Stores a file that is what its signature says, and not what its sender says. The header of a clip may be at its end,
 * so a clip is read after it was stored. One that cannot be read is written over by the next try, or removed when its
 * job has failed.
 */
async function storeMedia(
  source: ByteStream,
  { key, isClip, types }: Target,
  blobs: Blobs,
): Promise<Stored | NotStored | { readonly noMedia: string }> {
  const { stream, head } = await PeekedStream.open(source, RESULT_HEAD_BYTES)
  const mediaType = resultTypeOf(head)
  if (mediaType === undefined || !types.includes(mediaType)) {
    stream.cancel()
    return { noMedia: `is none of ${types.join(', ')}` }
  }
  const file = await store(stream, { key, mediaType }, blobs)
  if ('outcome' in file) return file
  const header = isClip ? await clipHeader(file, blobs) : {}
  return header === undefined
    ? { noMedia: `is a clip of type ${mediaType} without a readable header` }
    : { file, clipMs: header.durationMs }
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

function onePiece(bytes: Bytes): ByteStream {
  let rest: Bytes | undefined = bytes.length === 0 ? undefined : bytes
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

/** The formats whose header can be anywhere in the file, so that the first bytes do not show that it is whole. */
const HAS_MP4_HEADER = new Set(['video/mp4', 'video/quicktime'])

/**
 * The header of a stored clip; undefined for an MP4 or QuickTime file without a readable one. The headers of other
 * formats are not read.
 */
async function clipHeader(
  { key, bytes, mediaType }: StoredFile,
  blobs: Pick<Blobs, 'read'>,
): Promise<Mp4Header | undefined> {
  if (!HAS_MP4_HEADER.has(mediaType)) return {}
  return readMp4Header((offset, length) => readPart(key, { offset, length }, blobs), bytes)
}

async function readPart(
  key: string,
  { offset, length }: { readonly offset: number; readonly length: number },
  blobs: Pick<Blobs, 'read'>,
): Promise<Uint8Array> {
  const blob = await blobs.read(key, { start: offset, end: offset + length })
  if (blob === undefined) throw new Error(`The clip ${key} is not in the blob store.`)
  const part = new Uint8Array(length)
  let at = 0
  for (let piece = await blob.stream.read(); piece !== undefined; piece = await blob.stream.read()) {
    part.set(piece, at)
    at += piece.length
  }
  return part.subarray(0, at)
}
