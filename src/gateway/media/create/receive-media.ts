import type { Id } from '../../../domain/ids.ts'
import type { JobKind, StoredFile } from '../../../domain/jobs/job.ts'
import { attributionOf, type Attribution, type Tags } from '../../../domain/ledger/attribution.ts'
import {
  FILE_BYTES_MAX,
  imageNames,
  videoNames,
  type InputName,
  type MediaBody,
} from '../../../protocol/media/media-body.ts'
import { openAiUserId } from '../../../protocol/user-id.ts'
import { MEDIA_BODY_BYTES } from '../../byte-budgets/body-budgets.ts'
import type { ByteBudget, Reservation } from '../../byte-budgets/byte-budget.ts'
import type { Authenticated } from '../../ports/access/api-keys.ts'
import type { Blobs } from '../../ports/media/blobs.ts'
import type { CallerSignal } from '../../ports/caller-signal.ts'
import type { Jobs } from '../../ports/media/jobs.ts'
import { publicId } from '../job-id.ts'
import type { MediaCall, MediaRecord } from './media-call.ts'
import { spoolBody, type BodyBytes } from './spool-body.ts'

export type ReceiveMediaPorts = {
  readonly blobs: Blobs
  /** The disk space for inputs. Its owners are accounts. */
  readonly inputSpool: ByteBudget
  readonly jobs: Pick<Jobs, 'find'>
  readonly newId: () => Id
  readonly newHash: NewHash
}

/** A digest that is computed piece by piece, as `node:crypto` has them. */
type RunningHash = {
  update(bytes: Uint8Array): unknown
  digest(encoding: 'hex'): string
}
type NewHash = () => RunningHash

/** The fields that a kind of route reads from its body. */
export type BodyForm = {
  readonly kind: JobKind
  readonly route: string
  /** Whether the body may be a multipart form. */
  readonly takesForms: boolean
  /** Fields that decide the request, beside the media inputs. */
  readonly fields: ReadonlySet<string>
}

/** A request on a media route whose body has not been read. */
type IncomingMedia = {
  readonly id: Id
  readonly caller: Authenticated
  readonly form: BodyForm
  /** Of a multipart form; undefined for JSON. */
  readonly boundary: string | undefined
  readonly idempotencyKey: string | undefined
  readonly openBody: () => BodyBytes
  /** The length of the body; undefined if it comes in chunks. */
  readonly declaredBytes: number | undefined
  /** The memory for the body. The caller releases it. */
  readonly memory: Reservation
  readonly signal: CallerSignal
  /** Of its header. Absent if it has none. */
  readonly tags?: Tags
  readonly record: MediaRecord
}

const imageInputs: ReadonlySet<InputName> = new Set(imageNames)
const videoInputs: ReadonlySet<InputName> = new Set([...imageNames, ...videoNames])

/**
 * Reads the body of a media request, and answers it. Files in the body go to the blob store as they arrive, also those
 * of an account without money: only the whole body says what the request costs, and whether it is valid. Files of a
 * request that made no job are removed before this resolves, or later by the reconciler if that fails. Rejects with the
 * errors of the body and of `answer`.
 */
export async function receiveMedia<Reply>(
  incoming: IncomingMedia,
  answer: (call: MediaCall) => Promise<Reply>,
  ports: ReceiveMediaPorts,
): Promise<Reply> {
  const { id, caller, form, idempotencyKey: key, record } = incoming
  const jobId = ports.newId()
  const space = ports.inputSpool.open(caller.account.id)
  try {
    const { body, digest } = await receiveBody(incoming, { jobId, space }, ports)
    const idempotency =
      key === undefined ? {} : { idempotency: { key, fingerprint: `${form.route} ${digest}` } }
    try {
      const client = { signal: incoming.signal }
      const isForm = incoming.boundary !== undefined
      const attribution = attributionOfBody(body, incoming)
      if (attribution.userId !== undefined) record.userId = attribution.userId
      const call = { id, jobId, route: form.route, caller, body, isForm, client, attribution, record }
      return await answer({ ...call, ...idempotency })
    } finally {
      // If this fails, the client still gets its answer. Without the id of its job, it would pay for another one.
      await removeUnused(filesOf(body), jobId, ports).catch(() => undefined)
    }
  } finally {
    space.release()
  }
}

