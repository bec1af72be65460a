import type { NewJob } from '../../../gateway/ports/media/jobs.ts'
import type { JobProgress, JobRow } from './job-rows.ts'

/**
 * The form in which an event of a job records each column that steps change: as text, as the SHA-256 of a text that can
 * be long, or not at all. The event has its own column for the state, and polls leave no event.
 */
const recordedAs = {
  request: 'sha256',
  changed_at_ms: 'text',
  deadline_at_ms: 'text',
  submitted_at_ms: 'text',
  upstream_id: 'text',
  outputs: 'sha256',
  duration_ms: 'text',
  cost: 'text',
  failure_reason: 'text',
  failure_code: 'text',
  failure_message: 'sha256',
  failure_retry_after_s: 'text',
  archived_at_ms: 'text',
  watch_until_ms: 'text',
  loss: 'text',
  loss_at_ms: 'text',
  loss_by: 'text',
  provider_cost: 'text',
  state: 'not',
  upstream_status: 'not',
  problem: 'not',
  next_poll_at_ms: 'not',
} as const satisfies Record<keyof JobProgress, 'text' | 'sha256' | 'not'>

/** All columns that steps change. */
export const progressColumns = Object.keys(recordedAs) as (keyof JobProgress)[]

/** The columns that events cover. */
const recordedColumns = progressColumns.filter(column => recordedAs[column] !== 'not')

/** The facts of a job's creation beside its columns: the idempotency key of its request. */
type CreationFacts = { readonly keySha256: string; readonly fingerprint: string }

type Facts = Readonly<Record<string, string>>

/** The SHA-256 of a text in UTF-8, in hexadecimal digits. */
export type HashText = (text: string) => string

/**
 * The columns of a job after a step, for the event of that step, as JSON with the columns in their order and without
 * null. Integers are written as their digits. The event of a creation has the idempotency key too, if there was one.
 */
export function factsOf(row: JobProgress, sha256Of: HashText, idempotency?: NewJob['idempotency']): string {
  const creation: CreationFacts | undefined = idempotency && {
    keySha256: sha256Of(idempotency.key),
    fingerprint: idempotency.fingerprint,
  }
  return JSON.stringify({ ...columnFactsOf(row, sha256Of), ...creation })
}

/** The columns of a job that its latest event does not have like this. */
export function changedColumns(facts: string, row: JobRow, sha256Of: HashText): readonly string[] {
  const [before, now] = [factsIn(facts), columnFactsOf(row, sha256Of)]
  return recordedColumns.filter(column => before[column] !== now[column])
}

/** The idempotency key that a job was created with; undefined if there was none. */
export function creationFactsIn(facts: string): CreationFacts | undefined {
  const { keySha256, fingerprint } = factsIn(facts) as Partial<CreationFacts>
  return keySha256 === undefined || fingerprint === undefined ? undefined : { keySha256, fingerprint }
}

/** Empty for a text that another program made unreadable: then every column counts as changed. */
function factsIn(text: string): Facts {
  try {
    const facts: unknown = JSON.parse(text)
    return typeof facts === 'object' && facts !== null ? (facts as Facts) : {}
  } catch {
    return {}
  }
}

function columnFactsOf(row: JobProgress, sha256Of: HashText): Facts {
  const facts: Record<string, string> = {}
  for (const column of recordedColumns) {
    const value = row[column]
    if (value === null) continue
    facts[column] = recordedAs[column] === 'sha256' ? sha256Of(String(value)) : String(value)
  }
  return facts
}
