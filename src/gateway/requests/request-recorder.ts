import type { Clock } from '../ports/clock.ts'
import type {
  RecordBatch,
  RecordCounts,
  RecordedRequest,
  RequestPage,
  RequestQuery,
  RequestRecords,
  RequestReport,
  RequestReportQuery,
  RequestRecordStore,
} from '../ports/requests/request-records.ts'

/**
 * The records that may wait. At 30,000 requests a second they wait for a quarter of a second; beyond, they are lost.
 */
export const QUEUE_MAX = 8192
/** A kill loses the records of at most this time, and of the batch that is being written. */
export const WRITE_EVERY_MS = 250
/** How often old records are deleted while nothing is written. */
export const SWEEP_EVERY_MS = 60_000
/** The keys and codes whose refusals are counted at a time. Refusals with others are not kept within that minute. */
export const REFUSALS_COUNTED_MAX = 4096
/** How long a stop waits for the last batches. */
const CLOSE_WITHIN_MS = 2000
const MINUTE_MS = 60_000
const REPORT_EVERY_MS = MINUTE_MS
const NO_COUNTS: ReadonlyMap<string, number> = new Map()

export type RecorderSettings = {
  /** The refusals that are kept for each key and code in a minute. The others are counted. */
  readonly refusalsPerMinute: number
}

type RecorderPorts = {
  readonly store: RequestRecordStore
  readonly clock: Clock
  /** Called when records are lost, at most once a minute. */
  readonly onProblem: (problem: string) => void
}

/**
 * Records requests in the background: a bounded queue in memory, of which batches go to the store one at a time. A
 * flood of refusals leaves a bounded number of records.
 */
export class RequestRecorder implements RequestRecords {
  readonly isOn = true
  readonly #ports: RecorderPorts
  readonly #refusals: RefusalCounts
  #queue: RecordedRequest[] = []
  #written = 0
  #dropped = 0
  #suppressed = 0
  #problem: string | undefined
  /** The monotonic instant until which problems are not reported again. */
  #quietUntilMs = 0
  #writing: Promise<void> | undefined
  #cancelWrite: (() => void) | undefined
  #cancelSweep: (() => void) | undefined
  #isClosed = false

  constructor(ports: RecorderPorts, { refusalsPerMinute }: RecorderSettings) {
    this.#ports = ports
    this.#refusals = new RefusalCounts(refusalsPerMinute)
  }

  /** Begins to delete old records regularly. */
  start(): void {
    this.#sweepLater()
  }

  add(record: RecordedRequest): boolean {
    if (this.#isClosed) return true
    const isKept = !isRefusal(record) || this.#refusals.take(record, this.#ports.clock.monotonicMs())
    if (!isKept) this.#suppressed += 1
    else if (this.#queue.length >= QUEUE_MAX) {
      this.#lose(1, 'more requests ended than could be written')
      return true
    } else this.#queue.push(record)
    this.#cancelWrite ??= this.#ports.clock.after(WRITE_EVERY_MS, () => void this.#write())
    return isKept
  }

  async list(query: RequestQuery): Promise<RequestPage> {
    await this.#write()
    return this.#ports.store.list(query)
  }

  async find(id: string): Promise<RecordedRequest | undefined> {
    await this.#write()
    return this.#ports.store.find(id)
  }

  async report(query: RequestReportQuery): Promise<RequestReport> {
    await this.#write()
    return this.#ports.store.report(query)
  }

  get counts(): RecordCounts {
    return { written: this.#written, dropped: this.#dropped, suppressed: this.#suppressed }
  }

  get problem(): string | undefined {
    return this.#problem
  }

  /** Writes what waits, within two seconds, and closes the store. Later records are not kept. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelSweep?.()
    const { promise: isLate, resolve } = Promise.withResolvers<void>()
    const cancelTimer = this.#ports.clock.after(CLOSE_WITHIN_MS, resolve)
    await Promise.race([this.#write().then(() => this.#ports.store.close()), isLate])
    cancelTimer()
  }

  /** Writes everything that waits now. Calls at the same time share the work. */
  async #write(): Promise<void> {
    this.#cancelWrite?.()
    this.#cancelWrite = undefined
    // The batches of an earlier call do not have the latest records.
    if (this.#writing !== undefined) await this.#writing
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined))
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    const { store, clock } = this.#ports
    let left = this.#queue.length
    const { alikeRefusals, onlyCounted } = this.#refusals.takeChanged()
    if (left === 0 && onlyCounted.length === 0) return
    do {
      const requests = this.#queue.splice(0, Math.min(left, store.batchMax))
      left -= requests.length
      // With the last batch, because the records that they belong to may be in any of them.
      const counts = left === 0 ? { alikeRefusals, onlyCounted } : { alikeRefusals: NO_COUNTS }
      const { problem } = await store.write({ requests, ...counts, nowMs: clock.now() })
      if (problem === undefined) {
        this.#written += requests.length
        this.#problem = undefined
      } else this.#lose(requests.length, problem)
    } while (left > 0)
  }

