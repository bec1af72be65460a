import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MediaSimulator } from '../../support/simulators/media/media-simulator.ts'
import { modelOf, type SimulatedKind } from '../../support/simulators/media/simulated-media.ts'
import { simulatedKinds } from '../../support/simulators/media/simulated-kinds.ts'
import { simulatedServer, type SimulatedServer } from '../../support/simulators/simulated-server.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { tinyMp4 } from '../../support/tiny-mp4.ts'
import {
  startVideoGateway,
  videoModel,
  type VideoBody,
  type VideoGateway,
} from '../gateways/video-gateway.ts'

const JOB_MS = 20_000
const DURATION_S = 5
const KEY = 'key-of-the-operator'

const kinds = Object.entries<SimulatedKind>(simulatedKinds).filter(([, { makes }]) => makes !== 'image')
const names = kinds.map(([name]) => name)

let gateway: VideoGateway
let ada: TestAccount
let server: SimulatedServer
const simulators = new Map<string, MediaSimulator>()

/** The simulated APIs of all kinds are on one server, each under its name. */
beforeAll(async () => {
  const clock = { now: () => gateway.clock.now() }
  for (const [name, kind] of kinds) {
    const url = () => `${server.url}/${name}`
    const key = kind.key === undefined ? { key: KEY } : {}
    const options = { clock, jobMs: JOB_MS, url, filesUrl: () => `${url()}/files`, ...key }
    simulators.set(name, new MediaSimulator(kind.dialect, options))
  }
  server = simulatedServer(
    request => {
      const [, name = '', path = ''] = /^\/([^/]+)(\/.*)$/.exec(request.path) ?? []
      const simulator = simulators.get(name)
      return simulator?.handle({ ...request, path }) ?? { send: 'reset' }
    },
    { after: () => () => {} },
  )
  gateway = await startVideoGateway({
    environment: { TOLLGATE_ALLOW_PRIVATE_UPSTREAMS: 'on', TOLLGATE_RECONCILE_EVERY_S: '86400' },
    providers: kinds.map(([name, { kind, path, key = KEY }]) => ({
      id: name,
      kind,
      base_url: `${server.url}/${name}${path}`,
      api_key: key,
    })),
    models: kinds.map(([name, kind]) =>
      videoModel(name, {
        engine: 'family-c',
        ...(name === 'minimaxV2' ? { fixed_params: { billed_inputs: 'included' } } : {}),
        upstreams: [{ provider: name, model: modelOf(kind, 'video') ?? 'upstream-model' }],
      }),
    ),
  })
  ada = await gateway.account({ grant: '1000' })
})
afterAll(async () => {
  await gateway.stop()
  server.close()
})

const aRequest = (model: string) => ({ model, prompt: 'A lighthouse', duration: DURATION_S })

function simulatorOf(name: string): MediaSimulator {
  const simulator = simulators.get(name)
  if (simulator === undefined) throw new Error(`There is no simulator "${name}".`)
  return simulator
}

async function ended(id: string): Promise<VideoBody> {
  gateway.clock.advance(JOB_MS)
  return gateway.poll(ada.key, id)
}

describe.each(names)('a video of %s', name => {
  test('a video is made once, stored and charged, and its clip comes from the gateway', async () => {
    const simulator = simulatorOf(name)
    const { held_usd: before } = await ada.balance()

    const { id } = await gateway.accepted(ada.key, aRequest(name))
    const running = await gateway.poll(ada.key, id)
    const done = await ended(id)
    const clip = await gateway.get(ada.key, new URL(done.data![0]!.url).pathname)

    expect(running.status).toBe('processing')
    expect(done).toMatchObject({ status: 'completed', cost_usd: '0.5' })
    expect(new Uint8Array(await clip.arrayBuffer())).toEqual(tinyMp4(DURATION_S * 1000))
    expect(simulator.ledger()).toMatchObject([{ state: 'finished', creates: 1, isConfirmed: true }])
    expect((await ada.balance()).held_usd).toBe(before)
    expect(JSON.stringify(done)).not.toContain(server.url)
  })

  test("a video that fails because of the operator's account says nothing about the account", async () => {
    simulatorOf(name).scriptSubmits('out_of_credit')

    const response = await gateway.create(ada.key, aRequest(name))
    const text = await response.text()

    expect(response.status).toBeGreaterThanOrEqual(500)
    expect(text).toContain('provider_unavailable')
    expect(text).not.toMatch(/Simulated|credit|balance|billing|overdue|quota/i)
    expect(text).not.toContain(KEY)
  })

  test('a video that continues an earlier one sends what its provider takes, or is a clear 400', async () => {
    const { id } = await gateway.accepted(ada.key, aRequest(name))
    await ended(id)
    const [made] = simulatorOf(name).ledger().slice(-1)

    const response = await gateway.create(ada.key, { ...aRequest(name), ref_video_job_id: id })

    const sources = {
      kling: `"video_id":"${made!.id}"`,
      geminigen: `name="ref_history"\r\n\r\n${made!.id}`,
      minimaxV1: undefined,
    } as Readonly<Record<string, string | undefined>>
    const source = name in sources ? sources[name] : `"${server.url}/${name}`
    if (source === undefined) {
      const message = 'The model does not accept videos.'
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ error: { message }, cost_usd: '0' })
    } else {
      expect(response.status).toBe(202)
      const body = server.requests.findLast(({ method }) => method === 'POST')!.body
      expect(Buffer.from(body).toString()).toContain(source)
    }
  })

  test('a video that could not be made costs nothing', async () => {
    simulatorOf(name).scriptSubmits('fails')

    const { id } = await gateway.accepted(ada.key, aRequest(name))
    const failed = await ended(id)

    expect(failed).toMatchObject({ status: 'failed', cost_usd: '0' })
  })
})

test('the key of the operator goes to its own provider only', () => {
  const carried = server.requests.map(({ path, headers }) => ({ path, text: JSON.stringify(headers) }))

  // The files of results are behind no key, but for the ones of Veo, which are on the host of its API.
  const files = carried.filter(({ path }) => /^\/\w+\/files\//.test(path))
  expect(files.length).toBeGreaterThan(0)
  expect(files.filter(({ text }) => text.includes(KEY)).map(({ path }) => path)).toEqual([])
})
