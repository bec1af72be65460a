import { CONNECTIONS_MAX } from '../http1/server/limits.ts'

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
