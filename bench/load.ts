import { connect, type Connection } from './connection.ts'
import { HttpMessages } from './http-messages.ts'
import type { Peer } from './peers/peer.ts'
import { requestFor, type Workload } from './workloads/workload.ts'

/** Open connections to one peer, for several runs of requests. */
export type Load = {
  /**
   * Sends `requests` requests in a closed loop: each connection sends its next request when it has its reply. Throws
   * for a reply with another status than 200, a reply without the peer's cost header, or a missing reply.
   */
  run(requests: number): Promise<LoadResult>
  close(): void
}

export type LoadResult = {
  readonly seconds: number
  /** The time from the first byte sent to the last byte received of each request, in ascending order. */
  readonly latenciesMs: Float64Array
}

/** A run fails if there is no reply for this long. */
const STALL_MS = 10_000

type Run = {
  /** One element per request, filled as replies arrive. */
  readonly latenciesMs: Float64Array
  sent: number
  replied: number
  readonly finish: () => void
  readonly fail: (reason: Error) => void
}

/** Opens `connections` connections to `peer` for requests of one kind. */
export async function openLoad(peer: Peer, workload: Workload, connections: number): Promise<Load> {
  const isGoodReply = replyCheck(peer)
  const open: Connection[] = []
  let run: Run | undefined

  function sendNext(connection: Connection): void {
    if (run === undefined || run.sent === run.latenciesMs.length) return
    run.sent += 1
    connection.send()
  }

  function replied(connection: Connection, head: string): void {
    if (run === undefined) return
    if (!isGoodReply(head)) return run.fail(new Error(`${peer.name} sent an unexpected reply:\n${head}`))
    run.latenciesMs[run.replied] = (Bun.nanoseconds() - connection.sentAtNs()) / 1e6
    run.replied += 1
    if (run.replied === run.latenciesMs.length) run.finish()
    else sendNext(connection)
  }

  for (let index = 0; index < connections; index += 1) {
    const messages = new HttpMessages(head => replied(connection, head))
    const connection = await connect(peer, requestFor(peer, workload), {
      received: (_, bytes) => messages.feed(bytes),
      broke: reason => run?.fail(reason),
    })
    open.push(connection)
  }

  return {
    async run(requests) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const current: Run = {
        latenciesMs: new Float64Array(requests),
        sent: 0,
        replied: 0,
        finish: resolve,
        fail: reject,
      }
      run = current
      const startedAtNs = Bun.nanoseconds()
      const guard = guardAgainstStall(peer.name, current)
      open.forEach(sendNext)
      try {
        await promise
      } finally {
        run = undefined
        clearInterval(guard)
      }
      const seconds = (Bun.nanoseconds() - startedAtNs) / 1e9
      return { seconds, latenciesMs: current.latenciesMs.sort() }
    },
    close() {
      for (const connection of open) connection.close()
    },
  }
}

function replyCheck({ costHeader }: Peer): (head: string) => boolean {
  const isOk = (head: string): boolean => head.startsWith('HTTP/1.1 200 ')
  if (costHeader === undefined) return isOk
  const cost = new RegExp(`\r\n${costHeader}: *[0-9]`, 'i')
  return head => isOk(head) && cost.test(head)
}

function guardAgainstStall(name: string, run: Run): Timer {
  let repliedBefore = -1
  return setInterval(() => {
    if (run.replied === repliedBefore) {
      run.fail(
        new Error(
          `${name} has stopped answering, after ${run.replied} of ${run.latenciesMs.length} requests.`,
        ),
      )
    }
    repliedBefore = run.replied
  }, STALL_MS)
}
