import type { SqlValue } from '../../books/canonical.ts'
import { jobsTable } from '../../books/hashed-tables.ts'
import type { JobRow } from './job-rows.ts'

/** Columns that polls change, which leave no event. */
const POLLED: ReadonlySet<string> = new Set(['upstream_status', 'problem'])
/** Columns that can be long. Their SHA-256 is enough to compare them. */
const DIGESTED: ReadonlySet<string> = new Set(['request', 'outputs', 'failure_message'])

/** The columns of a job that its events cover. The state has its own column in the event. */
const columns: readonly string[] = [
  'request',
  'changed_at_ms',
  'deadline_at_ms',
  ...jobsTable.later.filter(column => !POLLED.has(column)),
]

/** The facts of a job's creation beside its columns: the idempotency key of its request. */
export type CreationFacts = { readonly keySha256: string; readonly fingerprint: string }

type Facts = Readonly<Record<string, string>>

/**
 * The columns of a job after a step, for the event of that step, as JSON with the columns in their order and without
 * null. Integers are written as their digits.
 */
export function factsOf(row: JobRow, creation?: CreationFacts): string {
  return JSON.stringify({ ...columnFactsOf(row), ...creation })
}

/** The columns of a job that its latest event does not have like this. */
export function changedColumns(facts: string, row: JobRow): readonly string[] {
  const [before, now] = [factsIn(facts), columnFactsOf(row)]
  return columns.filter(column => before[column] !== now[column])
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

export function sha256Of(text: string): string {
  return Bun.SHA256.hash(text, 'hex')
}

function columnFactsOf(row: JobRow): Facts {
  const values = row as Readonly<Record<string, SqlValue | undefined>>
  const facts: Record<string, string> = {}
  for (const column of columns) {
    const value = values[column] ?? null
    if (value === null) continue
    facts[column] = DIGESTED.has(column) ? sha256Of(String(value)) : String(value)
  }
  return facts
}
