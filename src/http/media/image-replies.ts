import type { Job } from '../../domain/jobs/job.ts'
import { formatUsd } from '../../domain/money.ts'
import { openImages, type ResultPorts } from '../../gateway/media/damaged-results.ts'
import { publicId } from '../../gateway/media/job-id.ts'
import { jsonReply, type HttpReply } from '../request-context.ts'
import { Base64Body, base64Length, type BodyPart } from './base64-json.ts'
import { unixSeconds, unfinishedReply, type Creation } from './created-job.ts'
import { failureError } from './failed-job.ts'

/** The reply to the request that created an image job. */
export async function createdImageReply(
  job: Job,
  creation: Creation,
  ports: ResultPorts,
): Promise<HttpReply> {
  if (job.state !== 'completed') return unfinishedReply(job, creation)
  if (job.archivedAtMs !== null) return imageReply(job, ports)
  const paid = { created: unixSeconds(job.createdAtMs), cost_usd: formatUsd(job.cost ?? job.held) }
  return withImages(paid, job, ports)
}

/** The reply to `GET /v1/images/jobs/{id}`: 200 for every state of the caller's own job. */
export async function imageReply(job: Job, ports: ResultPorts): Promise<HttpReply> {
  const common = { id: publicId(job), status: job.state }
  if (job.state === 'failed') return jsonReply(200, { ...common, cost_usd: '0', error: failureError(job) })
  if (job.state !== 'completed') return jsonReply(200, { ...common, estimated_cost_usd: formatUsd(job.held) })
  const paid = { ...common, cost_usd: formatUsd(job.cost ?? job.held) }
  return job.archivedAtMs === null ? withImages(paid, job, ports) : withoutImages(paid)
}

function withoutImages(fields: object): HttpReply {
  return jsonReply(200, { ...fields, data: [], archived: true })
}

/**
 * `fields` with `data` behind them: each image as base64, read from the blob store while the reply is sent. Without any
 * image, like the reply of an archived job, if a file is missing or changed.
 */
async function withImages(fields: object, job: Job, ports: ResultPorts): Promise<HttpReply> {
  const files = await openImages(job, ports)
  if (files === undefined) return withoutImages(fields)
  // Ids, decimals and state names are ASCII.
  const head = `${JSON.stringify(fields).slice(0, -1)},"data":[`
  const parts: BodyPart[] = [head]
  let contentLength = head.length
  for (const [index, file] of files.entries()) {
    const start = index === 0 ? '{"b64_json":"' : ',{"b64_json":"'
    parts.push(start, file.stream, '"}')
    contentLength += start.length + base64Length(file.bytes) + 2
  }
  parts.push(']}')
  const headers = { 'content-type': 'application/json' }
  return { status: 200, headers, body: new Base64Body(parts), contentLength: contentLength + 2 }
}
