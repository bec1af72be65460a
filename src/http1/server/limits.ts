/** The largest request head. */
export const HEAD_BYTES_MAX = 32 * 1024
/** From the first byte of a head to its last. */
export const HEAD_TIMEOUT_MS = 10_000
/** How long a connection may wait for its next request: longer than common clients and load balancers keep one. */
export const IDLE_TIMEOUT_MS = 620_000
/** How long a client may take no bytes of a response. */
export const WRITE_TIMEOUT_MS = 600_000

/** The time limits of a server that can be set. The defaults are the constants above. */
export type ConnectionTimeouts = {
  readonly headMs: number
  readonly idleMs: number
  readonly writeMs: number
}
export const DEFAULT_TIMEOUTS: ConnectionTimeouts = {
  headMs: HEAD_TIMEOUT_MS,
  idleMs: IDLE_TIMEOUT_MS,
  writeMs: WRITE_TIMEOUT_MS,
}

/** How much is received before a handler reads it: of a body, or of the next requests. */
export const READ_AHEAD_BYTES = 64 * 1024
/**
 * A body up to this size that has arrived with its head is read at once. A larger one waits for its turn, because one
 * socket read can deliver 512 KB.
 */
export const WHOLE_BODY_BYTES_MAX = 32 * 1024
/** The rest of an unread body is received and dropped up to this size, so that the connection can be used again. */
export const DISCARDED_BYTES_MAX = 4 * 1024 * 1024
/**
 * After the last response, a client that is still sending is received from until one of these limits is reached. It may
 * read the response only when it has sent everything, and closing a connection with unread bytes resets it. The bytes
 * are dropped, so they take no memory. Their limit is above all usual limits of bodies, because the response to a body
 * that is too large must arrive.
 */
export const LINGER_BYTES_MAX = 1024 * 1024 * 1024
export const LINGER_TIMEOUT_MS = 30_000
/** Open connections of a server. Each one takes a few kilobytes. */
export const CONNECTIONS_MAX = 16_384

/** How often a server checks all deadlines. Deadlines are counted in ticks. */
export const TICK_MS = 1000
export const NEVER = Infinity

/**
 * The number of ticks that covers `ms`. One more than the division gives, because the current tick has partly passed.
 */
export function ticks(ms: number): number {
  return Math.ceil(ms / TICK_MS) + 1
}
