import { fakeClock, type FakeClock } from '../../support/fake-clock.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.ts'
import { AnthropicSimulator } from '../../support/simulators/anthropic.ts'
import { simulatedServer } from '../../support/simulators/simulated-server.ts'
import { chunk, EVENT_STREAM, head } from '../../support/upstream-replies.ts'
import { startUpstream, type Upstream } from '../../support/upstream.ts'
import { chatModel } from './scripted-gateway.ts'

/** A gateway with a simulated provider of kind `anthropic`, a scripted one of chat, and a fake clock. */
export type NativeGateway = TestGateway & {
  readonly native: AnthropicSimulator
  /** The provider `chat` of chat, and the provider `scripted` of kind `anthropic`. */
  readonly upstream: Upstream
  readonly clock: FakeClock
  /** Sends `POST /v1/messages` with the model `native`. */
  ask(account: TestAccount, body: object, options?: AskOptions): Promise<Response>
  /** The charges of an account, newest first. */
  charges(account: TestAccount): Promise<readonly Charge[]>
}

type AskOptions = { readonly headers?: Record<string, string>; readonly signal?: AbortSignal }

export type Charge = {
  readonly cost_usd: string
  readonly source: string
  readonly route: string
  readonly usage: Readonly<Record<string, number>>
}

/** The key that the gateway sends to the native provider. No client may ever see it. */
export const NATIVE_KEY = 'sk-ant-simulated-secret'

const PRICING = {
  input_per_mtok: '2',
  cached_input_per_mtok: '0.2',
  cache_write_per_mtok: '2.5',
  cache_write_1h_per_mtok: '4',
  output_per_mtok: '10',
}
export const NATIVE = { provider: 'native', model: 'claude-x' }

export async function startNativeGateway({
  models = [],
  environment,
}: {
  readonly models?: readonly object[]
  readonly environment?: Record<string, string>
} = {}): Promise<NativeGateway> {
  const clock = fakeClock()
  const native = new AnthropicSimulator(NATIVE_KEY)
  const server = simulatedServer(request => native.handle(request), clock)
  const upstream = startUpstream()
  const anthropic = { kind: 'anthropic', base_url: `${server.url}/v1`, api_key: NATIVE_KEY }
  const row = (id: string, upstreams: readonly object[], more: object = {}) =>
    chatModel(id, { upstreams, pricing: PRICING, ...more })
  const chat = { provider: 'chat', model: 'gpt-x', order: 2 }
  const gateway = await startTestGateway({
    catalog: JSON.stringify({
      providers: [
        { id: 'native', ...anthropic },
        { id: 'picky', ...anthropic, betas: ['context-1m-2025-08-07'] },
        { id: 'scripted', kind: 'anthropic', base_url: upstream.baseUrl, api_key: 'scripted-secret' },
        { id: 'chat', kind: 'openai-compatible', base_url: upstream.baseUrl, api_key: 'chat-secret' },
      ],
      models: [
        row('native', [NATIVE]),
        row('picky', [{ provider: 'picky', model: 'claude-x' }]),
        row('scripted', [{ provider: 'scripted', model: 'claude-x' }]),
        row('mixed', [NATIVE, chat]),
        row('searching', [NATIVE, chat], { pricing: { ...PRICING, per_server_tool_use: '0.01' } }),
        row('live', [chat], { messages_stream: 'live' }),
        row('converted', [chat]),
        ...models,
      ],
    }),
    overrides: { clock },
    ...(environment && { environment }),
  })
  return {
    ...gateway,
    native,
    upstream,
    clock,
    ask: ({ key }, body, { headers, signal } = {}) =>
      fetch(`${gateway.url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({
          model: 'native',
          max_tokens: 100,
          messages: [{ role: 'user', content: 'Hi' }],
          ...body,
        }),
        ...(signal && { signal }),
      }),
    charges: async ({ key }) => {
      const response = await fetch(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': key } })
      return ((await response.json()) as { data: Charge[] }).data
    },
    stop: async () => {
      await gateway.stop()
      server.close()
      upstream.close()
    },
  }
}

/** The events of a stream: the data of each, in order. */
export function eventsOf(
  body: string,
): readonly (Readonly<Record<string, unknown>> & { readonly type: string })[] {
  return body
    .split('\n\n')
    .filter(frame => frame.startsWith('event: '))
    .map(frame => JSON.parse(frame.slice(frame.indexOf('data: ') + 6)))
}

/** A stream whose events the test writes one by one. Resolves when its client has the first one. */
export async function openedStream(
  gateway: NativeGateway,
  account: TestAccount,
  { model, first, signal }: { readonly model: string; readonly first: string; readonly signal?: AbortSignal },
) {
  const held = gateway.upstream.hold()
  const asked = gateway.ask(account, { model, stream: true }, signal && { signal })
  const exchange = await held
  const write = (event: string) => exchange.write(chunk(event))
  await exchange.write(head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' }))
  await write(first)
  const reader = (await asked).body!.getReader()
  const read = async () => {
    const { done, value } = await reader.read()
    if (done) throw new Error('The stream has ended.')
    return new TextDecoder().decode(value)
  }
  return { exchange, write, read, first: await read() }
}
