import { describe, expect, test } from 'bun:test'
import { PNG } from 'pngjs'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { accepted, aSubmitCall } from '../../../../test/support/media-calls.ts'
import { sandboxProvider } from '../../../../test/support/media-providers.ts'
import type { Bytes } from '../../../domain/bytes.ts'
import type { MediaResult, SubmitCall } from '../../../gateway/ports/providers/media-provider.ts'
import { sandboxMedia } from './sandbox-media.ts'

const clock = fakeClock()
const sandbox = sandboxMedia({ clock })

describe('an image of the sandbox', () => {
  test.each([
    [{}, 1024, 1024],
    [{ aspect_ratio: '16:9' }, 1024, 576],
    [{ aspect_ratio: '9:16', resolution: '2K' }, 1152, 2048],
    [{ aspect_ratio: '4:3' }, 1024, 768],
    [{ aspect_ratio: '3:4' }, 768, 1024],
    [{ aspect_ratio: '3:2' }, 1024, 683],
    [{ aspect_ratio: '21:9' }, 1024, 439],
    [{ resolution: '4K' }, 4096, 4096],
    [{ orientation: 'landscape' }, 1024, 576],
    [{ orientation: 'portrait', resolution: '2K' }, 1152, 2048],
    [{ orientation: 'square' }, 1024, 1024],
    [{ aspect_ratio: '0:0', resolution: '9K', style: 'oil' }, 1024, 1024],
    [{ aspect_ratio: '9999:1' }, 1024, 1024],
  ])('an image asked for with %j is a PNG of %d × %d pixels', async (params, width, height) => {
    const [png] = await imagesOf({ params })

    expect([png?.width, png?.height]).toEqual([width, height])
  })

  test('an image of the sandbox shows several colors, and a label in black and white', async () => {
    const [png] = await imagesOf({})

    const colors = new Set(Array.from({ length: 1024 }, (_, row) => png?.data.readUInt32BE(row * 1024 * 4)))
    expect(colors.size).toBeGreaterThan(3)
    expect(colors).toContain(0x000000ff)
    const label = new Set(Array.from({ length: 400 }, (_, x) => png?.data.readUInt32BE((960 * 1024 + x) * 4)))
    expect(label).toEqual(new Set([0x000000ff, 0xffffffff]))
  })

  test('an image of the sandbox depends only on the prompt, the model and the parameters', async () => {
    const params = { resolution: '1K', style: 'oil' }
    const first = await bytesOf({ params })

    expect(await bytesOf({ params: { style: 'oil', resolution: '1K' } })).toEqual(first)
    for (const change of [{ prompt: 'A cliff' }, { model: 'other' }, { params: { ...params, style: 'ink' } }])
      expect(await bytesOf({ params, ...change })).not.toEqual(first)
  })

  test('an image of the sandbox comes in the requested number, each one different', async () => {
    const { outputs, isCounted } = await finished({ count: 3 })

    expect(new Set(outputs.map(output => Bun.SHA256.hash(bytesIn(output), 'hex'))).size).toBe(3)
    expect(isCounted).toBe(true)
  })

  test.each([0, 1, 5])('an image of the sandbox comes %d times if the prompt asks for that', async images => {
    const { outputs } = await finished({ count: 3, prompt: `A bay [sandbox images=${images}]` })

    expect(outputs.length).toBe(images)
  })

  test('an image of the sandbox is not counted if the prompt asks for that', async () => {
    expect(await finished({ prompt: '[sandbox uncounted]' })).toMatchObject({ isCounted: false })
  })

  test('an image of the sandbox is ready later if the prompt asks for a delay', async () => {
    const call = aSubmitCall(sandboxProvider, { prompt: '[sandbox delay_ms=5000]' })
    const outcome = await sandbox.submit(call)
    const job = accepted(call, call.jobId)

    clock.advance(4999)
    const before = await sandbox.poll(job)
    clock.advance(1)
    const after = await sandbox.poll(job)

    expect(outcome).toEqual({ outcome: 'accepted', upstreamId: call.jobId })
    expect(before).toEqual({ outcome: 'running', upstreamStatus: 'running', isKnownStatus: true })
    expect(after.outcome).toBe('finished')
  })

  test('an image of the sandbox that fails is accepted first, and fails when it is polled', async () => {
    const call = aSubmitCall(sandboxProvider, { prompt: '[sandbox fail=TOO_DARK]' })

    const outcome = await sandbox.submit(call)

    expect(outcome.outcome).toBe('accepted')
    expect(await sandbox.poll(accepted(call, call.jobId))).toMatchObject({
      outcome: 'failed',
      code: 'TOO_DARK',
    })
  })
})

async function finished(change: Partial<SubmitCall>): Promise<MediaResult> {
  const outcome = await sandbox.submit(aSubmitCall(sandboxProvider, change))
  if (outcome.outcome !== 'finished') throw new Error(`The submission was ${outcome.outcome}.`)
  return outcome.result
}

async function bytesOf(change: Partial<SubmitCall>): Promise<Uint8Array> {
  const { outputs } = await finished(change)
  return bytesIn(outputs[0])
}

async function imagesOf(change: Partial<SubmitCall>): Promise<readonly PNG[]> {
  const { outputs } = await finished(change)
  return outputs.map(output => PNG.sync.read(Buffer.from(bytesIn(output))))
}

function bytesIn(output: MediaResult['outputs'][number] | undefined): Bytes {
  if (output?.from !== 'bytes') throw new Error('The output has no bytes.')
  return output.bytes
}
