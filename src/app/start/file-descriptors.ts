import { readdirSync, readFileSync } from 'node:fs'
import { CONNECTIONS_MAX } from '../../http1/server/limits.ts'
import type { ProcessFiles } from '../../telemetry/process-metrics.ts'

/** The file descriptors of this process, read from Linux's /proc. Undefined on other systems. */
export function processFiles(): ProcessFiles {
  return {
    // Reading the folder opens it for a moment, so it lists one descriptor too many.
    open: () => known(() => readdirSync('/proc/self/fd').length - 1),
    max: known(() => limitIn(readFileSync('/proc/self/limits', 'utf8'))),
  }
}

/** For the store, the log, blobs, and the connections that wait to be accepted. */
const OTHER_FILES = 32
/** A request uses one file descriptor for its client and one for its provider. */
const FILES_PER_REQUEST = 2

/**
 * How many connections a server accepts under a limit of open file descriptors; undefined if the system does not report
 * the limit. Without a free descriptor, accepting fails and is tried again without a pause.
 */
export function connectionsMax(filesMax: number | undefined): number {
  const fitting = Math.floor((filesMax ?? Number.POSITIVE_INFINITY) / FILES_PER_REQUEST) - OTHER_FILES
  return Math.max(1, Math.min(CONNECTIONS_MAX, fitting))
}

/** The soft limit in the row `Max open files`; infinite for `unlimited`. */
function limitIn(limits: string): number | undefined {
  const limit = /^Max open files +(\d+|unlimited)/m.exec(limits)?.[1]
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : limit === undefined ? undefined : Number(limit)
}

function known(read: () => number | undefined): number | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
