import { join } from 'node:path'
import { startGateway, type Gateway } from '../peers/gateway.ts'
import type { Peer } from '../peers/peer.ts'
import { startUpstream } from '../peers/upstream.ts'
import { accepts, freePort, type Processes } from '../processes.ts'

/** The servers of the benchmarks of images, videos and large bodies. */
export type MediaServers = {
  /** With all of its parts on, and with models on the mock provider. */
  readonly gateway: Gateway
  /** A server that copies bodies to files and files to replies, and does nothing else. */
  readonly copy: Peer
  readonly provider: Peer
}

export const IMAGE_MODEL = 'bench-image'
/** Its jobs never end. */
export const OPEN_MODEL = 'bench-open'
/** Its jobs end at the first poll, with a clip of 100 MB. */
export const CLIP_MODEL = 'bench-clip'
/** Its provider is the sandbox. */
export const SANDBOX_MODEL = 'bench-sandbox'

export async function startMedia(processes: Processes): Promise<MediaServers> {
  const upstream = await startUpstream(processes)
  const provider = await startProcess(processes, 'provider')
  const copy = await startProcess(processes, 'copy', processes.folder)
  const baseUrl = `http://127.0.0.1:${provider.port}/v1`
  const gateway = await startGateway(
    { processes, upstreamPort: upstream.port },
    {
      providers: [
        { id: 'pictures', kind: 'openai-images', base_url: baseUrl, api_key: 'sk-bench-upstream' },
        { id: 'films', kind: 'kling', base_url: baseUrl, api_key: 'access,secret' },
        { id: 'box', kind: 'sandbox' },
      ],
      models: [
        {
          id: IMAGE_MODEL,
          kind: 'image',
          upstreams: [{ provider: 'pictures', model: 'gpt-image-1' }],
          pricing: { per_image: '0.04' },
        },
        film(OPEN_MODEL, { provider: 'films', model: 'open' }),
        film(CLIP_MODEL, { provider: 'films', model: 'clip' }),
        film(SANDBOX_MODEL, { provider: 'box', model: 'clip' }),
      ],
      environment: {
        // The mock provider's clips are on this machine.
        TOLLGATE_ALLOW_PRIVATE_UPSTREAMS: 'on',
        TOLLGATE_SANDBOX: 'on',
        TOLLGATE_METRICS_PUBLIC: 'on',
      },
    },
  )
  return { gateway, copy, provider }
}

function film(id: string, upstream: { readonly provider: string; readonly model: string }): object {
  return {
    id,
    kind: 'video',
    engine: 'family-a',
    upstreams: [upstream],
    pricing: { per_second: '0.1' },
  }
}

async function startProcess(
  processes: Processes,
  name: 'provider' | 'copy',
  ...more: string[]
): Promise<Peer> {
  const port = freePort()
  const running = processes.start({
    name,
    command: [process.execPath, join(import.meta.dir, `${name}-process.ts`), String(port), ...more],
  })
  await running.ready(() => accepts(port))
  return { name: 'direct', pid: running.pid, port, headers: {} }
}
