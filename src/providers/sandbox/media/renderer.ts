import type { Rendering, RenderReply, RenderRequest } from './worker.ts'

/** Renderings that are made or wait, at most. A 4K image takes 0.2 s, so the last one waits some ten seconds. */
export const WAITING_MAX = 64
/** Longer than the worker needs for the whole queue and its start. */
const RENDERED_WITHIN_MS = 30_000
/** A worker that keeps failing is not started again. */
const WORKER_FAILURES_MAX = 3

export type Renderer = {
  /** The file's bytes. Undefined if too many renderings wait, or if the worker fails. */
  render(rendering: Rendering): Promise<Uint8Array<ArrayBuffer> | undefined>
  /** Stops the worker. Waiting renderings and all later ones are undefined. */
  close(): void
}

type Waiting = Map<number, (bytes: Uint8Array<ArrayBuffer> | undefined) => void>

/** Renders one file at a time in a separate thread, which starts with the first file. */
export function openRenderer(workerUrl = new URL('worker.ts', import.meta.url)): Renderer {
  const waiting: Waiting = new Map()
  let worker: Worker | undefined
  let failures = 0
  let lastId = 0

  const stop = () => {
    worker?.terminate()
    worker = undefined
    for (const answer of waiting.values()) answer(undefined)
  }
  const fail = (failed: Worker) => {
    // A worker that was stopped may still report its end.
    if (worker !== failed) return
    failures += 1
    stop()
  }

  return {
    async render(rendering) {
      if (failures >= WORKER_FAILURES_MAX || waiting.size >= WAITING_MAX) return undefined
      worker ??= startWorker(workerUrl, waiting, fail)
      lastId += 1
      const id = lastId
      const { promise, resolve } = Promise.withResolvers<Uint8Array<ArrayBuffer> | undefined>()
      waiting.set(id, resolve)
      const running = worker
      const timer = setTimeout(() => fail(running), RENDERED_WITHIN_MS)
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have origins.
      worker.postMessage({ id, rendering } satisfies RenderRequest)
      const bytes = await promise
      clearTimeout(timer)
      waiting.delete(id)
      return bytes
    },
    close() {
      failures = WORKER_FAILURES_MAX
      stop()
    },
  }
}

function startWorker(url: URL, waiting: Waiting, fail: (worker: Worker) => void): Worker {
  // The types are the browser's, in which a worker cannot keep a process alive.
  const worker = new Worker(url.href) as Worker & { unref(): void }
  worker.unref()
  worker.addEventListener('message', ({ data }: MessageEvent<RenderReply>) => {
    waiting.get(data.id)?.(data.bytes)
  })
  worker.addEventListener('error', event => {
    event.preventDefault()
    fail(worker)
  })
  return worker
}
