import { describe, expect, test } from 'bun:test'
import { turn } from '../../../../test/support/turn.ts'
import { openRenderer, WAITING_MAX, type Rendering } from './renderer.ts'

const image: Rendering = { file: 'png', width: 64, height: 64, seed: 'a' }
const clip: Rendering = { file: 'clip', ratio: '16:9', durationMs: 4000 }

describe('a renderer', () => {
  test('a renderer makes many files at once, each as if it were alone', async () => {
    const renderer = openRenderer()

    const [first, made, second] = await Promise.all([
      renderer.render(image),
      renderer.render(clip),
      renderer.render({ ...image, seed: 'b' }),
    ])

    expect(first).toEqual(await renderer.render(image))
    expect(second).not.toEqual(first!)
    expect(made).toEqual(await renderer.render(clip))
  })

  test('a renderer refuses an image that would wait too long', async () => {
    const renderer = openRenderer()
    const waiting = Array.from({ length: WAITING_MAX }, () => renderer.render(image))

    const refused = await renderer.render(image)

    expect(refused).toBeUndefined()
    for (const bytes of await Promise.all(waiting)) expect(bytes?.length).toBeGreaterThan(0)
    expect(await renderer.render(image)).toBeDefined()
  })

  test('a renderer makes any number of clips at once, also while images wait', async () => {
    const renderer = openRenderer()
    const waiting = Array.from({ length: WAITING_MAX }, () => renderer.render(image))

    const clips = await Promise.all(Array.from({ length: 1000 }, () => renderer.render(clip)))

    expect(clips.filter(bytes => bytes === undefined)).toEqual([])
    await Promise.all(waiting)
  })

  test('a renderer lets other work run while it makes a large image', async () => {
    const first = await Promise.race([
      openRenderer()
        .render({ ...image, width: 4096, height: 4096 })
        .then(() => 'the image'),
      turn().then(() => 'other work'),
    ])

    expect(first).toBe('other work')
  })

  test('a renderer fails for an image that cannot be made, and then makes the next one', async () => {
    const renderer = openRenderer()
    const broken = renderer.render({ ...image, height: -1 })

    expect(await broken.catch((error: unknown) => error)).toBeInstanceOf(RangeError)
    expect(await renderer.render(image)).toBeDefined()
  })
})
