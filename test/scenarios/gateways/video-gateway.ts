import { engineNames, engines } from '../../../src/domain/catalog/engines.ts'
import { fakeClock, type FakeClock } from '../../support/fake-clock.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.ts'
import { scriptedMedia, type ScriptedMedia } from '../../support/scripted-media.ts'
import { turn } from '../../support/turn.ts'

/** 0.1 USD for each second of a clip. */
export const PER_SECOND = '0.1'

/** A gateway with a video model for each engine, named after the engine, and with a fake clock. */
export type VideoGateway = TestGateway & {
  readonly clock: FakeClock
  /** Sends a job to a path that creates videos. */
  create(key: string, body: object | string, options?: CreateOptions): Promise<Response>
  /** Creates a job and returns its body. Throws unless the status is 202. */
  accepted(key: string, body: object, options?: CreateOptions): Promise<VideoBody>
  /** The state of a job, after its provider may be asked again. */
  poll(key: string, id: string): Promise<VideoBody>
  /** Runs a job to its end. */
  finished(key: string, body: object): Promise<VideoBody>
  get(
    key: string,
    path: string,
    options?: { readonly method?: string; readonly headers?: Record<string, string> },
  ): Promise<Response>
  /** The held and the available balance. */
  money(account: TestAccount): Promise<{ readonly available: string; readonly held: string }>
}

export type CreateOptions = { readonly path?: string; readonly headers?: Record<string, string> }

export type VideoBody = {
  readonly id: string
  readonly status: string
  readonly model: string
  readonly created: number
  readonly duration?: number
  readonly estimated_cost_usd?: string
  readonly cost_usd?: string
  readonly data?: readonly { readonly url: string }[]
  readonly error?: {
    readonly message: string
    readonly type: string
    readonly code?: string
    readonly param?: string | null
  }
}

/** A video model on the sandbox. */
export function videoModel(id: string, change: Readonly<Record<string, unknown>> = {}): object {
  return {
    id,
    kind: 'video',
    engine: 'family-a',
    upstreams: [{ provider: 'box', model: 'video' }],
    pricing: { per_second: PER_SECOND },
    ...change,
  }
}

/** A video model that sends the aspect ratio to its provider. */
export const shapedModel = videoModel('shaped', { params: { aspect_ratio: ['16:9', '9:16', '1:1'] } })

const engineModels = engineNames.map(engine =>
  videoModel(engine, { engine, ...(engines[engine].requiresPin ? { fixed_params: { duration: 8 } } : {}) }),
)

type GatewayOptions = {
  readonly models?: readonly object[]
  readonly providers?: readonly object[]
  readonly environment?: Record<string, string>
  readonly media?: ScriptedMedia
}

export async function startVideoGateway(options: GatewayOptions = {}): Promise<VideoGateway> {
  const clock = fakeClock()
  const catalog = {
    providers: [{ id: 'box', kind: 'sandbox' }, ...(options.providers ?? [])],
    models: [...engineModels, ...(options.models ?? [])],
  }
  const gateway = await startTestGateway({
    catalog: JSON.stringify(catalog),
    overrides: {
      clock,
      ...(options.media === undefined ? {} : { mediaProviders: providedBy(options.media) }),
    },
    ...(options.environment === undefined ? {} : { environment: options.environment }),
  })
  const create: VideoGateway['create'] = (key, body, { path = '/v1/videos', headers = {} } = {}) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const get: VideoGateway['get'] = (key, path, { method = 'GET', headers = {} } = {}) =>
    fetch(gateway.url + path, { method, headers: { 'x-api-key': key, ...headers } })
  const accepted: VideoGateway['accepted'] = async (key, body, settings) => {
    const response = await create(key, body, settings)
    if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`)
    return (await response.json()) as VideoBody
  }
  const poll: VideoGateway['poll'] = async (key, id) => {
    // Longer than any provider here wants between two polls.
    clock.advance(2000)
    const response = await get(key, `/v1/videos/${id}`)
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    return (await response.json()) as VideoBody
  }
  return {
    ...gateway,
    clock,
    create,
    get,
    accepted,
    poll,
    async finished(key, body) {
      const { id } = await accepted(key, body)
      return poll(key, id)
    },
    async money(account) {
      const { available_usd: available, held_usd: held } = await account.balance()
      return { available, held }
    },
  }
}

/** The scripted provider stands behind rows without a base URL, and behind rows with one. */
function providedBy(media: ScriptedMedia) {
  return { sandbox: media, kling: media }
}

/** The same with a provider whose answers a test sets, in place of the sandbox's. */
export async function startScriptedVideos(
  options: Omit<GatewayOptions, 'media'> = {},
): Promise<VideoGateway & { readonly media: ScriptedMedia }> {
  const media = scriptedMedia()
  return { ...(await startVideoGateway({ ...options, media })), media }
}

/** Whether a reply has come, some turns of the event loop later. */
export async function hasCome(reply: Promise<unknown>): Promise<boolean> {
  let isSettled = false
  void reply.then(
    () => (isSettled = true),
    () => (isSettled = true),
  )
  for (let turns = 0; turns < 50; turns += 1) await turn()
  return isSettled
}
