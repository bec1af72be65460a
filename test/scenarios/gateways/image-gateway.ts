import { readdirSync } from 'node:fs'
import type { Bytes } from '../../../src/domain/bytes.ts'
import { fakeClock, type FakeClock } from '../../support/fake-clock.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.ts'
import { scriptedMedia, type ScriptedMedia } from '../../support/scripted-media.ts'
import type { MediaResult, PollOutcome } from '../../../src/gateway/ports/providers/media-provider.ts'
import type { MediaProviders } from '../../../src/gateway/ports/providers/providers.ts'
import { until } from '../../support/until.ts'
import { hasCome } from './video-gateway.ts'

/** The step between two polls of a wait, and longer than any provider here wants between two polls. */
export const STEP_MS = 2000

/** How long a request waits for its images. */
const WAIT_MS = 150_000

/** The price of one image of each model, in dollars. */
export const PER_IMAGE = '0.04'

/** A gateway with image models and a fake clock. */
export type ImageGateway = TestGateway & {
  readonly clock: FakeClock
  /**
   * Sends a job to a path that creates images: a model with all parameters and a prompt, unless `body` says otherwise.
   */
  create(key: string, body?: object | string, options?: CreateOptions): Promise<Response>
  /** Creates a job whose reply must be 200, and returns the reply's body. */
  created(key: string, body?: object): Promise<ImagesBody>
  /** Sends a job whose provider does not answer within the wait, and returns its 202. */
  running(key: string, body?: object): Promise<ImageJobBody>
  /** The lookup of a job. */
  lookup(key: string, id: string): Promise<Response>
  /** The lookup of one's own job, after its provider may be asked again. */
  poll(key: string, id: string): Promise<ImageJobBody>
  money(account: TestAccount): Promise<{ readonly available: string; readonly held: string }>
  /** Runs the reconciler, once no other pass is running, and returns what it did for jobs. */
  reconcile(): Promise<Readonly<Record<string, number>>>
  /** Throws unless the books are sound. */
  verify(): Promise<void>
}

