/** Node and uvicorn close a connection that is idle for 5 seconds, and do not always announce it. */
const IDLE_MS = 4_000
/** How long before the announced end an idle connection is closed, so that no request meets the end on its way. */
const MARGIN_MS = 1_000
/** The longest time for an idle connection, even if its server announces more. */
const IDLE_MS_MAX = 120_000

const TIMEOUT = /(?:^|[\s,;])timeout\s*=\s*"?(\d{1,9})(?!\d)/i

/**
 * How long a connection may be idle, by the `Keep-Alive` header of its last response. Not above 0 if it must not be
 * used again.
 */
export function idleTimeMs(keepAlive: string | null): number {
  const seconds = keepAlive === null ? undefined : TIMEOUT.exec(keepAlive)?.[1]
  return seconds === undefined ? IDLE_MS : Math.min(Number(seconds) * 1000 - MARGIN_MS, IDLE_MS_MAX)
}
