import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { accepted, aSubmitCall } from '../../../../test/support/media-calls.ts'
import { readMp4 } from '../../../../test/support/read-mp4.ts'
import { sandboxProvider } from '../../../../test/support/media-providers.ts'
import type { Bytes } from '../../../domain/bytes.ts'
import type { MediaResult, SubmitCall } from '../../../gateway/ports/providers/media-provider.ts'
import { sandboxMedia } from './sandbox-media.ts'

const clock = fakeClock()
const sandbox = sandboxMedia({ clock })
const BASELINE = 66
/** As many as each shipped clip has. */
const CLIP_FRAMES = 12

describe('a clip of the sandbox', () => {
  test.each([
    [5000, '16:9', 640, 360],
    [8000, '9:16', 360, 640],
    [7321, '1:1', 640, 640],
    [30_000, '21:9', 640, 274],
    [120_000, '4:3', 640, 480],
    [1000, '3:4', 480, 640],
    [4000, '5:4', 640, 480],
    [4000, '2:1', 640, 360],
    [4000, '9:21', 360, 640],
    [4000, 'cinema', 640, 360],
  ])(
    'a clip of the sandbox of %d ms and %s has exactly that length, in H.264 with %d × %d pixels',
    async (durationMs, ratio, width, height) => {
      const clip = await clipOf({ durationMs, params: { aspect_ratio: ratio } })

      const { samples, mediaBytes, ...read } = readMp4(clip)
      expect(read).toEqual({
        durationMs,
        playedMs: durationMs,
        width,
        height,
        createdAtS: 0,
        profile: BASELINE,
      })
      expect(samples.length).toBe(CLIP_FRAMES)
      expect(samples.reduce((sum, sample) => sum + sample, 0)).toBe(mediaBytes)
      expect(Math.min(...samples)).toBeGreaterThan(0)
    },
  )

  test('a clip of the sandbox lasts 5 seconds if no length is requested', async () => {
    expect(readMp4(await clipOf({})).durationMs).toBe(5000)
  })

  test('a clip of the sandbox is the same, byte by byte, for the same length and aspect ratio', async () => {
    const first = await clipOf({ durationMs: 4000 })

    expect(await clipOf({ durationMs: 4000, prompt: 'A cliff' })).toEqual(first)
    expect(await clipOf({ durationMs: 4001 })).not.toEqual(first)
    expect(await clipOf({ durationMs: 4000, params: { aspect_ratio: '1:1' } })).not.toEqual(first)
  })

  test('a clip of the sandbox can have another length than the one that is reported', async () => {
    const result = await finished({ durationMs: 5000, prompt: '[sandbox clip_s=4.2 reported_s=9]' })

    expect(readMp4(bytesIn(result)).durationMs).toBe(4200)
    expect(result.durationMs).toBe(9000)
  })

  test('a clip of the sandbox can have no reported length', async () => {
    const result = await finished({ prompt: '[sandbox reported_s=none]' })

    expect(result).not.toHaveProperty('durationMs')
  })

  test.each([
    ['refused', 'http://169.254.169.254/clip.mp4'],
    ['unreachable', 'http://sandbox.invalid/clip.mp4'],
  ])('a clip of the sandbox can be lost behind a link: %s', async (result, url) => {
    const { outputs } = await finished({ prompt: `[sandbox result=${result}]` })

    expect(outputs).toEqual([{ from: 'url', url }])
  })

  test('a clip of the sandbox never finishes if the prompt asks for that', async () => {
    const call = aSubmitCall(sandboxProvider, { kind: 'video', prompt: '[sandbox never]' })
    await sandbox.submit(call)

    clock.advance(24 * 3_600_000)

    expect(await sandbox.poll(accepted(call, call.jobId))).toMatchObject({ outcome: 'running' })
  })

  test.skipIf(Bun.which('ffprobe') === null)(
    'a clip of the sandbox plays from its first frame to its last',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-clip-'))
      const file = join(folder, 'clip.mp4')
      await Bun.write(file, await clipOf({ durationMs: 7300 }))

      const entries = 'format=duration:stream=codec_name,nb_read_frames'
      const probe = Bun.spawnSync([
        'ffprobe',
        '-v',
        'error',
        '-count_frames',
        '-show_entries',
        entries,
        '-of',
        'json',
        file,
      ])

      rmSync(folder, { recursive: true })
      expect(probe.stderr.toString()).toBe('')
      expect(JSON.parse(probe.stdout.toString())).toMatchObject({
        streams: [{ codec_name: 'h264', nb_read_frames: `${CLIP_FRAMES}` }],
        format: { duration: '7.300000' },
      })
    },
  )
})

async function finished(change: Partial<SubmitCall>): Promise<MediaResult> {
  const call = aSubmitCall(sandboxProvider, { kind: 'video', ...change })
  await sandbox.submit(call)
  clock.advance(10_000)
  const outcome = await sandbox.poll(accepted(call, call.jobId))
  if (outcome.outcome !== 'finished') throw new Error(`The job was ${outcome.outcome}.`)
  return outcome.result
}

async function clipOf(change: Partial<SubmitCall>): Promise<Uint8Array> {
  return bytesIn(await finished(change))
}

function bytesIn({ outputs: [output] }: MediaResult): Bytes {
  if (output?.from !== 'bytes') throw new Error('The output has no bytes.')
  return output.bytes
}
