import { GatewayError } from '../../domain/errors.ts'
import type { Id } from '../../domain/ids.ts'
import { addUsd, formatUsd, ZERO } from '../../domain/money.ts'
import type { JobKind, StoredFile } from '../../domain/jobs/job.ts'
import { publicId } from '../../gateway/media/job-id.ts'
import type { MediaCall } from '../../gateway/media/media-call.ts'
import { MEDIA_BODY_BYTES } from '../../gateway/budgets/body-budgets.ts'
import type { ByteBudget, Reservation } from '../../gateway/budgets/byte-budget.ts'
import { spoolBody } from '../../gateway/media/spool-body.ts'
import type { Accounts, Authenticated } from '../../gateway/ports/accounts.ts'
import type { Blobs } from '../../gateway/ports/blobs.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { Jobs } from '../../gateway/ports/jobs.ts'
import type { Ledger } from '../../gateway/ports/ledger.ts'
import type { BodyLimits } from '../../http1/server/request-body.ts'
import { imageNames, videoNames, type InputName } from '../../protocol/media/input-names.ts'
import { FILE_BYTES_MAX } from '../../protocol/media/media-body-events.ts'
import { invalidForm } from '../../protocol/media/invalid-form.ts'
import type { MediaBody } from '../../protocol/media/media-body.ts'
import { multipartBoundary } from '../../protocol/media/multipart-boundary.ts'
import { authenticate, type HashKey } from '../authenticate.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import type { Handler, HttpReply, RequestContext } from '../request-context.ts'
import { HashingStream, type NewHash, type RunningHash } from './hashing-stream.ts'

const KEY_CHARS_MAX = 255

export type MediaRoutePorts = {
  readonly accounts: Accounts
  readonly hashKey: HashKey
  readonly ledger: Pick<Ledger, 'balance'>
  readonly blobs: Blobs
  /** Its owners are API keys. */
  readonly bodyMemory: ByteBudget
  /** Its owners are accounts. */
  readonly inputSpool: ByteBudget
  readonly jobs: Pick<Jobs, 'find' | 'findByKey'>
  readonly clock: Clock
  readonly newId: () => Id
  readonly newHash: NewHash
  readonly bodyLimits: BodyLimits
}

/** The fields that a kind of route reads from its body. */
export type BodyForm = {
  readonly kind: JobKind
  readonly route: string
  /** Fields that decide the request, beside the media inputs. */
  readonly fields: ReadonlySet<string>
}

const imageInputs: ReadonlySet<InputName> = new Set(imageNames)
const videoInputs: ReadonlySet<InputName> = new Set([...imageNames, ...videoNames])

/**
 * A media route for holders of an API key. Files in the body go to the blob store as they arrive, once the account has
 * money. Files of a request that made no job are removed before the reply.
 */
export function mediaRoute(
  form: BodyForm,
  answer: (call: MediaCall, request: IncomingRequest) => Promise<HttpReply>,
  ports: MediaRoutePorts,
): Handler {
  return async context => {
    const { request, id, trace } = context
    const caller = await authenticate(request, ports)
    trace.accountId = caller.account.publicId
    trace.apiKeyId = caller.apiKey.publicId
    const boundary = formBoundary(request, form)
    const key = idempotencyKey(request)
    await requireMoney(caller, key, ports)
    const jobId = ports.newId()
    const space = ports.inputSpool.open(caller.account.id)
    try {
      const isRepeatable = key !== undefined
      const receiving = { form, boundary, jobId, caller, space, isRepeatable }
      const { body, digest } = await receiveBody(context, receiving, ports)
      const idempotency =
        key === undefined ? {} : { idempotency: { key, fingerprint: `${form.route} ${digest}` } }
      try {
        const call = { id, jobId, route: form.route, caller, body, client: request, trace, ...idempotency }
        return await answer(call, request)
      } finally {
        const files = filesOf(body)
        if (files.length > 0 && (await ports.jobs.find(jobId)) === undefined)
          for (const { key } of files) await ports.blobs.remove(key)
      }
    } finally {
      space.release()
    }
  }
}

