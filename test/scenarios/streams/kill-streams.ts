import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { checkReported, makeCustomer, startToKill } from '../books/reported-costs.ts'

export type KilledStreams = {
  readonly rounds: number
  /** Streams whose cost or end reached the client. */
  readonly reported: number
  /** Streams that broke before their end. */
  readonly broken: number
  readonly charged: number
}

const STREAMS = 200
/** The time per frame. With it, 200 streams of up to 40 frames end at all times around the kill. */
const PACE_MS = 5
const TOKENS_MAX = 40
const LOAD_MS_MAX = 600

/**
 * Starts the gateway on one data folder, opens 200 streams, opens another for each that ends, and kills the gateway
 * with SIGKILL at a random moment, `rounds` times. After each restart, every cost that a client read must be in the
 * ledger, every stream whose end a client read must be charged, the ledger must be sound, and nothing may be held.
 * Throws in the first round in which this is wrong.
 */
export async function killStreams(
  rounds: number,
  logProgress: (line: string) => void = () => undefined,
): Promise<KilledStreams> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-kill-streams-'))
  const charged = new Map<string, string>()
  let reported = 0
  let broken = 0
  let gateway = await startToKill(dataDir)
  try {
    const customer = await makeCustomer(gateway)
    for (let round = 1; round <= rounds; round += 1) {
      const seen = await streamUntilKilled(gateway, customer.key, round)
      reported += seen.costs.size
      broken += seen.broken
      gateway = await startToKill(dataDir)
      await checkReported(gateway, customer, seen.costs, charged)
      if (round % 10 === 0)
        logProgress(
          `round ${round}: ${reported} reported, ${broken} broken, ${charged.size} charged, ledger sound`,
        )
    }
    return { rounds, reported, broken, charged: charged.size }
  } finally {
    await gateway.kill()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

type Seen = { readonly costs: Map<string, string | null>; broken: number }

async function streamUntilKilled(gateway: GatewayProcess, key: string, round: number): Promise<Seen> {
  const seen: Seen = { costs: new Map(), broken: 0 }
  const firstTold = Promise.withResolvers<void>()
  const caller = async (number: number) => {
    for (let turn = 0; ; turn += 1) {
      const body = requestBody(number, `round ${round}, caller ${number}, turn ${turn}`)
      const response = await ask(gateway, key, body)
      if (response === undefined) return
      const { id, text, isWhole } = await readAll(response)
      const cost = costIn(text)
      if (cost !== null || text.includes('data: [DONE]')) {
        seen.costs.set(id, cost)
        firstTold.resolve()
      }
      if (isWhole) continue
      seen.broken += 1
      return
    }
  }
  const callers = Array.from({ length: STREAMS }, (_, number) => caller(number))
  await firstTold.promise
  await Bun.sleep(Math.random() * LOAD_MS_MAX)
  await gateway.kill()
  await Promise.all(callers)
  return seen
}

/** Every second stream includes usage, and one in three has an upstream that reports none. */
function requestBody(number: number, content: string): object {
  return {
    model: 'sandbox-chat',
    max_tokens: 100,
    messages: [{ role: 'user', content }],
    stream: true,
    ...(number % 2 === 0 ? { stream_options: { include_usage: true } } : {}),
    sandbox: {
      pace_ms: PACE_MS,
      output_tokens: 1 + Math.floor(Math.random() * TOKENS_MAX),
      no_usage: number % 3 === 0,
    },
  }
}

/** Undefined if the gateway has ended. */
async function ask(gateway: GatewayProcess, key: string, body: object): Promise<Response | undefined> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => undefined)
  if (response === undefined || response.status === 200) return response
  throw new Error(`${response.status}: ${await response.text()}`)
}

/** All received bytes, even of a stream that the kill cut. */
async function readAll(response: Response): Promise<{ id: string; text: string; isWhole: boolean }> {
  const id = response.headers.get('x-request-id') ?? ''
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const part of response.body ?? []) text += decoder.decode(part, { stream: true })
    return { id, text, isWhole: true }
  } catch {
    return { id, text, isWhole: false }
  }
}

function costIn(text: string): string | null {
  return /"cost_usd":"([^"]+)"/.exec(text)?.[1] ?? null
}

if (import.meta.main) {
  const rounds = Number(process.argv[2] ?? 100)
  console.log(JSON.stringify(await killStreams(rounds, line => console.log(line))))
}
