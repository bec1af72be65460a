import type { Gateway } from '../peers/gateway.ts'
import { CLIP_MODEL, OPEN_MODEL, SANDBOX_MODEL } from './start-media.ts'

const ASK_EVERY_MS = 250
const FINISHED_MS_MAX = 120_000

/** The id of a job whose clip of 100 MB is stored. */
export async function makeClip(gateway: Gateway): Promise<string> {
  const id = await createVideo(gateway, CLIP_MODEL)
  const untilMs = performance.now() + FINISHED_MS_MAX
  while (performance.now() < untilMs) {
    const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/videos/${id}`, {
      headers: gateway.headers,
    })
    const { status } = (await response.json()) as { status: string }
    if (status === 'completed') return id
    if (status === 'failed') throw new Error('The job of the clip failed.')
    await Bun.sleep(ASK_EVERY_MS)
  }
  throw new Error('The job of the clip did not end.')
}

/** A job that the provider works on for as long as the benchmark runs. */
export function createOpenVideo(gateway: Gateway): Promise<string> {
  return createVideo(gateway, OPEN_MODEL)
}

/** A job of the sandbox whose clip is ready when it is first asked for. */
export function createSandboxVideo(gateway: Gateway): Promise<string> {
  return createVideo(gateway, SANDBOX_MODEL, 'bench [sandbox delay_ms=0]')
}

async function createVideo(gateway: Gateway, model: string, prompt = 'bench'): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/videos`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...gateway.headers },
    body: JSON.stringify({ model, prompt }),
  })
  const body = (await response.json()) as { id: string }
  if (response.status !== 202)
    throw new Error(`A video was answered with ${response.status}: ${JSON.stringify(body)}`)
  return body.id
}