type Receiving = {
  readonly form: BodyForm
  /** Of a multipart form. */
  readonly boundary: string | undefined
  readonly jobId: Id
  readonly caller: Authenticated
  readonly space: Reservation
  /** Whether it has an idempotency key. */
  readonly isRepeatable: boolean
}

/**
 * Reads the body, and writes its files to the blob store. The digest is the same for each repeat of a repeatable
 * request. Hashing a large body costs as much as receiving it.
 */
async function receiveBody(
  context: RequestContext,
  { form, boundary, jobId, caller, space, isRepeatable }: Receiving,
  ports: MediaRoutePorts,
): Promise<{ readonly body: MediaBody; readonly digest: string | undefined }> {
  const { request } = context
  const bytes = request.stream(ports.bodyLimits)
  const memory = (context.bodyMemory = ports.bodyMemory.open(caller.apiKey.id))
  const memoryBytes = Math.min(request.declaredBytes ?? Infinity, MEDIA_BODY_BYTES)
  if (!memory.tryTake(memoryBytes)) await memory.take(memoryBytes, request.signal)
  const options = {
    boundary,
    prefix: publicId({ id: jobId, kind: form.kind }),
    names: form.kind === 'image' ? imageInputs : videoInputs,
    fields: form.fields,
    bytesMax: FILE_BYTES_MAX,
    takesIds: form.kind === 'video',
  }
  // The boundary of a form differs in each repeat.
  const hashing =
    isRepeatable && boundary === undefined ? new HashingStream(bytes, ports.newHash()) : undefined
  const spooling = { blobs: ports.blobs, space, signal: request.signal }
  const body = await spoolBody(hashing ?? bytes, options, spooling)
  memory.shrinkTo(body.keptBytes)
  if (!isRepeatable) return { body, digest: undefined }
  return { body, digest: hashing?.digest() ?? digestOf(body, ports.newHash()) }
}

/**
 * The boundary of a multipart form; undefined for JSON. Image routes accept only JSON.
 */
function formBoundary(request: IncomingRequest, { kind }: BodyForm): string | undefined {
  const type = request.header('content-type') ?? ''
  if (!type.toLowerCase().startsWith('multipart/')) return undefined
  if (kind === 'image') throw new GatewayError('invalid_json', 'Invalid JSON')
  const boundary = multipartBoundary(type)
  if (boundary === undefined)
    throw invalidForm('it must be multipart/form-data, with its boundary in the content-type')
  return boundary
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

/**
 * Checked before anything is written to disk. The cost of the job is checked when it is known. A repeat by an
 * idempotency key is free.
 */
async function requireMoney(
  { account }: Authenticated,
  key: string | undefined,
  { ledger, jobs, clock }: MediaRoutePorts,
): Promise<void> {
  const { available, held } = await ledger.balance(account.id)
  if (available > ZERO) return
  // Checked after the balance: if the job took the last money since, its key is recorded by now.
  if (key !== undefined && (await jobs.findByKey(account.id, key, clock.now())) !== undefined) return
  throw new GatewayError('insufficient_balance', 'No money is available on this account. Add funds.', {
    extensions: { available_usd: formatUsd(available), held_usd: formatUsd(addUsd(held.text, held.media)) },
  })
}

function idempotencyKey(request: IncomingRequest): string | undefined {
  const key = request.header('idempotency-key')
  if (key === null || key === '') return undefined
  if (key.length <= KEY_CHARS_MAX) return key
  throw new GatewayError(
    'invalid_field',
    `"Idempotency-Key" must have at most ${KEY_CHARS_MAX} characters.`,
    {
      param: 'Idempotency-Key',
    },
  )
}

function filesOf({ inputs }: MediaBody): readonly StoredFile[] {
  return [...inputs.values()].flat().flatMap(value => (value.kind === 'file' ? [value.file] : []))
}
