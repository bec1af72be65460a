import { join } from 'node:path'
import { Database } from 'bun:sqlite'
import { openLoad } from '../load.ts'
import { readRssMb } from '../proc.ts'
import type { Gateway } from '../peers/gateway.ts'
import { table } from '../report.ts'
import { percentile } from '../statistics.ts'
import { chat } from '../workloads/chat.ts'
import type { Flood, FloodProgress } from './upload-worker.ts'

/** What a flood of refused requests does to the gateway, and to the requests of another key. */
export type RefusedSample = {
  readonly flood: string
  readonly refused: number
  readonly refusedPerS: number
  /** The memory of the process after the first tenth of the flood, and at its end. */
  readonly earlyMb: number
  readonly lateMb: number
  /** The latency of the other key before the flood, and during it. */
  readonly aloneP99Ms: number
  readonly p99Ms: number
  /** The records in the file after this flood, those of earlier ones included, and the size of its files. */
  readonly records: number
  readonly recordsKb: number
}

type Options = { readonly requests: number; readonly connections: number }

const BYTES_PER_KB = 1024
/** The requests of the other key before the flood, and in one piece of its measurement during it. */
const OTHERS_ALONE = 10_000
const OTHERS_AT_ONCE = 500

/** Requests above the limit of a minute, which are refused from memory, and above a budget, whose body is read. */
const floods: Readonly<Record<string, { readonly limits: object; readonly status: number }>> = {
  'requests of a minute': { limits: { limits: { requests_per_minute: 1 } }, status: 429 },
  'exceeded budget': { limits: { budgets: { total: '0' } }, status: 402 },
}

/** Floods the gateway with `requests` refused requests of one key, for each kind of refusal. */
export async function measureRefused(
  gateway: Gateway,
  options: Options,
  logProgress: (line: string) => void,
): Promise<RefusedSample[]> {
  const samples: RefusedSample[] = []
  for (const [flood, { limits, status }] of Object.entries(floods)) {
    logProgress(`${flood}: ${options.requests} refused requests`)
    const key = await gateway.newKey(flood, limits)
    const body = `${chat.body.before}0${chat.body.after}`
    const upload = {
      port: gateway.port,
      path: chat.path,
      keys: [key],
      body,
      inOnePiece: true,
      status,
      mayBeAnswered: true as const,
    }
    samples.push({ flood, ...(await measure(gateway, options, upload)) })
  }
  return samples
}

async function measure(
  gateway: Gateway,
  { requests, connections }: Options,
  upload: Omit<Flood, 'connections'>,
): Promise<Omit<RefusedSample, 'flood'>> {
  const load = await openLoad(gateway, chat, 1)
  await load.run(OTHERS_AT_ONCE)
  const alone = await load.run(OTHERS_ALONE)
  const worker = new Worker(new URL('upload-worker.ts', import.meta.url))
  const flood: { refused: number; problem?: Error } = { refused: 0 }
  worker.addEventListener('message', ({ data }: MessageEvent<FloodProgress>) => {
    if (typeof data === 'number') flood.refused = data
    else flood.problem = new Error(data.problem)
  })
  const startedAtMs = performance.now()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have origins.
  worker.postMessage({ ...upload, connections } satisfies Flood)
  try {
    const latencies: number[] = []
    let earlyMb: number | undefined
    while (flood.refused < requests) {
      if (flood.problem !== undefined) throw flood.problem
      const { latenciesMs } = await load.run(OTHERS_AT_ONCE)
      // All connections are opened at once, and that is not what is measured.
      if (flood.refused >= connections) latencies.push(...latenciesMs)
      if (flood.refused >= requests / 10) earlyMb ??= readRssMb(gateway.pid)
    }
    const { refused } = flood
    const lateMb = readRssMb(gateway.pid)
    // The list of the operator waits until all records are written.
    await gateway.admin('GET', 'requests?limit=1')
    return {
      ...recordsIn(gateway.dataDir),
      refused,
      refusedPerS: refused / ((performance.now() - startedAtMs) / 1000),
      earlyMb: earlyMb ?? lateMb,
      lateMb,
      aloneP99Ms: percentile(alone.latenciesMs, 0.99),
      p99Ms: percentile(Float64Array.from(latencies).sort(), 0.99),
    }
  } finally {
    worker.terminate()
    load.close()
  }
}

/** What is in the file of request records, whose size counts with its write-ahead log. */
function recordsIn(dataDir: string): Pick<RefusedSample, 'records' | 'recordsKb'> {
  const path = join(dataDir, 'requests.sqlite')
  const database = new Database(path, { readonly: true })
  try {
    const { records = 0 } =
      database.query<{ records: number }, []>('SELECT count(*) AS records FROM requests').get() ?? {}
    const sizes = ['', '-wal'].map(suffix => Bun.file(path + suffix).size)
    return { records, recordsKb: sizes.reduce((sum, size) => sum + size, 0) / BYTES_PER_KB }
  } finally {
    database.close()
  }
}

export function refusedTable(samples: readonly RefusedSample[]): string {
  return table(
    [
      'refusals',
      'requests',
      'a second',
      'MB early',
      'MB at the end',
      'p99 ms alone',
      'p99 ms',
      'ratio',
      'records',
      'KB',
    ],
    samples.map(({ flood, refused, refusedPerS, earlyMb, lateMb, aloneP99Ms, p99Ms, records, recordsKb }) => [
      flood,
      `${refused}`,
      refusedPerS.toFixed(0),
      earlyMb.toFixed(0),
      lateMb.toFixed(0),
      aloneP99Ms.toFixed(2),
      p99Ms.toFixed(2),
      (p99Ms / aloneP99Ms).toFixed(2),
      `${records}`,
      recordsKb.toFixed(0),
    ]),
  )
}
