import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../../gateway/ports/clock.ts'
import type {
  RecordedRequest,
  RequestPage,
  RequestReport,
  RequestRecordStore,
} from '../../../gateway/ports/requests/request-records.ts'
import { countedRefusals, tokensOf } from '../../books/requests/request-counts.ts'
import { readRequestCursor } from '../../books/requests/request-list.ts'
import { RequestReads } from '../../books/requests/request-reads.ts'
import { requestValuesOf } from '../../books/requests/request-rows.ts'
import type { OpenRequestFile, RecordsCall, RecordsReply } from './worker.ts'

/**
 * Each transaction writes a page of the indexes for nearly every account and key that it has, so that one transaction
 * of 1024 records costs a half to four fifths of four of 256.
 */
const BATCH_MAX = 1024
/** Records that are made into text in one turn of the event loop, which takes about a third of a millisecond. */
const TEXT_MAX = 256
/** A call that takes longer has most likely met a disk that does not answer. */
const ANSWER_WITHIN_MS = 10_000

/**
 * Opens the store of request records: a SQLite file of its own, which a worker writes and reads, so that neither a slow
 * disk nor a long list delays a request. The worker starts with the first call. `onDamaged` is called when the file was
 * damaged and a new one was begun.
 */
export function openRequestStore(
  file: OpenRequestFile,
  {
    clock,
    onDamaged,
  }: { readonly clock: Pick<Clock, 'after'>; readonly onDamaged: (problem: string) => void },
): RequestRecordStore {
  const worker = new RecordsWorker(file, { clock, onDamaged })
  const reads = new RequestReads()
  const read = <Result>(call: RecordsCall) => reads.run(() => worker.call(call) as Promise<Result>)
  return {
    batchMax: BATCH_MAX,
    async write(batch) {
      const { alikeRefusals, nowMs } = batch
      try {
        const rows = await textsOf(batch.requests)
        const tokens = tokensOf(batch.requests)
        const refusals = countedRefusals(batch)
        await worker.call({ call: 'write', rows, tokens, refusals, alikeRefusals: [...alikeRefusals], nowMs })
        return {}
      } catch (error) {
        return { problem: error instanceof Error ? error.message : String(error) }
      }
    },
    async list(query) {
      // Here, because an error loses its class on the way from the worker.
      readRequestCursor(query)
      return read<RequestPage>({ call: 'list', query })
    },
    find: id => read<RecordedRequest | undefined>({ call: 'find', id }),
    report: query => read<RequestReport>({ call: 'report', query }),
    sweep: async nowMs => (await worker.call({ call: 'sweep', nowMs })) as boolean,
    close: () => worker.close(),
  }
}

/** The rows of the records as JSON. */
async function textsOf(requests: readonly RecordedRequest[]): Promise<readonly string[]> {
  const texts: string[] = []
  for (let at = 0; at < requests.length; at += TEXT_MAX) {
    if (at > 0) await nextTurn()
    texts.push(JSON.stringify(requests.slice(at, at + TEXT_MAX).map(requestValuesOf)))
  }
  return texts
}

type Waiting = { readonly resolve: (result: unknown) => void; readonly reject: (error: Error) => void }

/** Calls the worker, which answers in order. A worker that fails or does not answer is replaced at the next call. */
class RecordsWorker {
  readonly #file: OpenRequestFile
  readonly #clock: Pick<Clock, 'after'>
  readonly #onDamaged: (problem: string) => void
  #worker: Worker | undefined
  #waiting: Waiting[] = []
  #isClosed = false

  constructor(
    file: OpenRequestFile,
    { clock, onDamaged }: { clock: Pick<Clock, 'after'>; onDamaged: (problem: string) => void },
  ) {
    this.#file = file
    this.#clock = clock
    this.#onDamaged = onDamaged
  }

  /** Rejects with the worker's error. */
  async call(call: RecordsCall): Promise<unknown> {
    if (this.#isClosed) throw new Error('The records are closed.')
    return this.#send(call)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#worker === undefined) return
    await this.#send({ call: 'close' }).catch(() => undefined)
    this.#stop(new Error('The records are closed.'))
  }

  async #send(call: RecordsCall): Promise<unknown> {
    const worker = (this.#worker ??= this.#start())
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#waiting.push({ resolve, reject })
    const cancelTimer = this.#clock.after(ANSWER_WITHIN_MS, () => {
      if (this.#worker === worker) this.#stop(new Error('The records did not answer in time.'))
    })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have origins.
    worker.postMessage(call)
    try {
      return await promise
    } finally {
      cancelTimer()
    }
  }

  #start(): Worker {
    // The type is the browser's, which has no `unref`.
    const started = new Worker(new URL('./worker.ts', import.meta.url).href, { smol: true }) as Worker & {
      unref(): void
    }
    started.unref()
    started.addEventListener('message', ({ data }: MessageEvent<RecordsReply>) => {
      // A stopped worker may still answer.
      if (this.#worker !== started) return
      if ('damaged' in data) this.#onDamaged(data.damaged)
      else if ('failure' in data) this.#waiting.shift()?.reject(new Error(data.failure))
      else this.#waiting.shift()?.resolve(data.result)
    })
    started.addEventListener('error', event => {
      event.preventDefault()
      if (this.#worker === started)
        this.#stop(new Error(`The worker of the records failed: ${event.message}`))
    })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have origins.
    started.postMessage(this.#file)
    return started
  }

  #stop(error: Error): void {
    this.#worker?.terminate()
    this.#worker = undefined
    const waiting = this.#waiting
    this.#waiting = []
    for (const { reject } of waiting) reject(error)
  }
}
