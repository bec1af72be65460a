import { LLMock } from '@copilotkit/aimock'
import { heapStats } from 'bun:jsc'
import { addUsd, formatUsd, nanoUsd, usd, ZERO } from '../../../src/domain/money.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'

/** How a stream ended for its client: with [DONE], an error frame, a status instead of a stream, or a disconnect. */
type StreamEnd = 'whole' | 'broken' | 'refused 429' | 'refused 502' | 'left'

export type AimockReport = {
  readonly ends: Readonly<Record<StreamEnd, number>>
  /** The sum of the costs that clients read, and the sum that the account was charged. */
  readonly reportedUsd: string
  readonly spentUsd: string
  /** The problems that the ledger check found. */
  readonly problems: readonly unknown[]
  /** Streams that are still in memory at the end, including those of the runtime and of the upstream. */
  readonly streamsInMemory: number
}

const AT_ONCE = 50
const GRANT_USD = '100'
const SAID = 'The quick brown fox jumps over the lazy dog. '.repeat(4)

/**
 * The faults of the upstream, by the first word of the question, and the endings that each allows. A break that arrives
 * together with the first bytes counts as a break before the first byte, because the runtime then does not return these
 * bytes.
 */
const faults = {
  nothing: { ends: ['whole'] },
  slowness: { ends: ['whole'], streamingProfile: { ttft: 5, tps: 2000, jitter: 0.5 } },
  truncation: { ends: ['broken', 'refused 502'], truncateAfterChunks: 4, latency: 1 },
  cutting: { ends: ['broken', 'refused 502'], disconnectAfterMs: 15, latency: 3 },
  drop: { ends: ['refused 502'], chaos: { dropRate: 1 } },
  malformed: { ends: ['refused 502'], chaos: { malformedRate: 1 } },
  limit: { ends: ['refused 429'], chaos: { rateLimitRate: 1 } },
  disconnect: { ends: ['broken', 'refused 502'], chaos: { disconnectRate: 1 } },
  leaving: { ends: ['left'], latency: 3 },
} as const satisfies Readonly<
  Record<string, { readonly ends: readonly StreamEnd[]; [option: string]: unknown }>
>

const kinds = Object.keys(faults) as (keyof typeof faults)[]

/**
 * Sends `count` streams, 50 at a time, through a gateway to a third-party mock upstream: each of its faults in turn,
 * and clients that disconnect. Throws if a stream ends in a way that its fault does not allow, or if money stays held.
 */
export async function aimockStreams(count: number): Promise<AimockReport> {
  const mock = new LLMock({ port: 0, logLevel: 'silent', chunkSize: 8, journalMaxEntries: 100 })
  for (const kind of kinds) {
    const { ends: _, ...options } = faults[kind]
    mock.onMessage(new RegExp(`^${kind} `), { content: SAID }, options)
  }
  await mock.start()
  const gateway = await startTestGateway({ catalog: catalogOn(mock.url) })
  try {
    const account = await gateway.account({ grant: GRANT_USD })
    const seen = await sendAll(gateway, account, count)
    await until('nothing is held', async () => (await account.balance()).held_usd === '0')
    const { available_usd } = await account.balance()
    const { problems } = await gateway.admin<{ problems: unknown[] }>('POST', 'verify')
    return {
      ends: seen.ends,
      reportedUsd: formatUsd(seen.reported),
      spentUsd: formatUsd(nanoUsd(usd(GRANT_USD) - usd(available_usd))),
      problems,
      streamsInMemory: streamsInMemory(),
    }
  } finally {
    await gateway.stop()
    await mock.stop()
  }
}

async function sendAll(gateway: TestGateway, account: TestAccount, count: number) {
  const ends: Record<StreamEnd, number> = { whole: 0, broken: 0, 'refused 429': 0, 'refused 502': 0, left: 0 }
  let reported = ZERO
  let sent = 0
  const caller = async () => {
    while (sent < count) {
      sent += 1
      const kind = kinds[sent % kinds.length]!
      const { end, cost } = await oneStream(gateway, account, `${kind} ${sent}`)
      const allowed: readonly StreamEnd[] = faults[kind].ends
      if (!allowed.includes(end)) throw new Error(`Stream ${sent} met ${kind} and ended ${end}.`)
      ends[end] += 1
      reported = addUsd(reported, cost)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, caller))
  return { ends, reported }
}

async function oneStream(gateway: TestGateway, { key }: TestAccount, content: string) {
  const client = new AbortController()
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-x',
      messages: [{ role: 'user', content }],
      max_tokens: 200,
      stream: true,
      stream_options: { include_usage: true },
    }),
    signal: client.signal,
  })
  if (response.status !== 200) {
    await response.arrayBuffer()
    return { end: `refused ${response.status}` as StreamEnd, cost: ZERO }
  }
  if (content.startsWith('leaving ')) {
    await response.body?.getReader().read()
    client.abort()
    return { end: 'left' as const, cost: ZERO }
  }
  const text = await response.text()
  const cost = usd(/"cost_usd":"([^"]+)"/.exec(text)?.[1] ?? '0')
  return { end: endOf(text), cost }
}

function endOf(text: string): StreamEnd {
  if (text.endsWith('data: [DONE]\n\n')) return 'whole'
  if (/data: \{"error":\{[^\n]*\}\}\n\n$/.test(text)) return 'broken'
  throw new Error(`A stream ended without [DONE] and without an error: ${text.slice(-200)}`)
}

function streamsInMemory(): number {
  Bun.gc(true)
  const { ReadableStream: streams = 0 } = heapStats().objectTypeCounts
  return streams
}

function catalogOn(url: string): string {
  return JSON.stringify({
    providers: [{ id: 'aimock', kind: 'openai-compatible', base_url: `${url}/v1`, api_key: 'sk-aimock' }],
    models: [
      {
        id: 'gpt-x',
        kind: 'chat',
        upstreams: [{ provider: 'aimock', model: 'gpt-4o' }],
        pricing: { input_per_mtok: '2', output_per_mtok: '10' },
        max_output_tokens: 1000,
      },
    ],
  })
}

if (import.meta.main) {
  console.log(JSON.stringify(await aimockStreams(Number(process.argv[2] ?? 10_000)), null, 2))
}
