import type { Job } from '../../domain/jobs/job.ts'
import { formatUsd } from '../../domain/money.ts'
import { publicId } from '../../gateway/media/job-id.ts'
import type { Blobs } from '../../gateway/ports/blobs.ts'
import { jsonReply, type HttpReply } from '../request-context.ts'
import { Base64Body, base64Length, type BodyPart } from './base64-json.ts'
import { unixSeconds, unfinishedReply, type Creation } from './created-job.ts'
import { failureError } from './failed-job.ts'

type BlobPorts = { readonly blobs: Pick<Blobs, 'read'> }

/** The reply to the request that created an image job. */
export async function createdImageReply(job: Job, creation: Creation, ports: BlobPorts): Promise<HttpReply> {
  if (job.state !== 'completed') return unfinishedReply(job, creation)
  if (job.archivedAtMs !== null) return imageReply(job, ports)
  const paid = { created: unixSeconds(job.createdAtMs), cost_usd: formatUsd(job.cost ?? job.held) }
  return withImages(paid, job, ports)
}

/** The reply to `GET /v1/images/jobs/{id}`: 200 for every state of the caller's own job. */
export async function imageReply(job: Job, ports: BlobPorts): Promise<HttpReply> {
  const common = { id: publicId(job), status: job.state }
  if (job.state === 'failed') return jsonReply(200, { ...common, cost_usd: '0', error: failureError(job) })
  if (job.state !== 'completed') return jsonReply(200, { ...common, estimated_cost_usd: formatUsd(job.held) })
  const paid = { ...common, cost_usd: formatUsd(job.cost ?? job.held) }
  return job.archivedAtMs === null
    ? withImages(paid, job, ports)
    : jsonReply(200, { ...paid, data: [], archived: true })
}

/**
 * `fields` with `data` behind them: each image as base64, read from the blob store while the reply is sent. Rejects
 * before anything is sent if a file is missing.
 */
async function withImages(fields: object, { outputs }: Job, { blobs }: BlobPorts): Promise<HttpReply> {
  const files = await Promise.all(outputs.map(({ key }) => blobs.read(key)))
  // Ids, decimals and state names are ASCII.
  const head = `${JSON.stringify(fields).slice(0, -1)},"data":[`
  const parts: BodyPart[] = [head]
  let contentLength = head.length
  for (const [index, file] of files.entries()) {
    if (file === undefined) {
      for (const other of files) other?.stream.cancel()
      throw new Error(`The result ${outputs[index]?.key} is not in the blob store.`)
    }
    const start = index === 0 ? '{"b64_json":"' : ',{"b64_json":"'
    parts.push(start, file.stream, '"}')
    contentLength += start.length + base64Length(file.bytes) + 2
  }
  parts.push(']}')
  const headers = { 'content-type': 'application/json' }
  return { status: 200, headers, body: new Base64Body(parts), contentLength: contentLength + 2 }
}
