import type { TextTimeouts } from '../text-timeouts.ts'
import { number } from './fields.ts'
import { definedOnly, type Row } from './row.ts'

/** The longest limit. A model that is silent for longer is a mistake, such as milliseconds. */
export const timeoutS = { min: 0.1, max: 3600, whole: false }

/** The field of each limit in a row. */
const timeoutFields = {
  readTimeoutMs: 'read_timeout_s',
  streamIdleTimeoutMs: 'stream_idle_timeout_s',
  firstByteTimeoutMs: 'first_byte_timeout_s',
} as const satisfies Record<keyof TextTimeouts, string>

/** The fields of a row with all limits. */
export const textTimeoutFields = Object.values(timeoutFields)
/** The fields of a row without streams. */
export const answerTimeoutFields = [timeoutFields.readTimeoutMs]

/** Reads the limits that a row sets. */
export function readTextTimeouts(row: Row): TextTimeouts {
  return definedOnly({
    readTimeoutMs: readMs(row, timeoutFields.readTimeoutMs),
    streamIdleTimeoutMs: readMs(row, timeoutFields.streamIdleTimeoutMs),
    firstByteTimeoutMs: readMs(row, timeoutFields.firstByteTimeoutMs),
  })
}

/** The fields of the limits that are set. */
export function writeTextTimeouts(timeouts: TextTimeouts): Record<string, unknown> {
  const row: Record<string, number> = {}
  for (const [limit, field] of Object.entries(timeoutFields)) {
    const limitMs = timeouts[limit as keyof TextTimeouts]
    if (limitMs !== undefined) row[field] = limitMs / 1000
  }
  return row
}

function readMs(row: Row, field: string): number | undefined {
  const seconds = number(row, field, timeoutS)
  return seconds === undefined ? undefined : Math.round(seconds * 1000)
}
