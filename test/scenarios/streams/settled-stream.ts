import { chunk, EVENT_STREAM, head } from '../../support/upstream-replies.ts'
import type { Reply } from '../../support/upstream.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { HI, ROW_MODEL } from '../../support/stream-frames.ts'
import type { ScriptedGateway, UsageRow } from '../gateways/scripted-gateway.ts'
import { until } from '../../support/until.ts'

export type Asking = {
  /** Another route than chat, with its request. */
  readonly route?: { readonly path: string; readonly request: Readonly<Record<string, unknown>> }
  readonly includeUsage?: boolean
  /** Additional members of the request. */
  readonly body?: Readonly<Record<string, unknown>>
  /** Additional headers of the request. */
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

const CHAT = { path: '/v1/chat/completions', request: { messages: HI } }

/** A stream of the account `ada`, when its headers have arrived. */
export function askForStream(
  gateway: ScriptedGateway,
  { key }: TestAccount,
  { route = CHAT, includeUsage = false, body = {}, headers = {}, signal }: Asking = {},
): Promise<Response> {
  return fetch(gateway.url + route.path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      model: ROW_MODEL,
      ...route.request,
      stream: true,
      ...(includeUsage ? { stream_options: { include_usage: true } } : {}),
      ...body,
    }),
    ...(signal === undefined ? {} : { signal }),
  })
}

/** A completely read stream, and its charge. */
export type SettledStream = {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  readonly charge: Settlement | null
}

/** The charge of a request, as `GET /v1/usage` shows it. */
export type Settlement = Pick<UsageRow, 'cost_usd' | 'source' | 'is_clamped'>

/** Sends a request with its own account, reads the stream to its end, and reads the charge. */
export async function settledStream(
  gateway: ScriptedGateway,
  reply: Reply,
  asking: Asking = {},
): Promise<SettledStream> {
  const account = await gateway.account()
  gateway.upstream.reply(reply)
  const response = await askForStream(gateway, account, asking)
  const body = await response.text()
  const charge = await settlementOf(gateway, account)
  return { status: response.status, headers: response.headers, body, charge }
}

/** A stream with its own account whose first piece, from `sent`, has reached the client. */
export async function openedStream(gateway: ScriptedGateway, sent: string | Uint8Array, asking: Asking = {}) {
  const account = await gateway.account()
  const upstream = gateway.upstream.hold()
  const asked = askForStream(gateway, account, asking)
  const exchange = await upstream
  await exchange.write(head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' }))
  await exchange.write(chunk(sent))
  const reader = (await asked).body!.getReader()
  const first = new TextDecoder().decode((await reader.read()).value)
  return { account, exchange, reader, first }
}

/** The rest of the stream. */
export async function restOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text
    text += decoder.decode(value, { stream: true })
  }
}

/** The only charge of an account, or null. Waits until nothing is held. */
export async function settlementOf(
  gateway: ScriptedGateway,
  account: TestAccount,
): Promise<Settlement | null> {
  await until('nothing is held', async () => (await account.balance()).held_usd === '0')
  const { data } = await gateway.read<{ data: UsageRow[] }>(account.key, '/v1/usage')
  if (data.length > 1) throw new Error(`One request has ${data.length} charges.`)
  const [charge] = data
  if (charge === undefined) return null
  const { cost_usd, source, is_clamped } = charge
  return { cost_usd, source, is_clamped }
}
