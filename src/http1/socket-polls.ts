/** The owner of a socket, as far as received bytes concern it. */
export interface Receiver {
  onData(bytes: Buffer<ArrayBuffer>): void
  /** `onData` threw, which is a defect. */
  onFault(error: unknown): void
}

/** More waiting bytes than this are delivered at once, so that a poll with large bodies keeps little memory. */
const WAITING_BYTES_MAX = 256 * 1024

/**
 * The runtime asks the system for at most 1,024 ready sockets at a time. If there were as many, it asks again before
 * the callbacks of `setImmediate`, so that a later callback may be of bytes that arrived after an earlier one. This is
 * half of it, because a ready socket may have no callback here.
 */
const CALLBACKS_OF_ONE_POLL_MAX = 512

type Delivery = { readonly receiver: Receiver; readonly bytes: Buffer<ArrayBuffer> }

let poll = 0
let isPolling = false
let callbacks = 0
const waiting: Delivery[] = []
let waitingBytes = 0

/**
 * To be called first in every callback of a socket, except that for received bytes. The event loop polls the sockets,
 * calls back for all that are ready, then runs what else is due, ends with the callbacks of `setImmediate`, and polls
 * again. Bytes that arrived earlier are delivered before the event.
 */
export function onSocketEvent(): void {
  beginPoll()
  deliver()
}

/**
 * To be called in the callback for received bytes. They are delivered when the callbacks of all sockets of this poll
 * have run, so that each step of the work is done for all requests before the next step. This saves CPU time while many
 * requests run; docs/decisions/simplicity-over-microseconds.md has the figures. The runtime gives each callback bytes
 * of its own, so they need no copy.
 */
export function onSocketData(receiver: Receiver, bytes: Buffer<ArrayBuffer>): void {
  beginPoll()
  waiting.push({ receiver, bytes })
  waitingBytes += bytes.length
  if (waitingBytes > WAITING_BYTES_MAX) deliver()
}

/**
 * The number of the poll whose callbacks, or whose bytes, are being handled. Undefined if the next socket event comes
 * from another poll, or may do so.
 */
export function currentPoll(): number | undefined {
  return isPolling && callbacks <= CALLBACKS_OF_ONE_POLL_MAX ? poll : undefined
}

function beginPoll(): void {
  callbacks += 1
  if (isPolling) return
  isPolling = true
  setImmediate(endPoll)
}

function endPoll(): void {
  deliver()
  isPolling = false
  callbacks = 0
  poll += 1
}

/** A receiver may cause another socket event. It then delivers the rest before this call continues, in order. */
function deliver(): void {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    waitingBytes -= next.bytes.length
    try {
      next.receiver.onData(next.bytes)
    } catch (error) {
      next.receiver.onFault(error)
    }
  }
}