/** Removes the files of a request that made no job. */
async function removeUnused(
  files: readonly StoredFile[],
  jobId: Id,
  { jobs, blobs }: Pick<ReceiveMediaPorts, 'jobs' | 'blobs'>,
): Promise<void> {
  if (files.length === 0 || (await jobs.find(jobId)) !== undefined) return
  for (const { key } of files) await blobs.remove(key)
}

/**
 * Reads the body, and writes its files to the blob store. The digest is the same for each repeat of a repeatable
 * request. Hashing a large body costs as much as receiving it.
 */
async function receiveBody(
  { form, boundary, idempotencyKey, openBody, declaredBytes, memory, signal }: IncomingMedia,
  { jobId, space }: { readonly jobId: Id; readonly space: Reservation },
  { blobs, newHash }: ReceiveMediaPorts,
): Promise<{ readonly body: MediaBody; readonly digest: string | undefined }> {
  const bytes = openBody()
  const memoryBytes = Math.min(declaredBytes ?? Infinity, MEDIA_BODY_BYTES)
  if (!memory.tryTake(memoryBytes)) await memory.take(memoryBytes, signal)
  const options = {
    boundary,
    prefix: publicId({ id: jobId, kind: form.kind }),
    names: form.kind === 'image' ? imageInputs : videoInputs,
    fields: form.fields,
    bytesMax: FILE_BYTES_MAX,
    takesIds: form.kind === 'video',
  }
  const isRepeatable = idempotencyKey !== undefined
  // The boundary of a form differs in each repeat.
  const hashing = isRepeatable && boundary === undefined ? new HashingStream(bytes, newHash()) : undefined
  const body = await spoolBody(hashing ?? bytes, options, { blobs, space, memory, signal })
  memory.shrinkTo(body.keptBytes)
  if (!isRepeatable) return { body, digest: undefined }
  return { body, digest: hashing?.digest() ?? digestOf(body, newHash()) }
}

/** Passes a stream on, and hashes its bytes on the way. */
class HashingStream implements BodyBytes {
  readonly #source: BodyBytes
  readonly #hash: RunningHash

  constructor(source: BodyBytes, hash: RunningHash) {
    this.#source = source
    this.#hash = hash
  }

  async read() {
    const bytes = await this.#source.read()
    if (bytes !== undefined) this.#hash.update(bytes)
    return bytes
  }

  cancel(): void {
    this.#source.cancel()
  }

  /** In hexadecimal digits, of what was read. Ask once. */
  digest(): string {
    return this.#hash.digest('hex')
  }
}

/** In hexadecimal digits. Files count by their own hashes. */
function digestOf({ fields, inputs }: MediaBody, hash: RunningHash): string {
  const values = [...inputs].map(([name, given]) => [
    name,
    given.map(value => (value.kind === 'file' ? { sha256: value.file.sha256 } : value.text)),
  ])
  hash.update(new TextEncoder().encode(JSON.stringify([fields, values])))
  return hash.digest('hex')
}

/** The user of a request is in the same fields as in OpenAI's text routes. */
function attributionOfBody({ fields }: MediaBody, incoming: Pick<IncomingMedia, 'tags'>): Attribution {
  const userId = openAiUserId(fields)
  return attributionOf({ ...incoming, ...(userId !== undefined && { userId }) })
}

function filesOf({ inputs }: MediaBody): readonly StoredFile[] {
  return [...inputs.values()].flat().flatMap(value => (value.kind === 'file' ? [value.file] : []))
}
