import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openRenderer, WAITING_MAX, type Renderer } from './renderer.ts'
import type { Rendering } from './worker.ts'

const image: Rendering = { file: 'png', width: 64, height: 64, seed: 'a' }
const opened: Renderer[] = []

function open(worker?: string): Renderer {
  const renderer = worker === undefined ? openRenderer() : openRenderer(new URL(worker))
  opened.push(renderer)
  return renderer
}

afterEach(() => {
  for (const renderer of opened.splice(0)) renderer.close()
})

describe('a renderer', () => {
  test('renders what it is asked for, in any number at once', async () => {
    const renderer = open()

    const [first, clip, second] = await Promise.all([
      renderer.render(image),
      renderer.render({ file: 'clip', width: 64, height: 64, seed: 'a', durationMs: 4000 }),
      renderer.render({ ...image, seed: 'b' }),
    ])

    expect(first).toEqual(await renderer.render(image))
    expect(second).not.toEqual(first!)
    expect(new TextDecoder().decode(clip?.subarray(4, 8))).toBe('ftyp')
  })

  test('refuses what would wait too long', async () => {
    const renderer = open()
    const waiting = Array.from({ length: WAITING_MAX }, () => renderer.render(image))

    const refused = await renderer.render(image)

    expect(refused).toBeUndefined()
    for (const bytes of await Promise.all(waiting)) expect(bytes?.length).toBeGreaterThan(0)
  })

  test('renders nothing once it is closed, not even what waits', async () => {
    const renderer = open()
    const waiting = renderer.render(image)

    renderer.close()

    expect(await waiting).toBeUndefined()
    expect(await renderer.render(image)).toBeUndefined()
  })

  test('starts a failed worker again, but gives up on one that keeps failing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-worker-'))
    const starts = join(folder, 'starts')
    const worker = join(folder, 'worker.js')
    writeFileSync(starts, '')
    const noteStart = `require('node:fs').appendFileSync(${JSON.stringify(starts)}, 'x')`
    writeFileSync(worker, `${noteStart}\nself.onmessage = () => { throw new Error('no') }`)
    const renderer = open(pathToFileURL(worker).href)

    const rendered = []
    for (let call = 0; call < 6; call += 1) rendered.push(await renderer.render(image))

    expect(rendered).toEqual(Array(6).fill(undefined))
    expect(readFileSync(starts, 'utf8')).toBe('xxx')
    rmSync(folder, { recursive: true })
  })

  test('leaves the way this process handles its own errors as it was', async () => {
    const listeners = () => [
      process.listenerCount('uncaughtException'),
      process.listenerCount('unhandledRejection'),
    ]
    const before = listeners()

    await open().render({ file: 'clip', width: 64, height: 64, seed: 'a', durationMs: 4000 })

    expect(listeners()).toEqual(before)
  })
})
