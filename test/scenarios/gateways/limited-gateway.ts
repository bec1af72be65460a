import { fakeClock } from '../../support/fake-clock.ts'
import { AnthropicSimulator } from '../../support/simulators/anthropic.ts'
import { simulatedServer } from '../../support/simulators/simulated-server.ts'
import { chatAnswer, sse } from '../../support/upstream-replies.ts'
import type { Reply } from '../../support/upstream.ts'
import {
  chatModel,
  DOLLAR_A_REQUEST,
  startScriptedGateway,
  type ScriptedGateway,
} from './scripted-gateway.ts'
import { NATIVE_KEY } from './native-gateway.ts'
import { DONE, FINISH, HEL, ROLE } from '../../support/stream-frames.ts'

/** The key of an account with 1000 USD. */
export type Holder = { readonly key: string; readonly keyId: string; readonly accountId: string }

export type Asked = { readonly path: string; readonly body: object }

/** A gateway with a model of each kind, whose requests are refused at once, and holders of keys with limits. */
export type LimitedGateway = ScriptedGateway & {
  /** A new account with 1000 USD, and a key with these limits. */
  aKey(limits?: object): Promise<Holder>
  aKeyOf(accountId: string, limits?: object): Promise<Holder>
  /** Two keys of a new project with these limits. */
  keysOfProject(terms: object): Promise<readonly [Holder, Holder]>
  send(holder: Pick<Holder, 'key'>, asked: Asked, headers?: Record<string, string>): Promise<Response>
  /** Holds back every answer until the returned function is called. */
  gate(): () => void
}

export async function startLimitedGateway(
  options: { readonly environment?: Record<string, string>; readonly provider?: object } = {},
): Promise<LimitedGateway> {
  const native = new AnthropicSimulator(NATIVE_KEY)
  const nativeServer = simulatedServer(request => native.handle(request), fakeClock())
  const sandbox = (model: string) => [{ provider: 'box', model }]
  const gateway = await startScriptedGateway({
    models: [
      chatModel('dollar', { pricing: DOLLAR_A_REQUEST }),
      chatModel('streamed'),
      chatModel('live', { messages_stream: 'live' }),
      chatModel('claude', { upstreams: [{ provider: 'native', model: 'claude-x' }] }),
      chatModel('gpt-x', { upstreams: sandbox('chat') }),
      { id: 'embed', kind: 'embedding', upstreams: sandbox('embed'), pricing: { input_per_mtok: '2' } },
      { id: 'draw', kind: 'image', upstreams: sandbox('image'), pricing: { per_image: '1' }, params: {} },
      {
        id: 'film',
        kind: 'video',
        engine: 'family-g',
        upstreams: sandbox('video'),
        pricing: { per_second: '1' },
      },
    ],
    provider: { ...options.provider },
    providers: baseUrl => [
      { id: 'box', kind: 'sandbox', routes: ['chat', 'responses', 'embeddings'] },
      { id: 'pictures', kind: 'openai-images', base_url: baseUrl, api_key: 'pictures-secret' },
      { id: 'native', kind: 'anthropic', base_url: `${nativeServer.url}/v1`, api_key: NATIVE_KEY },
    ],
    // Refusals are asked for at once.
    environment: { TOLLGATE_HOLD_WAIT_S: '0', TOLLGATE_REPLAY_TTL_S: '60', ...options.environment },
  })
  const reply = (gateIsOpen: Promise<void>) => {
    const { upstream } = gateway
    upstream.reply(exchange => {
      const { path, body } = exchange.request
      if (!new TextDecoder().decode(body).includes('"stream":true')) return answerAfter(gateIsOpen)(exchange)
      return path.endsWith('/responses') ? responded(exchange) : streamed(exchange)
    })
  }
  reply(Promise.resolve())
  const aKeyOf = async (accountId: string, limits: object = {}, fields: object = {}) => {
    const path = `accounts/${accountId}/keys`
    const { id: keyId, key } = await gateway.admin<{ id: string; key: string }>('POST', path, fields)
    if (Object.keys(limits).length > 0) await gateway.admin('PATCH', `keys/${keyId}`, limits)
    return { accountId, keyId, key }
  }
  return {
    ...gateway,
    aKeyOf,
    async keysOfProject(terms) {
      const { id } = await gateway.account({ grant: '1000' })
      await gateway.admin('POST', `accounts/${id}/projects`, { name: 'web', ...terms })
      const inProject = () => aKeyOf(id, {}, { project: 'web' })
      return [await inProject(), await inProject()]
    },
    async aKey(limits) {
      const { id } = await gateway.account({ grant: '1000' })
      return aKeyOf(id, limits)
    },
    send: ({ key }, { path, body }, headers = {}) =>
      fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'x-api-key': key, ...headers },
        body: JSON.stringify(body),
      }),
    async stop() {
      await gateway.stop()
      nativeServer.close()
    },
    gate() {
      const { promise, resolve } = Promise.withResolvers<void>()
      reply(promise)
      return resolve
    },
  }
}

const streamed = sse([ROLE + HEL + FINISH + DONE])
const responded = sse([
  'data: {"type":"response.output_text.delta","sequence_number":4,"output_index":0,"delta":"Hel"}\n\n',
  'data: {"type":"response.completed","response":{"id":"resp_1","usage":{"input_tokens":1,"output_tokens":1}}}\n\n',
])

function answerAfter(gateIsOpen: Promise<void>): Reply {
  return async exchange => {
    await gateIsOpen
    return chatAnswer()(exchange)
  }
}

let asked = 0
const text = () => `request ${(asked += 1)}`

/** Each body is different, so that none is a replay. */
export const chat = (more: object): Asked => ({
  path: '/v1/chat/completions',
  body: { max_tokens: 5, messages: [{ role: 'user', content: text() }], ...more },
})

export const messages = (more: object): Asked => ({
  path: '/v1/messages',
  body: { model: 'gpt-x', max_tokens: 5, messages: [{ role: 'user', content: text() }], ...more },
})

const responses = (more: object): Asked => ({
  path: '/v1/responses',
  body: { model: 'gpt-x', input: text(), max_output_tokens: 5, ...more },
})

const video = (path: string): Asked => ({ path, body: { model: 'film', prompt: text() } })

/** A request on every billable route. The names of media are those of their routes. */
export const billableRoutes = {
  'chat JSON': () => chat({ model: 'gpt-x' }),
  'chat stream': () => chat({ model: 'streamed', stream: true }),
  'responses JSON': () => responses({}),
  'responses stream': () => responses({ model: 'streamed', stream: true }),
  'messages JSON': () => messages({}),
  'messages stream': () => messages({ stream: true }),
  'live messages stream': () => messages({ model: 'live', stream: true }),
  'native messages JSON': () => messages({ model: 'claude' }),
  'native messages stream': () => messages({ model: 'claude', stream: true }),
  embeddings: () => ({ path: '/v1/embeddings', body: { model: 'embed', input: text() } }),
  images: () => ({ path: '/v1/images/generations', body: { model: 'draw', prompt: text() } }),
  'images.edits': () => ({ path: '/v1/images/edits', body: { model: 'draw', prompt: text() } }),
  videos: () => video('/v1/videos'),
  'videos.generations': () => video('/v1/video/generations'),
  'videos.extend': () => video('/v1/videos/extend'),
  'videos.storyboard': () => video('/v1/videos/storyboard'),
}
