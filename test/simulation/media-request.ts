import { createHash } from 'node:crypto'
import type { Bytes } from '../../src/domain/bytes.ts'
import type { Id } from '../../src/domain/ids.ts'
import { GatewayError } from '../../src/domain/errors.ts'
import type { Job, JobKind } from '../../src/domain/jobs/job.ts'
import { noGuard } from '../support/no-guard.ts'
import { createImageJob } from '../../src/gateway/media/create/create-image-job.ts'
import { DamagedResults } from '../../src/gateway/media/files/damaged-results.ts'
import { createVideoJob } from '../../src/gateway/media/create/create-video-job.ts'
import type { MediaCall } from '../../src/gateway/media/create/media-call.ts'
import { spoolBody } from '../../src/gateway/media/create/spool-body.ts'
import { waitForJob, waitForSubmission } from '../../src/gateway/media/wait-for-job.ts'
import type { Authenticated } from '../../src/gateway/ports/access/api-keys.ts'
import type { CallerSignal } from '../../src/gateway/ports/caller-signal.ts'
import { imageNames, videoNames, type MediaBody } from '../../src/protocol/media/media-body.ts'
import { readVideoRequest } from '../../src/protocol/media/media-requests.ts'
import { Pieces } from './memory-blobs.ts'
import type { SimulatedNode } from './node.ts'
import { publicId, type World } from './world.ts'

/** A request of a client, as it would send it several times. */
export type MediaRequest = {
  readonly kind: JobKind
  readonly caller: Authenticated
  readonly body: Bytes
  readonly idempotencyKey: string | undefined
  readonly waitMs: number | null
}

export function fingerprintOf({ kind, body }: MediaRequest): string {
  return `${kind} ${createHash('sha256').update(body).digest('hex')}`
}

const inputNames = { image: new Set(imageNames), video: new Set([...imageNames, ...videoNames]) }
const fields = new Set(['model', 'prompt', 'n', 'duration', 'seconds', 'wait', 'timeout'])
const BYTES_MAX = 80 * 1024 * 1024

/** Handles a request on a node as the media routes do: spools the body, creates the job, and waits for it. */
export async function handle(
  request: MediaRequest,
  signal: CallerSignal,
  { node, world }: { readonly node: SimulatedNode; readonly world: World },
): Promise<Job> {
  const { kind, caller, waitMs, idempotencyKey: key } = request
  const { blobs } = node.ports
  const jobId = node.newId()
  const upload = new Upload(request.body, signal, node)
  const prefix = publicId({ id: jobId, kind })
  const form = { prefix, names: inputNames[kind], fields, bytesMax: BYTES_MAX, takesIds: kind === 'video' }
  const space = node.ports.inputSpool.open(caller.account.id)
  const memory = node.bodyMemory.open(caller.apiKey.id)
  const body = await spoolBody(upload, form, { blobs, space, memory, signal }).finally(() => {
    space.release()
    memory.release()
  })
  const idempotency = key === undefined ? {} : { idempotency: { key, fingerprint: fingerprintOf(request) } }
  const call = { ...callOf(jobId, caller, body), client: { signal }, ...idempotency, route: `${kind}s` }
  try {
    const job = await create(kind, call, { node, world })
    return waitMs === null
      ? await waitForSubmission(job, { signal }, node)
      : await waitForJob(job, { waitMs, signal }, node)
  } finally {
    if ((await node.jobs.find(jobId)) === undefined) await removeFiles(body, node)
  }
}

function create(
  kind: JobKind,
  call: MediaCall,
  { node, world }: { readonly node: SimulatedNode; readonly world: World },
): Promise<Job> {
  const { jobs, runner, clock, catalog } = node
  const context = { isSandboxOn: true, serves: () => true, random: () => world.random.next() }
  const { isPrivate, providerOf } = node.ports
  const ports = { jobs, guard: noGuard, runner, clock, catalog, isPrivate, providerOf, ...context }
  if (kind === 'image') return createImageJob(call, ports, world.settings)
  const request = readVideoRequest(call.body.fields, { waitMsMax: world.settings.waitMsMax })
  const { blobs } = node.ports
  const damagedResults = new DamagedResults(() => {})
  return createVideoJob(call, request, { ...ports, blobs, damagedResults }, world.settings)
}

function callOf(jobId: Id, caller: Authenticated, body: MediaBody) {
  return { id: jobId, jobId, caller, body, isForm: false, attribution: {}, record: {} }
}

/** Files of a request that made no job. */
async function removeFiles({ inputs }: MediaBody, node: SimulatedNode): Promise<void> {
  for (const value of [...inputs.values()].flat())
    if (value.kind === 'file') await node.ports.blobs.remove(value.file.key)
}

/** A body that arrives at a node piece by piece, and breaks when its client leaves. */
class Upload extends Pieces {
  readonly #signal: CallerSignal
  readonly #node: SimulatedNode

  constructor(bytes: Bytes, signal: CallerSignal, node: SimulatedNode) {
    super(bytes)
    this.#signal = signal
    this.#node = node
  }

  override async read() {
    await this.#node.upload()
    if (this.#signal.aborted)
      throw new GatewayError('malformed_request', 'The client left during its upload.')
    return super.read()
  }
}
