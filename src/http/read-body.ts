import { GatewayError } from '../domain/errors.ts'
import type { Clock } from '../gateway/ports/clock.ts'

export type BodyLimits = {
  readonly bytesMax: number
  /** How long an upload may go without a byte. A server without this bound can be held by uploads that only drip. */
  readonly idleMs: number
  /** How long an upload may take in all. */
  readonly totalMs: number
}

/** Up to here a body is read in one piece and only its total time is watched. */
const SMALL_BYTES = 1 << 20

const FIRST_BYTES = 1 << 16

const BYTES_PER_MB = 1 << 20

/**
 * The whole body. Throws `request_too_large` as soon as the declared or the received length passes the limit, and
 * `body_timeout` for an upload that stalls. After either the connection must be closed: the rest of the body may still come.
 */
export async function readBody(
  request: Request,
  limits: BodyLimits,
  clock: Clock,
): Promise<Uint8Array<ArrayBuffer>> {
  const declared = request.headers.get('content-length')
  if (declared !== null) {
    const length = Number(declared)
    if (length > limits.bytesMax) throw tooLarge(limits.bytesMax)
    if (length <= SMALL_BYTES) return withTimer(request.bytes(), limits.idleMs, clock)
  }
  return readStream(request, limits, clock)
}

function withTimer<T>(body: Promise<T>, timeoutMs: number, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(timeoutMs, () => reject(tooSlow()))
    body.then(resolve, reject).finally(cancel)
  })
}

/** Into one buffer that grows: a client can send pieces of one byte, and kept one by one they weigh a hundred times as much. */
async function readStream(
  request: Request,
  limits: BodyLimits,
  clock: Clock,
): Promise<Uint8Array<ArrayBuffer>> {
  if (request.body === null) return new Uint8Array()
  const reader = request.body.getReader()
  const deadlineMs = clock.now() + limits.totalMs
  let buffer = new ArrayBuffer(FIRST_BYTES)
  let length = 0
  try {
    for (;;) {
      const waitMs = Math.min(limits.idleMs, deadlineMs - clock.now())
      const { done, value } = await withTimer(reader.read(), waitMs, clock)
      if (done) return new Uint8Array(buffer.transfer(length))
      const end = length + value.byteLength
      if (end > limits.bytesMax) throw tooLarge(limits.bytesMax)
      if (end > buffer.byteLength) buffer = buffer.transfer(Math.max(end, 2 * buffer.byteLength))
      new Uint8Array(buffer).set(value, length)
      length = end
    }
  } catch (error) {
    reader.cancel().catch(() => undefined)
    throw error
  }
}

function tooLarge(bytesMax: number): GatewayError {
  // As the limit was set: with up to three decimals.
  const megabytes = Math.round((bytesMax / BYTES_PER_MB) * 1000) / 1000
  return new GatewayError('request_too_large', `The request body is over the limit of ${megabytes} MB.`)
}

function tooSlow(): GatewayError {
  return new GatewayError('body_timeout', 'The request body did not arrive in time.')
}
