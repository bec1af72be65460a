import type { Provider } from '../../../domain/catalog/provider.ts'
import type { Failure, Job, JobInput, JobInputs } from '../../../domain/jobs/job.ts'
import { FILE_BYTES_MAX } from '../../../protocol/media/media-body.ts'
import { SIGNATURE_BYTES, mediaTypeOf } from '../../../protocol/media/media-signature.ts'
import type { Reservation } from '../../byte-budgets/byte-budget.ts'
import type { Blobs } from '../../ports/media/blobs.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FetchedBody, UntrustedFetch } from '../../ports/providers/untrusted-fetch.ts'
import { LINK_REFUSED } from './job-failures.ts'
import { publicId } from '../job-id.ts'
import { PeekedStream, ReservedStream } from '../files/file-streams.ts'

/** For all links of a job together. The client waits for the submission, and clients give up after a minute or two. */
const INPUTS_TIMEOUT_MS = 60_000
/** How many links of one job are fetched. With files of the largest size, they take 2.5 GB on disk. */
const LINKS_MAX = 32
const CONCURRENCY = 4

export type FetchInputsPorts = {
  readonly blobs: Blobs
  readonly clock: Clock
  readonly fetchUntrusted: UntrustedFetch
  /** Called with the error if a fetched file could not be stored. */
  readonly onFailed: (error: unknown) => void
  /** Whether a provider's base URL is in a private network, or may be. */
  readonly isPrivate: (provider: Provider) => Promise<boolean>
}

type FetchedInputs =
  /** Without inputs if they are those of the job. */
  | { readonly outcome: 'fetched'; readonly inputs?: JobInputs }
  /** A link must not be passed to the provider. No fetched file is kept. */
  | { readonly outcome: 'refused'; readonly failure: Failure }

/** Whether the provider of a job would get a link if nothing was fetched. */
export function hasLinks({ images, videos }: JobInputs): boolean {
  return [...images, ...videos].some(({ from }) => from === 'url')
}

/**
 * Whether the links of clients may be sent to a provider. A provider in a private network could open addresses there
 * that a client must not reach, so it gets links only if its row allows them.
 */
export async function mayGetLinks(
  provider: Provider,
  { isPrivate }: Pick<FetchInputsPorts, 'isPrivate'>,
): Promise<boolean> {
  return provider.sendLinks === undefined ? !(await isPrivate(provider)) : provider.sendLinks === 'always'
}

/**
 * Fetches the links among the inputs of a video job into the blob store. A link that cannot be fetched, or does not
 * lead to an image or a video, or whose file gets no `space` or cannot be stored, stays a link, and the provider may
 * fetch it. The links of an image job are not fetched. If the provider may not get a link that is left, the job ends.
 */
export async function fetchInputs(
  job: Job,
  provider: Provider,
  ports: FetchInputsPorts,
  space: Reservation,
): Promise<FetchedInputs> {
  const fetching = new InputFetch(job, ports, space)
  const inputs = job.kind === 'video' ? await fetching.fetchAll(job.request) : undefined
  if (!hasLinks(inputs ?? job.request) || (await mayGetLinks(provider, ports)))
    return { outcome: 'fetched', ...(inputs === undefined ? {} : { inputs }) }
  await fetching.discard()
  return { outcome: 'refused', failure: LINK_REFUSED }
}

/** The fetches of one job, within one time limit. */
class InputFetch {
  readonly #ports: FetchInputsPorts
  readonly #space: Reservation
  readonly #prefix: string
  readonly #untilMs: number
  readonly #keys: string[] = []
  #nextFile: number

  constructor(job: Job, ports: FetchInputsPorts, space: Reservation) {
    this.#ports = ports
    this.#space = space
    this.#prefix = `${publicId(job)}/in-`
    this.#untilMs = ports.clock.monotonicMs() + INPUTS_TIMEOUT_MS
    const files = [...job.request.images, ...job.request.videos].flatMap(input =>
      input.from === 'file' ? [Number(input.file.key.slice(this.#prefix.length))] : [],
    )
    this.#nextFile = Math.max(-1, ...files) + 1
  }

  /** The same inputs, with files in place of the links that could be fetched. */
  async fetchAll({ images, videos }: JobInputs): Promise<JobInputs> {
    const inputs = [...images, ...videos]
    const links = [...inputs.entries()].flatMap(([at, input]) =>
      input.from === 'url' ? [{ at, url: input.url }] : [],
    )
    const queue = links.slice(0, LINKS_MAX).values()
    const drain = async () => {
      for (const { at, url } of queue) inputs[at] = (await this.#fetch(url)) ?? { from: 'url', url }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, drain))
    return { images: inputs.slice(0, images.length), videos: inputs.slice(images.length) }
  }

  /** Removes what was fetched. */
  async discard(): Promise<void> {
    for (const key of this.#keys) await this.#ports.blobs.remove(key)
  }

  /** Undefined if the link stays a link. */
  async #fetch(url: string): Promise<JobInput | undefined> {
    const { clock, fetchUntrusted } = this.#ports
    const timeoutMs = this.#untilMs - clock.monotonicMs()
    if (timeoutMs <= 0) return undefined
    const fetched = await fetchUntrusted(url, { bytesMax: FILE_BYTES_MAX, timeoutMs })
    return fetched.outcome === 'opened' ? this.#store(fetched.body) : undefined
  }

  async #store(body: FetchedBody): Promise<JobInput | undefined> {
    const { blobs, onFailed } = this.#ports
    const { stream, head } = await PeekedStream.open(body, SIGNATURE_BYTES)
    const mediaType = mediaTypeOf(head)
    if (mediaType === undefined) {
      stream.cancel()
      return undefined
    }
    const key = `${this.#prefix}${this.#nextFile}`
    this.#nextFile += 1
    const reserved = new ReservedStream(stream, this.#space)
    const written = await blobs.write(key, reserved, { bytesMax: FILE_BYTES_MAX }).catch((error: unknown) => {
      stream.cancel()
      onFailed(error)
    })
    if (written === undefined) return undefined
    const { sha256, bytes } = written
    // A body that broke, or that was too large, ends early.
    if (body.failure !== undefined || reserved.isCut) {
      await blobs.remove(key)
      return undefined
    }
    this.#keys.push(key)
    return { from: 'file', file: { key, sha256, bytes, mediaType } }
  }
}
