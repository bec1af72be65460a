import { GatewayError } from '../../domain/errors.ts'
import { formatId, parseId, type Id, type IdPrefix } from '../../domain/ids.ts'
import type { Job } from '../../domain/jobs/job.ts'
import { publicId } from '../media/job-id.ts'
import type { JobEvent, Jobs } from '../ports/jobs.ts'
import type { RecordedRequest, RequestRecords } from '../ports/request-records.ts'
import type { MoneyTrace, RequestTrace, Traces } from '../ports/traces.ts'

/** All that is known about a request: by its record, by the books, and by its job. At least one of them. */
export type FoundRequest = {
  readonly kind: 'request'
  /** `req_…`, or the id of its job if its request is not known. */
  readonly id: string
  readonly record: RecordedRequest | undefined
  readonly trace: RequestTrace | undefined
  readonly job: Job | undefined
  /** What happened to the job, oldest first. */
  readonly jobEvents: readonly JobEvent[]
  /** Why the record could not be read. Undefined if it was read, or if there is none. */
  readonly recordProblem: string | undefined
}

export type FindRequestPorts = {
  readonly records: Pick<RequestRecords, 'find'>
  readonly traces: Traces
  readonly jobs: Pick<Jobs, 'find' | 'history'>
  /** How long records are kept, for the message about an unknown id. Undefined if none are kept. */
  readonly recordsKeptDays: number | undefined
}

/** The account that asks. Without one, requests of all accounts are found. */
export type Asker = { readonly id: number; readonly publicId: string } | undefined

const prefixes = ['req', 'img', 'vid', 'hold', 'op'] as const satisfies readonly IdPrefix[]

/**
 * Finds a request by its own id, by that of its job, its hold, its charge, or of a refund of it. The id of a credit or a
 * debit finds that. Throws `not_found` for an id that is not known, or that belongs to another account.
 */
export async function findRequest(
  text: string,
  asker: Asker,
  ports: FindRequestPorts,
): Promise<FoundRequest | MoneyTrace> {
  const found = await find(text, ports)
  if (found === undefined || !isOf(asker, found)) throw unknownId(ports)
  return found
}

async function find(text: string, ports: FindRequestPorts): Promise<FoundRequest | MoneyTrace | undefined> {
  const id = readId(text)
  if (id === undefined) return undefined
  const traced = await ports.traces.trace(id)
  if (traced !== undefined && traced.kind !== 'request') return traced
  const first = await recordOf(formatId('req', id), ports)
  const jobId = traced?.job ?? readId(first.record?.jobId ?? '')
  const job = jobId && (await ports.jobs.find(jobId))
  const { record, recordProblem } =
    first.record === undefined && job !== undefined ? await recordOf(publicId(job), ports) : first
  const trace = traced ?? (job && (await requestTrace(job.id, ports)))
  if (record === undefined && trace === undefined) return undefined
  return {
    kind: 'request',
    id: record?.id ?? idWithoutRecord(job, trace?.id ?? id),
    record,
    trace,
    job,
    jobEvents: job === undefined ? [] : await ports.jobs.history(job.id),
    recordProblem,
  }
}

/** An id of any kind: those of a request, its hold and its charge have the same digits. */
function readId(text: string): Id | undefined {
  for (const prefix of prefixes) {
    const id = parseId(prefix, text)
    if (id !== undefined) return id
  }
  return undefined
}

/** The books explain a request also while its record cannot be read. */
async function recordOf(
  id: string,
  { records }: FindRequestPorts,
): Promise<Pick<FoundRequest, 'record' | 'recordProblem'>> {
  try {
    return { record: await records.find(id), recordProblem: undefined }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return { record: undefined, recordProblem: error.message }
  }
}

async function requestTrace(id: Id, { traces }: FindRequestPorts): Promise<RequestTrace | undefined> {
  const trace = await traces.trace(id)
  return trace?.kind === 'request' ? trace : undefined
}

function idWithoutRecord(job: Job | undefined, id: Id): string {
  if (job === undefined) return formatId('req', id)
  return job.requestId === null ? publicId(job) : formatId('req', job.requestId)
}

function isOf(asker: Asker, found: FoundRequest | MoneyTrace): boolean {
  if (asker === undefined) return true
  if (found.kind !== 'request') return found.accountId === asker.id
  const { record, trace, job } = found
  const numbers = [trace?.accountId, job?.accountId]
  return (
    (record === undefined || record.accountId === asker.publicId) &&
    numbers.every(number => number === undefined || number === asker.id)
  )
}

function unknownId({ recordsKeptDays }: FindRequestPorts): GatewayError {
  const kept =
    recordsKeptDays === undefined
      ? 'Only requests that moved money or made a job are kept.'
      : `Requests that moved no money are kept for ${recordsKeptDays} days, and are known when they have ended.`
  return new GatewayError(
    'not_found',
    `There is no request with this id. An id is that of a request (req_…), a job (img_… or vid_…), a hold (hold_…) or a line of the statement (op_…). ${kept}`,
  )
}
