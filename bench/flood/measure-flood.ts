import { openLoad } from '../load.ts'
import { referencesBody } from '../media/image-request.ts'
import { MEGABYTE } from '../media/sizes.ts'
import type { Gateway } from '../peers/gateway.ts'
import type { Peer } from '../peers/peer.ts'
import { rotated } from '../rotated.ts'
import { percentile } from '../statistics.ts'
import { chat } from '../workloads/chat.ts'
import type { Flood, FloodProgress } from './upload-worker.ts'

/** The latency of small requests of one client, alone and while other clients flood the peer with uploads. */
export type FloodSample = {
  readonly peer: Peer['name']
  readonly uploads: string
  readonly aloneP99Ms: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Megabytes of uploads that the peer answered in a second of the flood. */
  readonly uploadedMbPerS: number
}

type Options = { readonly rounds: number; readonly requests: number; readonly connections: number }

const KEYS = 30

/** Measures each peer in each round, one after the other. */
export async function measureFlood(
  peers: readonly Peer[],
  { rounds, requests, connections }: Options,
  logProgress: (line: string) => void,
): Promise<FloodSample[]> {
  const keys = await Promise.all(Array.from({ length: KEYS }, (_, index) => newKey(peers, `flood ${index}`)))
  const samples: FloodSample[] = []
  for (let round = 1; round <= rounds; round += 1) {
    for (const [uploads, upload] of Object.entries(kinds)) {
      for (const peer of rotated(peers, round - 1)) {
        logProgress(`${uploads}, ${peer.name}, round ${round} of ${rounds}`)
        const measured = await measure(peer, requests, { port: peer.port, connections, keys, ...upload })
        samples.push({ peer: peer.name, uploads, ...measured })
      }
    }
  }
  return samples
}

function newKey(peers: readonly Peer[], name: string): Promise<string> {
  const gateway = peers.find((peer): peer is Gateway => 'newKey' in peer)
  return gateway === undefined ? Promise.resolve(name) : gateway.newKey(name)
}

/** Uploads that are read and then refused, because they name no known model. */
const kinds: Readonly<Record<string, Pick<Flood, 'path' | 'body' | 'inOnePiece' | 'status'>>> = {
  'chat of 64 KB, one piece': { ...chatUpload(64 * 1024), inOnePiece: true },
  'chat of 256 KB': { ...chatUpload(256 * 1024), inOnePiece: false },
  'chat of 400 KB, one piece': { ...chatUpload(400 * 1024), inOnePiece: true },
  'reference of 2 MB': {
    path: '/v1/images/edits',
    body: referencesBody(1, 2 * MEGABYTE, 'unknown-model').join(''),
    inOnePiece: false,
    status: 400,
  },
}

function chatUpload(bytes: number): Pick<Flood, 'path' | 'body' | 'status'> {
  const request = JSON.parse(`${chat.body.before}0${chat.body.after}`) as object
  const body = JSON.stringify({ ...request, model: 'unknown-model', user: 'u'.repeat(bytes) })
  return { path: chat.path, body, status: 404 }
}

type Measured = Omit<FloodSample, 'peer' | 'uploads'>

async function measure(peer: Peer, requests: number, flood: Flood): Promise<Measured> {
  const load = await openLoad(peer, chat, 1)
  const alone = await load.run(requests)
  const { promise: started, resolve, reject } = Promise.withResolvers<void>()
  let answered = 0
  const worker = new Worker(new URL('upload-worker.ts', import.meta.url))
  worker.addEventListener('message', ({ data }: MessageEvent<FloodProgress>) => {
    if (typeof data !== 'number') return reject(new Error(data.problem))
    answered = data
    // Every connection has been served about once, so the flood has its full strength.
    if (answered >= flood.connections) resolve()
  })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have origins.
  worker.postMessage(flood satisfies Flood)
  try {
    await started
    const before = answered
    const startedAtMs = performance.now()
    const latencies: number[] = []
    // Until every connection has been served again, because the load changes while it is.
    do latencies.push(...(await load.run(requests)).latenciesMs)
    while (answered < before + flood.connections)
    const seconds = (performance.now() - startedAtMs) / 1000
    const latenciesMs = Float64Array.from(latencies).sort()
    return {
      aloneP99Ms: percentile(alone.latenciesMs, 0.99),
      p50Ms: percentile(latenciesMs, 0.5),
      p99Ms: percentile(latenciesMs, 0.99),
      uploadedMbPerS: ((answered - before) * flood.body.length) / seconds / MEGABYTE,
    }
  } finally {
    worker.terminate()
    load.close()
  }
}
