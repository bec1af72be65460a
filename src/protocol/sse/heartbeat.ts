import type { Bytes } from '../../domain/bytes.ts'
import type { Heartbeat } from '../text-dialect.ts'

export const COMMENT_AFTER_MS = 15_000
const NOTHING: Bytes = new Uint8Array()

/**
 * A comment line, which parsers of server-sent events ignore. It is not a part of the answer: a reader that keeps or
 * shares a stream knows it by its identity.
 */
export const COMMENT: Bytes = new TextEncoder().encode(': heartbeat\n\n')

/** The heartbeat of a stream whose client reads frames. `isInsideFrame` says whether a frame that was sent is open. */
export function commentHeartbeat(isInsideFrame: () => boolean): Heartbeat {
  return {
    afterMs: COMMENT_AFTER_MS,
    mayComeFirst: false,
    bytes: () => (isInsideFrame() ? NOTHING : COMMENT),
  }
}
