let poll = 0
let isPolling = false

/**
 * To be called first in every callback of a socket. The event loop polls the sockets, calls back for all that are
 * ready, then runs what else is due, ends with the callbacks of `setImmediate`, and polls again.
 */
export function onSocketEvent(): void {
  if (isPolling) return
  isPolling = true
  setImmediate(endPoll)
}

/** The number of the poll whose callbacks still run. Undefined if the next socket event comes from another poll. */
export function currentPoll(): number | undefined {
  return isPolling ? poll : undefined
}

function endPoll(): void {
  isPolling = false
  poll += 1
}
