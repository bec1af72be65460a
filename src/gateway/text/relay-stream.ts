import { GatewayError } from '../../domain/errors.ts'
import type { AdmittedRequest } from './admit-text.ts'
import type { OpenedStream } from './open-stream.ts'
import type { ByteStream } from '../ports/byte-stream.ts'
import type { StreamEnd } from '../ports/text-provider.ts'
import { addFailure } from './text-call.ts'
import { settleStream, streamFailure, type SettlePorts } from './settle-stream.ts'

/** How long an upstream may take to close a stream after its last word, before its connection is dropped instead of kept. */
const CLOSE_WITHIN_MS = 1000
type Bytes = Uint8Array<ArrayBuffer>

const NOTHING = new Uint8Array()

export type RelayedStream = {
  readonly source: ByteStream
  /** Resolves when the stream is over and settled, whoever ended it; `isWhole` where it ended well. Never rejects. */
  readonly ended: Promise<{ readonly isWhole: boolean }>
}

/**
 * Hands an opened stream over as it is read: one piece of the upstream's for each piece the client takes, so that a slow
 * reader slows the upstream. Its last bytes leave when the charge is durable. Every way it can end settles its money, once.
 */
export function relayStream(
  job: AdmittedRequest,
  opened: OpenedStream,
  ports: SettlePorts & { readonly onSettleFailed: (error: unknown) => void },
): RelayedStream {
  const { body, stream } = opened
  const { promise: ended, resolve: tellEnded } = Promise.withResolvers<{ isWhole: boolean }>()
  let ready: Bytes | undefined = opened.first.length > 0 ? opened.first : undefined
  let upstreamEnd: StreamEnd | null = opened.end
  let isOver = false
  let isCancelled = false

  const settle = async (): Promise<Bytes | undefined> => {
    isOver = true
    let isWhole = false
    try {
      const reading = stream.reading()
      const charge = await settleStream(job, reading, opened.reportedCost, ports)
      const last = stream.finish(charge, reading.endedWell ? null : failureOf(upstreamEnd))
      isWhole = reading.endedWell && !isCancelled
      return last.length > 0 ? last : undefined
    } catch (error) {
      return brokenSettlement(error)
    } finally {
      tellEnded({ isWhole })
    }
  }

  /** The charge is not on disk, so its cost must not be told, nor the stream end as if all were well. */
  const brokenSettlement = async (error: unknown) => {
    ports.onSettleFailed(error)
    try {
      await ports.holds.release(job.hold)
    } catch (releaseError) {
      ports.onSettleFailed(releaseError)
    }
    const failure = new GatewayError('server_error', 'The gateway failed to settle this stream.')
    const last = stream.finish(null, failure)
    return last.length > 0 ? last : undefined
  }

  const failureOf = (end: StreamEnd | null) => {
    const { trace } = job.call
    if (end?.end === 'aborted') trace.clientDisconnected = true
    else {
      trace.upstreamProblem = end === null ? 'the stream broke off' : problemOf(end)
      addFailure(trace, end?.end === 'idle' ? 'idle_stream' : 'broken_stream')
    }
    return streamFailure(end)
  }

  /** The next piece that may leave or, where nothing more will come, the last one. */
  const next = async (): Promise<Bytes | undefined> => {
    for (;;) {
      if (stream.isDone || upstreamEnd !== null) break
      const piece = await body.read()
      // `cancel` has settled the stream while this waited.
      if (isOver) return undefined
      const out = passOn(piece)
      if (out.length > 0) return out
    }
    if (upstreamEnd === null) void letClose()
    return settle()
  }

  const passOn = (piece: Bytes | undefined): Bytes => {
    try {
      if (piece !== undefined) return stream.feed(piece)
      upstreamEnd = body.end ?? { end: 'broken', reason: 'the stream ended without a reason' }
      return stream.end()
    } catch (error) {
      // What could not be read ends the stream as a break does, so that its hold never outlives it.
      ports.onSettleFailed(error)
      body.cancel()
      upstreamEnd = { end: 'broken', reason: 'a frame could not be read' }
      return NOTHING
    }
  }

  /** Reads on to the end of the body in the background, so that its connection can serve again. */
  const letClose = async () => {
    const giveUp = ports.clock.after(CLOSE_WITHIN_MS, () => body.cancel())
    while ((await body.read()) !== undefined);
    giveUp()
  }

  const source: ByteStream = {
    async read() {
      const out = ready
      ready = undefined
      return out !== undefined || isOver ? out : next()
    },
    cancel() {
      if (isOver) return
      isOver = true
      isCancelled = true
      upstreamEnd ??= { end: 'aborted' }
      // A read that waits is given its end within this.
      body.cancel()
      void settle()
    },
  }
  return { source, ended }
}

function problemOf(end: StreamEnd): string {
  return end.end === 'broken' ? `the stream broke: ${end.reason}` : `the stream ended: ${end.end}`
}
