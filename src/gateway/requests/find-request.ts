import { GatewayError } from '../../domain/errors.ts'
import { formatId, parseId, type Id, type IdPrefix } from '../../domain/ids.ts'
import type { Job } from '../../domain/jobs/job.ts'
import { publicId } from '../media/job-id.ts'
import type { JobEvent, Jobs } from '../ports/media/jobs.ts'
import type { RecordedRequest, RequestRecords } from '../ports/requests/request-records.ts'
import type { BookedMovement, BookedRequest, BookedItems } from '../ports/ledger/booked-items.ts'

/** All that is known about a request: by its record, by the books, and by its job. At least one of them. */
export type FoundRequest = {
  readonly kind: 'request'
  /** `req_…`, or the id of its job if its request is not known. */
  readonly id: string
  readonly record: RecordedRequest | undefined
  readonly booked: BookedRequest | undefined
  readonly job: Job | undefined
  /** What happened to the job, oldest first. */
  readonly jobEvents: readonly JobEvent[]
  /** Why the record could not be read. Undefined if it was read, or if there is none. */
  readonly recordProblem: string | undefined
}

export type FindRequestPorts = {
  readonly records: Pick<RequestRecords, 'find'>
  readonly bookedItems: BookedItems
  readonly jobs: Pick<Jobs, 'find' | 'history'>
  /** How long records are kept, for the message about an unknown id. Undefined if none are kept. */
  readonly recordsKeptDays: number | undefined
}

/** The account that asks. Without one, requests of all accounts are found. */
export type Asker = { readonly id: number; readonly publicId: string } | undefined

const prefixes = ['req', 'img', 'vid', 'hold', 'op'] as const satisfies readonly IdPrefix[]

/**
 * Finds a request by its own id, by that of its job, its hold, its charge, or of a refund of it. The id of a credit or
 * a debit finds that. Throws `not_found` for an id that is not known, or that belongs to another account.
 */
export async function findRequest(
  text: string,
  asker: Asker,
  ports: FindRequestPorts,
): Promise<FoundRequest | BookedMovement> {
  const found = await find(text, ports)
  if (found === undefined || !isOf(asker, found)) throw unknownId(ports)
  return found
}

async function find(
  text: string,
  ports: FindRequestPorts,
): Promise<FoundRequest | BookedMovement | undefined> {
  const id = readId(text)
  if (id === undefined) return undefined
  const item = await ports.bookedItems.find(id)
  if (item !== undefined && item.kind !== 'request') return item
  const first = await recordOf(formatId('req', id), ports)
  const jobId = item?.job ?? readId(first.record?.jobId ?? '')
  const job = jobId && (await ports.jobs.find(jobId))
  const { record, recordProblem } =
    first.record === undefined && job !== undefined ? await recordOf(publicId(job), ports) : first
  const booked = item ?? (job && (await bookedRequest(job.id, ports)))
  if (record === undefined && booked === undefined) return undefined
  return {
    kind: 'request',
    id: record?.id ?? idWithoutRecord(job, booked?.id ?? id),
    record,
    booked,
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

async function bookedRequest(id: Id, { bookedItems }: FindRequestPorts): Promise<BookedRequest | undefined> {
  const booked = await bookedItems.find(id)
  return booked?.kind === 'request' ? booked : undefined
}

function idWithoutRecord(job: Job | undefined, id: Id): string {
  if (job === undefined) return formatId('req', id)
  return job.requestId === null ? publicId(job) : formatId('req', job.requestId)
}

function isOf(asker: Asker, found: FoundRequest | BookedMovement): boolean {
  if (asker === undefined) return true
  if (found.kind !== 'request') return found.accountId === asker.id
  const { record, booked, job } = found
  const numbers = [booked?.accountId, job?.accountId]
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
    `There is no request with this id. An id is that of a request (req_…), a job (img_… or vid_…), a hold (hold_…) or a line of the statement (op_…). A request with an unknown or revoked API key is not kept. ${kept}`,
  )
}
