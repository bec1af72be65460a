import { connect, type Connection } from '../connection.ts'
import type { Peer } from '../peers/peer.ts'
import { readRssMb } from '../proc.ts'
import { slope } from '../statistics.ts'
import { floodedStream, heldStream, type StreamWorkload } from '../workloads/streams.ts'
import { requestKind } from './stream-load.ts'
import { StreamReplies } from './stream-reply.ts'

/** The memory of many open streams. */
export type OpenStreams = {
  readonly peer: Peer['name']
  /**
   * `read`: each stream gets one token per second. `stalled`: the upstream sends without a pause, and the client does
   * not read.
   */
  readonly kind: 'read' | 'stalled'
  readonly streams: number
  readonly rssBeforeMb: number
  /** The highest sample. */
  readonly rssMaxMb: number
  readonly kbPerStream: number
  /** The growth over the second half of the samples, by least squares. Bounded memory does not grow. */
  readonly mbPerSecond: number
}

/** Opened, read and closed first, so that the hot code is compiled and shared memory is allocated. */
const WARM_UP_STREAMS = 200
/** The number of streams to open at a time, so that they fit into the kernel's queue of new connections. */
const BATCH = 50
const WATCH_MS = 12_000
const SAMPLE_EVERY_MS = 500
/** The pause after streams were closed, until their memory can be used again. */
const REST_MS = 2_000

/** Opens `streams` streams to one peer, keeps them open, and samples its memory. */
export async function measureOpenStreams(
  peer: Peer,
  kind: OpenStreams['kind'],
  streams: number,
): Promise<OpenStreams> {
  const workload = kind === 'read' ? heldStream : floodedStream
  close(await open(peer, heldStream, WARM_UP_STREAMS))
  await Bun.sleep(REST_MS)
  const rssBeforeMb = readRssMb(peer.pid)
  const connections = await open(peer, workload, streams)
  const samples = await watch(peer)
  close(connections)
  await Bun.sleep(REST_MS)
  const rssMaxMb = Math.max(...samples.map(({ y }) => y))
  return {
    peer: peer.name,
    kind,
    streams,
    rssBeforeMb,
    rssMaxMb,
    kbPerStream: ((rssMaxMb - rssBeforeMb) * 1024) / streams,
    mbPerSecond: slope(samples.slice(samples.length >> 1)),
  }
}

/** Resolves when each stream has its first token. After that, flooded streams are not read. */
async function open(peer: Peer, workload: StreamWorkload, streams: number): Promise<readonly Connection[]> {
  const connections: Connection[] = []
  for (let opened = 0; opened < streams; opened += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, streams - opened) }, () => openOne(peer, workload))
    connections.push(...(await Promise.all(batch)))
  }
  return connections
}

async function openOne(peer: Peer, workload: StreamWorkload): Promise<Connection> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const replies = new StreamReplies()
  let isOpen = false
  const connection = await connect(peer, requestKind(peer, workload), {
    received(connection, bytes) {
      if (isOpen) return
      try {
        if (replies.feed(bytes) === 'head') return
      } catch (error) {
        reject(error)
      }
      isOpen = true
      if (workload === floodedStream) connection.stall()
      resolve()
    },
    broke: reject,
  })
  replies.begin()
  connection.send()
  await promise
  return connection
}

async function watch(peer: Peer): Promise<{ readonly x: number; readonly y: number }[]> {
  const samples: { x: number; y: number }[] = []
  for (let atMs = 0; atMs < WATCH_MS; atMs += SAMPLE_EVERY_MS) {
    await Bun.sleep(SAMPLE_EVERY_MS)
    samples.push({ x: atMs / 1000, y: readRssMb(peer.pid) })
  }
  return samples
}

function close(connections: readonly Connection[]): void {
  for (const connection of connections) connection.close()
}
