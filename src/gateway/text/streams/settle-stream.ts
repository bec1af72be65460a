import { GatewayError } from '../../../domain/errors.ts'
import type { StreamCharge, StreamReading } from '../../../protocol/text-dialect.ts'
import type { StreamEnd } from '../../ports/providers/text-provider.ts'
import type { AttemptRecord } from '../../upstreams/attempt-result.ts'
import type { AdmittedRequest } from '../admit-text.ts'
import { freeHold, meterUsage, providerBillOf, settleText, type SettleTextPorts } from '../settle-text.ts'
import type { OpenedStream } from './open-stream.ts'
import { priceInterrupted, priceText } from '../price-text.ts'
import type { StreamEnding } from '../text-result.ts'
import type { TextRecord } from '../text-record.ts'
import type { Bytes } from '../../../domain/bytes.ts'

export type StreamRun = {
  readonly admitted: AdmittedRequest
  readonly attempt: AttemptRecord<unknown>
  readonly opened: OpenedStream
}

/** Settles a stream once, however it ends, and frees its hold. */
export class StreamSettlement {
  /** Resolves when the stream is settled. Never rejects. */
  readonly ended: Promise<StreamEnding>
  readonly #resolveEnded: (ending: StreamEnding) => void
  readonly #run: StreamRun
  readonly #ports: SettleTextPorts
  #hasBegun = false

  constructor(run: StreamRun, ports: SettleTextPorts) {
    const { promise, resolve } = Promise.withResolvers<StreamEnding>()
    this.ended = promise
    this.#resolveEnded = resolve
    this.#run = run
    this.#ports = ports
  }

  /** Whether the stream is settled or is being settled. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /**
   * Charges the stream and returns its last bytes, which may be none. They are for the client when the charge is
   * durable. `end` is how the upstream's body ended; undefined if it did not end before the stream was complete. Never
   * rejects. Call it once.
   *
   * `isRead` says that the client reads these bytes. `isFinished` says that the stream was read on without its client.
   */
  async settle(
    end: StreamEnd | undefined,
    { isRead, isFinished = false }: { readonly isRead: boolean; readonly isFinished?: boolean },
  ): Promise<Bytes> {
    this.#hasBegun = true
    const { admitted, attempt, opened } = this.#run
    let isWhole = false
    let charge: StreamCharge | null = null
    try {
      const reading = opened.stream.reading()
      if (isOwed(reading)) charge = await this.#charge(reading, { isFinished })
      if (!reading.endedWell) {
        reportBreak(admitted.call.record, end, attempt.destination.provider.id)
        if (end?.end === 'idle') this.#ports.idleStreams.count(admitted.model.id)
        return opened.stream.finish(charge, breakForClient(end))
      }
      const last = opened.stream.finish(charge, null)
      isWhole = isRead
      return last
    } catch (error) {
      this.#ports.onSettleFailed(error)
      // The charge is not durable, so the stream must not name its cost, and must not look complete.
      const failure = new GatewayError('server_error', 'The gateway failed to settle this stream.')
      return opened.stream.finish(null, failure)
    } finally {
      // A charge has ended the hold.
      if (charge === null) await freeHold(admitted, this.#ports)
      this.#resolveEnded({ isWhole })
    }
  }

  async #charge(
    reading: StreamReading,
    { isFinished }: { readonly isFinished: boolean },
  ): Promise<StreamCharge> {
    const { admitted, attempt, opened } = this.#run
    const { quote } = admitted
    // A row that charges the upstream's own cost has no tariff, and its streams do not name a cost.
    const isPriced = quote.pricing.kind !== 'upstream_cost'
    const usage = await meterUsage(reading, admitted, attempt, this.#ports)
    const bill = providerBillOf(reading, opened.reportedCost, attempt.destination)
    const charged =
      isFinished || !(isPriced || reading.endedWell)
        ? priceInterrupted(quote, usage, bill)
        : { metered: usage, price: priceText(quote, usage, bill) }
    const cost = await settleText(admitted, attempt, charged, this.#ports)
    if (reading.endedWell && reading.usage !== null)
      this.#ports.recentPrompts.note(admitted, attempt.destination, reading.usage)
    return { cost: isPriced ? cost : null, usage: charged.metered.usage }
  }
}

/**
 * Whether a stream is charged: it ended well, or it produced output, which may be known only from the upstream's usage.
 * Input alone is not charged.
 */
export function isOwed({ endedWell, outputBegan, usage }: StreamReading): boolean {
  return (
    endedWell || outputBegan || (usage !== null && usage.output + usage.reasoning + usage.audioOutput > 0)
  )
}

function reportBreak(record: TextRecord, end: StreamEnd | undefined, provider: string): void {
  if (end?.end === 'aborted') {
    record.clientDisconnected = true
    return
  }
  record.upstreamProblem = end === undefined ? 'the stream broke off' : breakProblem(end)
  const reason = end?.end === 'idle' ? 'idle_stream' : 'broken_stream'
  record.upstreamFailures = [...(record.upstreamFailures ?? []), { provider, reason }]
  record.attempts = [...(record.attempts?.slice(0, -1) ?? []), { provider, reason }]
}

function breakProblem(end: StreamEnd): string {
  return end.end === 'broken' ? `the stream broke: ${end.reason}` : `the stream ended: ${end.end}`
}

/** The error in a stream that did not end well. Money may have moved, so a client library must not retry by itself. */
function breakForClient(end: StreamEnd | undefined): GatewayError {
  if (end?.end === 'idle')
    return new GatewayError('upstream_timeout', 'The model stopped sending, and the stream was ended.')
  return new GatewayError('upstream_error', 'The stream broke off before the answer was complete.')
}
