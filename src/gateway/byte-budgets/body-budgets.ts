import { GatewayError } from '../../domain/errors.ts'
import type { Clock } from '../ports/clock.ts'
import { ByteBudget } from './byte-budget.ts'

const KB = 1024
const MB = 1024 * KB

/** A key gets a quarter of the memory, and an account a quarter of the disk space. */
const SHARES = 4
const WAIT_MS = 10_000
const RETRY_AFTER_S = '5'

/** Text requests are hardly ever larger. */
const SMALL_BODY_BYTES_MAX = 256 * KB
/** Large bodies never take this memory, so that ordinary requests are served while large ones wait. */
const SMALL_BODIES_BYTES = 64 * MB

/** The memory for request bodies of all routes. The owners are API keys. */
export function bodyMemory(bytesMax: number, clock: Clock): ByteBudget {
  const small = { bytesMax: SMALL_BODY_BYTES_MAX, keptBytes: SMALL_BODIES_BYTES }
  return new ByteBudget({ bytesMax, shares: SHARES, waitMs: WAIT_MS, small }, clock, () =>
    overloaded('The gateway is receiving too many large requests.'),
  )
}

/** The largest body that can ever get its memory. */
export function largestBodyIn(memoryBytes: number): number {
  return (memoryBytes - SMALL_BODIES_BYTES) / SHARES
}

/**
 * The disk space for the files of running requests: those that arrive in their bodies, and those that a video job
 * fetches before its submission. The owners are accounts.
 */
export function inputSpool(bytesMax: number, clock: Clock): ByteBudget {
  const small = { bytesMax: 0, keptBytes: 0 }
  return new ByteBudget({ bytesMax, shares: SHARES, waitMs: WAIT_MS, small }, clock, () =>
    overloaded('The gateway is storing too many files.'),
  )
}

/** The largest body whose files can ever get their space. */
export function largestBodyOn(spoolBytes: number): number {
  return spoolBytes / SHARES
}

/**
 * The memory for a media body, whose files go to disk: up to 1 MB of other fields, the buffers in which they grow, and
 * the piece that is being read. Larger fields take more memory as they arrive.
 */
export const MEDIA_BODY_BYTES = 2 * MB

/** The memory for a media body that has these bytes in buffers. A buffer that is full is copied into a larger one. */
export function mediaBodyMemory(bufferedBytes: number): number {
  return Math.max(MEDIA_BODY_BYTES, 2 * bufferedBytes)
}

/** If a request is refused because of its body, its connection is closed, because the rest of the body is not read. */
function overloaded(problem: string): GatewayError {
  return new GatewayError('overloaded', `${problem} Try again shortly.`, { retryAfter: RETRY_AFTER_S })
}