export type CreateOptions = {
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

export type ImagesBody = {
  readonly created: number
  readonly cost_usd: string
  readonly data: readonly { readonly b64_json: string }[]
}

export type ImageJobBody = {
  readonly id: string
  readonly status: string
  readonly cost_usd?: string
  readonly estimated_cost_usd?: string
  readonly data?: readonly { readonly b64_json: string }[]
  readonly archived?: boolean
  readonly error?: ErrorOf
}

export type ErrorOf = {
  readonly message: string
  readonly type: string
  readonly code?: string
  readonly param?: string | null
}

/** The body of an error reply on a media route. */
export type MediaError = {
  readonly error: ErrorOf
  readonly id?: string
  readonly status?: string
  readonly cost_usd?: string
  readonly estimated_cost_usd?: string
  readonly required_usd?: string
  readonly available_usd?: string
  readonly held_usd?: string
}

/** An image model on the sandbox with every parameter of the contract. */
export function imageModel(id: string, change: Readonly<Record<string, unknown>> = {}): object {
  return {
    id,
    kind: 'image',
    upstreams: [{ provider: 'box', model: 'image' }],
    pricing: { per_image: PER_IMAGE },
    params: { aspect_ratio: ['1:1', '16:9', '9:16', '4:3', '3:4'], resolution: ['1K', '2K', '4K'] },
    ...change,
  }
}

const models = [
  imageModel('draw-1'),
  imageModel('draw-wide', { params: { aspect_ratio: ['16:9', '1:1', '3:2', '2:3', '21:9'] } }),
  imageModel('draw-turned', { params: { orientation: ['landscape', 'portrait', 'square'] } }),
  imageModel('draw-narrow', { params: { aspect_ratio: ['3:4', '9:16'], resolution: ['2K'] } }),
  imageModel('draw-plain', { params: {} }),
  imageModel('draw-fixed', { params: {}, fixed_params: { quality: 'hd', steps: 4 } }),
  imageModel('draw-off', { enabled: false }),
  {
    id: 'talk-1',
    kind: 'chat',
    upstreams: [{ provider: 'box', model: 'talk' }],
    pricing: 'free',
    max_output_tokens: 100,
  },
]

type AdminJob = { readonly id: string; readonly state: string; readonly submitted_at: string | null }

/** The job that was created last, as the admin API shows it. */
async function newestJob(gateway: TestGateway): Promise<AdminJob | undefined> {
  const { data } = await gateway.admin<{ data: readonly { readonly id: string }[] }>('GET', 'jobs?limit=1')
  return data[0] && gateway.admin<AdminJob>('GET', `jobs/${data[0].id}`)
}

type GatewayOptions = {
  readonly models?: readonly object[]
  readonly providers?: readonly object[]
  readonly environment?: Record<string, string>
  readonly media?: ScriptedMedia
  /** In place of the providers of other kinds than the sandbox. */
  readonly otherMedia?: MediaProviders
}

export async function startImageGateway(options: GatewayOptions = {}): Promise<ImageGateway> {
  const clock = fakeClock()
  const catalog = {
    providers: [{ id: 'box', kind: 'sandbox' }, ...(options.providers ?? [])],
    models: [...models, ...(options.models ?? [])],
  }
  const gateway = await startTestGateway({
    catalog: JSON.stringify(catalog),
    overrides: {
      clock,
      ...(options.media === undefined
        ? {}
        : { mediaProviders: { ...options.otherMedia, sandbox: options.media } }),
    },
    // The reconciler runs when a test asks for it.
    environment: { TOLLGATE_RECONCILE_EVERY_S: '86400', ...options.environment },
  })
  const create: ImageGateway['create'] = (
    key,
    body = {},
    { path = '/v1/images/generations', headers = {}, signal } = {},
  ) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(signal === undefined ? {} : { signal }),
      body:
        typeof body === 'string'
          ? body
          : JSON.stringify({ model: 'draw-1', prompt: 'A lighthouse', ...body }),
    })
  const lookup: ImageGateway['lookup'] = (key, id) =>
    fetch(`${gateway.url}/v1/images/jobs/${id}`, { headers: { 'x-api-key': key } })
  return {
    ...gateway,
    clock,
    create,
    lookup,
    async created(key, body) {
      const response = await create(key, body)
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
      return (await response.json()) as ImagesBody
    },
    async running(key, body) {
      const before = await newestJob(gateway)
      const reply = create(key, body)
      await until('the submit has begun', async () => {
        const job = await newestJob(gateway)
        return job !== undefined && job.id !== before?.id && job.submitted_at !== null
      })
      // The wait has timers of two seconds, which only this clock ends. On a busy machine the reply takes many turns,
      // and without a limit hours would pass on the clock.
      for (let waitedMs = 0; !(await hasCome(reply)); waitedMs += STEP_MS)
        if (waitedMs < 2 * WAIT_MS) clock.advance(STEP_MS)
      const response = await reply
      if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`)
      const job = (await response.json()) as ImageJobBody
      // Shares the poll that the wait may have left under way, and ends with it.
      await lookup(key, job.id)
      return job
    },
    async poll(key, id) {
      clock.advance(STEP_MS)
      const response = await lookup(key, id)
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
      return (await response.json()) as ImageJobBody
    },
    async money(account) {
      const { available_usd: available, held_usd: held } = await account.balance()
      return { available, held }
    },
    async reconcile() {
      type Pass = { readonly has_run: boolean; readonly jobs: Readonly<Record<string, number>> }
      let pass: Pass = { has_run: false, jobs: {} }
      await until('the reconciler has run', async () => {
        pass = await gateway.admin<Pass>('POST', 'reconcile')
        return pass.has_run
      })
      return pass.jobs
    },
    async verify() {
      const { ok, problems } = await gateway.admin<{ ok: boolean; problems: unknown[] }>('POST', 'verify')
      if (!ok) throw new Error(`The books are not sound: ${JSON.stringify(problems)}`)
    },
  }
}

/** The same with a provider whose answers a test sets, in place of the sandbox's. */
export async function startScriptedImages(
  options: Omit<GatewayOptions, 'media'> = {},
): Promise<ImageGateway & { readonly media: ScriptedMedia }> {
  const media = scriptedMedia()
  return { ...(await startImageGateway({ ...options, media })), media }
}

const PNG_HEAD = '\x89PNG\r\n\x1a\n'

/** A file that begins like a PNG image. */
export function aPng(content: string): Bytes {
  return Uint8Array.from([...Buffer.from(PNG_HEAD, 'latin1'), ...Buffer.from(content)])
}

/** The result of a job with images of these contents. */
export function images(
  contents: readonly string[],
  change: Partial<MediaResult> = {},
): Extract<PollOutcome, { readonly outcome: 'finished' }> {
  const outputs = contents.map(text => ({ from: 'bytes', bytes: aPng(text) }) as const)
  return { outcome: 'finished', result: { outputs, isCounted: true, ...change } }
}

/** The names of the files of references that the blob store has now. */
export function inputFiles({ dataDir }: TestGateway): readonly string[] {
  return readdirSync(`${dataDir}/blobs`, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.includes('.in-'))
    .map(entry => entry.name)
}

/** What the images of a reply contain behind their heads. */
export function contentsOf({ data }: Pick<ImagesBody, 'data'>): readonly string[] {
  return data.map(({ b64_json: base64 }) =>
    Buffer.from(base64, 'base64').toString('latin1').replace(PNG_HEAD, ''),
  )
}

export async function errorOf(response: Response): Promise<MediaError> {
  return (await response.json()) as MediaError
}
