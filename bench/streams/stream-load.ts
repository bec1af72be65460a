import { connect, type Connection } from '../connection.ts'
import type { Peer } from '../peers/peer.ts'
import { CHAT_PATH, paces, streamPath, type StreamWorkload } from '../workloads/streams.ts'
import { StreamReplies } from './stream-reply.ts'

export type StreamLoad = {
  /**
   * Reads `streams` streams to their ends. Each connection requests its next stream when the previous one has ended.
   * Throws if a stream is refused, ends without `[DONE]`, or stalls.
   */
  run(streams: number): Promise<StreamLoadResult>
  close(): void
}

export type StreamLoadResult = {
  readonly seconds: number
  /** The time from the first byte sent to the first byte of the body, in ascending order. */
  readonly firstTokenMs: Float64Array
  /** The average number of socket reads per stream. */
  readonly readsPerStream: number
}

/** A run fails if no stream ends for this long. */
const STALL_MS = 20_000

/**
 * Opens connections for streams of one kind. They start one after another, so that starts and ends are spread over the
 * run.
 */
export async function openStreamLoad(
  peer: Peer,
  workload: StreamWorkload,
  connections: number,
): Promise<StreamLoad> {
  const open: { readonly connection: Connection; readonly replies: StreamReplies }[] = []
  let run: Run | undefined

  const sendNext = (connection: Connection, replies: StreamReplies) => {
    if (run === undefined || run.sent === run.firstTokenMs.length) return
    run.sent += 1
    replies.begin()
    connection.send()
  }
  for (let index = 0; index < connections; index += 1) {
    const replies = new StreamReplies()
    let isBegun = false
    const connection = await connect(peer, requestKind(peer, workload), {
      received(connection, bytes) {
        if (run === undefined) return
        try {
          const progress = replies.feed(bytes)
          if (progress !== 'head' && !isBegun) {
            isBegun = true
            run.firstTokenMs[run.begun] = (Bun.nanoseconds() - connection.sentAtNs()) / 1e6
            run.begun += 1
          }
          if (progress !== 'ended') return
          isBegun = false
          run.reads += replies.reads
          run.ended += 1
          if (run.ended === run.firstTokenMs.length) run.finish()
          else sendNext(connection, replies)
        } catch (error) {
          run.fail(error)
        }
      },
      broke: reason => run?.fail(reason),
    })
    open.push({ connection, replies })
  }

  return {
    async run(streams) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const firstTokenMs = new Float64Array(streams)
      const current: Run = {
        firstTokenMs,
        sent: 0,
        begun: 0,
        ended: 0,
        reads: 0,
        finish: resolve,
        fail: reject,
      }
      run = current
      const startedAtNs = Bun.nanoseconds()
      const guard = guardAgainstStall(peer.name, current)
      const { everyMs, tokens } = paces[workload.pace]
      const apartMs = (everyMs * tokens) / connections
      const starts = open.map(({ connection, replies }, index) =>
        setTimeout(() => sendNext(connection, replies), index * apartMs),
      )
      try {
        await promise
      } finally {
        run = undefined
        clearInterval(guard)
        for (const start of starts) clearTimeout(start)
      }
      const seconds = (Bun.nanoseconds() - startedAtNs) / 1e9
      return { seconds, firstTokenMs: firstTokenMs.sort(), readsPerStream: current.reads / streams }
    },
    close() {
      for (const { connection } of open) connection.close()
    },
  }
}

/** The gateway has its own path. The other peers have the path of the upstream. */
export function requestKind(peer: Peer, { pace, body }: StreamWorkload) {
  return { path: peer.name === 'gateway' || peer.name === 'limited' ? CHAT_PATH : streamPath(pace), body }
}

type Run = {
  /** One element per stream, filled as streams begin. */
  readonly firstTokenMs: Float64Array
  sent: number
  begun: number
  ended: number
  reads: number
  readonly finish: () => void
  readonly fail: (reason: unknown) => void
}

function guardAgainstStall(name: string, run: Run): Timer {
  let endedBefore = -1
  return setInterval(() => {
    if (run.ended === endedBefore)
      run.fail(new Error(`${name} stalled after ${run.ended} of ${run.firstTokenMs.length} streams.`))
    endedBefore = run.ended
  }, STALL_MS)
}
