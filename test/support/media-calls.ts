import type { Bytes } from '../../src/domain/bytes.ts'
import type { Provider } from '../../src/domain/catalog/provider.ts'
import { formatId, type Id } from '../../src/domain/ids.ts'
import type { JobRequest } from '../../src/domain/jobs/job.ts'
import type {
  AcceptedJob,
  MediaInput,
  SubmitCall,
  UnconfirmedJob,
} from '../../src/gateway/ports/providers/media-provider.ts'
import { streamOf } from './byte-streams.ts'

let jobs = 0n

/** A submit of a new job: an image, unless `change` says otherwise. */
export function aSubmitCall(provider: Provider, change: Partial<SubmitCall> = {}): SubmitCall {
  jobs += 1n
  const id: Id = { key: jobs, tail: jobs }
  return {
    jobId: formatId(change.kind === 'video' ? 'vid' : 'img', id),
    kind: 'image',
    provider,
    model: 'upstream-model',
    timeoutMs: 60_000,
    prompt: 'A lighthouse at dawn',
    params: {},
    count: 1,
    images: [],
    videos: [],
    ...change,
  }
}

/** The same job once its provider has accepted it. */
export function accepted(
  { jobId, kind, provider, model, timeoutMs }: SubmitCall,
  upstreamId: string,
): AcceptedJob {
  return { jobId, kind, provider, model, timeoutMs, upstreamId }
}

/** The same job where nothing says whether its provider has it. */
export function unconfirmed(call: SubmitCall): UnconfirmedJob {
  const { jobId, kind, provider, model, timeoutMs, prompt, params, count } = call
  const request: JobRequest = {
    prompt,
    params,
    count,
    images: call.images.map(storedInput),
    videos: call.videos.map(storedInput),
  }
  return { jobId, kind, provider, model, timeoutMs, request }
}

function storedInput(input: MediaInput): JobRequest['images'][number] {
  if (input.from !== 'bytes') return input
  const { bytes, mediaType } = input
  return { from: 'file', file: { key: 'in-0', sha256: '0'.repeat(64), bytes, mediaType } }
}

/** An input of these bytes, which are read in pieces of `pieceBytes`. */
export function bytesInput(
  bytes: Bytes,
  mediaType = 'image/png',
  pieceBytes = 1000,
): Extract<MediaInput, { from: 'bytes' }> {
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
    bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  )
  return { from: 'bytes', bytes: bytes.length, mediaType, open: async () => streamOf(pieces) }
}
