import type { Gateway } from '../peers/gateway.ts'
import { percentile } from '../statistics.ts'
import { createSandboxVideo } from './clip-job.ts'
import type { MediaServers } from './start-media.ts'

/** The latency of reads of one client, alone and while another client waits for many clips of the sandbox. */
export type BacklogCost = {
  readonly clips: number
  readonly aloneP50Ms: number
  readonly aloneP99Ms: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Clips that are stored and charged in a second. */
  readonly clipsPerSecond: number
}

const CLIPS = 6000
const CREATED_AT_A_TIME = 32
/** The client of the clips asks for each of them in turn, every 30 seconds. */
const ASK_EVERY_MS = 5
const READERS = 4
/** The pause of a reader between two reads. They make about 200 reads a second, which leaves the gateway idle. */
const READ_EVERY_MS = 20
const ALONE_MS = 10_000

/** Creates clips that are ready at once, and reads while their client asks for each of them once. */
export async function measureBacklog(
  { gateway }: MediaServers,
  logProgress: (line: string) => void,
): Promise<BacklogCost> {
  const read = await readerOf(gateway)
  logProgress('reads without sandbox clips')
  const alone = await readWhile(read, () => Bun.sleep(ALONE_MS))
  logProgress(`creating ${CLIPS} sandbox clips`)
  const ids = await createClips(gateway)
  logProgress('reads beside the sandbox clips')
  const open = await openJobs(gateway)
  const startMs = performance.now()
  const during = await readWhile(read, () => askForEach(ids, gateway))
  const settled = open - (await openJobs(gateway))
  return {
    clips: CLIPS,
    aloneP50Ms: percentile(alone, 0.5),
    aloneP99Ms: percentile(alone, 0.99),
    p50Ms: percentile(during, 0.5),
    p99Ms: percentile(during, 0.99),
    clipsPerSecond: (settled * 1000) / (performance.now() - startMs),
  }
}

async function createClips(gateway: Gateway): Promise<readonly string[]> {
  const ids: string[] = []
  let begun = 0
  const create = async () => {
    while (begun < CLIPS) {
      begun += 1
      ids.push(await createSandboxVideo(gateway))
    }
  }
  await Promise.all(Array.from({ length: CREATED_AT_A_TIME }, create))
  return ids
}

/** Does not wait for an answer before it asks for the next clip. */
async function askForEach(ids: readonly string[], { port, headers }: Gateway): Promise<void> {
  const startMs = performance.now()
  const asked: Promise<unknown>[] = []
  for (const [index, id] of ids.entries()) {
    await Bun.sleep(Math.max(0, startMs + index * ASK_EVERY_MS - performance.now()))
    asked.push(fetch(`http://127.0.0.1:${port}/v1/videos/${id}`, { headers }).then(reply => reply.text()))
  }
  await Promise.all(asked)
}

async function openJobs(gateway: Gateway): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${gateway.port}/metrics`)).text()
  const [, jobs] = /^tollgate_open_jobs\{state="processing"\} (\d+)$/m.exec(metrics) ?? []
  if (jobs === undefined) throw new Error('The gateway does not say how many jobs are open.')
  return Number(jobs)
}

/** Reads the balance and a job of another client once, and returns how long each read took. */
type Reader = () => Promise<readonly number[]>

async function readerOf(gateway: Gateway): Promise<Reader> {
  const headers = { authorization: `Bearer ${await gateway.newKey('reader')}` }
  const job = await createSandboxVideo({ ...gateway, headers })
  const urls = ['balance', `videos/${job}`].map(path => `http://127.0.0.1:${gateway.port}/v1/${path}`)
  return async () => {
    const latenciesMs: number[] = []
    for (const url of urls) {
      const startMs = performance.now()
      const response = await fetch(url, { headers })
      await response.arrayBuffer()
      if (response.status !== 200) throw new Error(`A read was answered with ${response.status}.`)
      latenciesMs.push(performance.now() - startMs)
      await Bun.sleep(READ_EVERY_MS)
    }
    return latenciesMs
  }
}

/** Reads until the work has ended, with several readers. The latencies in ascending order. */
async function readWhile(read: Reader, work: () => Promise<void>): Promise<Float64Array> {
  const latenciesMs: number[] = []
  const ended = new AbortController()
  const readOn = async () => {
    while (!ended.signal.aborted) latenciesMs.push(...(await read()))
  }
  const readers = Promise.all(Array.from({ length: READERS }, readOn))
  await work().finally(() => ended.abort())
  await readers
  return Float64Array.from(latenciesMs).sort()
}