  #lose(count: number, problem: string): void {
    this.#dropped += count
    this.#problem = problem
    const nowMs = this.#ports.clock.monotonicMs()
    if (nowMs < this.#quietUntilMs) return
    this.#quietUntilMs = nowMs + REPORT_EVERY_MS
    this.#ports.onProblem(problem)
  }

  #sweepLater(): void {
    this.#cancelSweep = this.#ports.clock.after(SWEEP_EVERY_MS, () => {
      this.#sweep()
        .then(() => (this.#problem = undefined))
        .catch((error: unknown) => this.#lose(0, error instanceof Error ? error.message : String(error)))
        .finally(() => {
          if (!this.#isClosed) this.#sweepLater()
        })
    })
  }

  async #sweep(): Promise<void> {
    while (!this.#isClosed && (await this.#ports.store.sweep(this.#ports.clock.now())));
  }
}

/**
 * Whether a request was refused before it held anything. Such requests cost nothing, so a client can send any number.
 */
function isRefusal({ status, held, cost, jobId, isReplay }: RecordedRequest): boolean {
  return status >= 400 && held === undefined && cost === undefined && jobId === undefined && !isReplay
}

/** The refusals of one key with one code in the current minute. */
type Refusals = {
  kept: number
  /** The last one that was kept. */
  last: RecordedRequest
  /** How many came after it. */
  alike: number
  /** How many of these came since the last batch. */
  untold: number
}

/** Counts refusals by key and code, and says which of them are kept. */
class RefusalCounts {
  readonly #keptMax: number
  readonly #counts = new Map<string, Refusals>()
  #minute = 0
  #changed = new Set<Refusals>()

  constructor(keptMax: number) {
    this.#keptMax = keptMax
  }

  /** Counts a refusal at an instant of the monotonic clock. Returns true if it is kept. */
  take(refused: RecordedRequest, nowMs: number): boolean {
    const { apiKeyId, errorCode, status } = refused
    const minute = Math.floor(nowMs / MINUTE_MS)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#counts.clear()
    }
    const name = `${apiKeyId} ${errorCode ?? status}`
    const refusals = this.#counts.get(name)
    if (refusals === undefined) {
      if (this.#counts.size >= REFUSALS_COUNTED_MAX) return false
      this.#counts.set(name, { kept: 1, last: refused, alike: 0, untold: 0 })
      return true
    }
    if (refusals.kept < this.#keptMax) {
      refusals.kept += 1
      refusals.last = refused
      return true
    }
    refusals.alike += 1
    refusals.untold += 1
    this.#changed.add(refusals)
    return false
  }

  /** The counts that changed since the last call, by the id of the record that has them, and by how much. */
  takeChanged(): Required<Pick<RecordBatch, 'alikeRefusals' | 'onlyCounted'>> {
    if (this.#changed.size === 0) return { alikeRefusals: NO_COUNTS, onlyCounted: [] }
    const changed = [...this.#changed]
    this.#changed = new Set()
    const alikeRefusals = new Map(changed.map(({ last, alike }) => [last.id, alike]))
    const onlyCounted = changed.map(({ last, untold }) => ({ request: last, count: untold }))
    for (const refusals of changed) refusals.untold = 0
    return { alikeRefusals, onlyCounted }
  }
}

/** Request records that are switched off. */
export const noRequestRecords: RequestRecords = {
  isOn: false,
  add: () => true,
  list: async () => ({ requests: [] }),
  find: async () => undefined,
  report: async () => new Map(),
  counts: { written: 0, dropped: 0, suppressed: 0 },
  problem: undefined,
}
