import type { Job, StoredFile } from '../../domain/jobs/job.ts'
import { formatUsd } from '../../domain/money.ts'
import { publicId } from '../../gateway/media/job-id.ts'
import type { Blobs } from '../../gateway/ports/blobs.ts'
import { jsonReply, type HttpReply } from '../request-context.ts'
import { Base64Body, type BodyPart } from './base64-json.ts'
import { seconds, unfinishedReply } from './created-job.ts'
import { failureError } from './failed-job.ts'

type BlobPorts = { readonly blobs: Pick<Blobs, 'read'> }

/** The reply to the request that created an image job. */
export function createdImageReply(job: Job, ports: BlobPorts): HttpReply {
  if (job.state !== 'completed') return unfinishedReply(job)
  if (job.archivedAtMs !== null) return imageReply(job, ports)
  return withImages(
    { created: seconds(job.createdAtMs), cost_usd: formatUsd(job.cost ?? job.held) },
    job,
    ports,
  )
}

/** The reply to `GET /v1/images/jobs/{id}`: 200 for every state of the caller's own job. */
export function imageReply(job: Job, ports: BlobPorts): HttpReply {
  const common = { id: publicId(job), status: job.state }
  if (job.state === 'failed') return jsonReply(200, { ...common, cost_usd: '0', error: failureError(job) })
  if (job.state !== 'completed') return jsonReply(200, { ...common, estimated_cost_usd: formatUsd(job.held) })
  const paid = { ...common, cost_usd: formatUsd(job.cost ?? job.held) }
  return job.archivedAtMs === null
    ? withImages(paid, job, ports)
    : jsonReply(200, { ...paid, data: [], archived: true })
}

/** `fields` with `data` behind them: each image as base64, read from the blob store while the reply is sent. */
function withImages(fields: object, { outputs }: Job, { blobs }: BlobPorts): HttpReply {
  const parts: BodyPart[] = [`${JSON.stringify(fields).slice(0, -1)},"data":[`]
  for (const [index, file] of outputs.entries()) {
    parts.push(index === 0 ? '{"b64_json":"' : ',{"b64_json":"', { open: () => open(file, blobs) }, '"}')
  }
  parts.push(']}')
  return { status: 200, headers: { 'content-type': 'application/json' }, body: new Base64Body(parts) }
}

async function open({ key }: StoredFile, blobs: BlobPorts['blobs']) {
  const blob = await blobs.read(key)
  if (blob === undefined) throw new Error(`The result ${key} is not in the blob store.`)
  return blob.stream
}
