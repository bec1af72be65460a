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

async function readStream(
  request: Request,
  limits: BodyLimits,
  clock: Clock,
): Promise<Uint8Array<ArrayBuffer>> {
  if (request.body === null) return new Uint8Array()
  const reader = request.body.getReader()
  const chunks: Uint8Array[] = []
  const deadlineMs = clock.now() + limits.totalMs
  let length = 0
  try {
    for (;;) {
      const waitMs = Math.min(limits.idleMs, deadlineMs - clock.now())
      const { done, value } = await withTimer(reader.read(), waitMs, clock)
      if (done) return joined(chunks, length)
      length += value.byteLength
      if (length > limits.bytesMax) throw tooLarge(limits.bytesMax)
      chunks.push(value)
    }
  } catch (error) {
    reader.cancel().catch(() => undefined)
    throw error
  }
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

function tooLarge(bytesMax: number): GatewayError {
  // As the limit was set: with up to three decimals.
  const megabytes = Math.round((bytesMax / BYTES_PER_MB) * 1000) / 1000
  return new GatewayError('request_too_large', `The request body is over the limit of ${megabytes} MB.`)
}

function tooSlow(): GatewayError {
  return new GatewayError('body_timeout', 'The request body did not arrive in time.')
}
