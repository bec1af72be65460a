import { expect, test } from 'bun:test'
import type { KeptAnswer, Replays } from '../../src/gateway/ports/replays.ts'

/** An empty cache under test that keeps answers for `ttlMs`, and how to let its time pass. */
export type OpenReplays = (options: { readonly ttlMs: number }) => Promise<{
  readonly replays: Replays
  readonly advance: (ms: number) => Promise<void> | void
}>

export function anAnswer(body: string | Uint8Array<ArrayBuffer> = '{"id":"1"}'): KeptAnswer {
  return {
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
  }
}

/** What any cache of answers must do. Run by stores/memory/replays.test.ts, and by each cache to come. */
export function replaysConform(open: OpenReplays): void {
  test('what was never kept is not found', async () => {
    const { replays } = await open({ ttlMs: 60_000 })

    expect(await replays.find('a')).toBeUndefined()
  })

  test('an answer is found with the bytes and headers it was kept with', async () => {
    const { replays } = await open({ ttlMs: 60_000 })
    const answer = anAnswer(Uint8Array.from({ length: 256 }, (_, byte) => byte))

    await replays.keep('a', answer)

    expect(await replays.find('a')).toMatchObject(answer)
    expect(await replays.find('b')).toBeUndefined()
  })

  test('an answer is kept as it was, whatever becomes of the bytes it was kept from', async () => {
    const { replays } = await open({ ttlMs: 60_000 })
    const body = new TextEncoder().encode('first')

    const keeping = replays.keep('a', anAnswer(body))
    body.fill(0)
    await keeping

    expect(await replays.find('a')).toMatchObject(anAnswer('first'))
  })

  test('an answer is found with the model it was kept with', async () => {
    const { replays } = await open({ ttlMs: 60_000 })

    await replays.keep('a', { ...anAnswer(), model: 'gpt-x' })
    await replays.keep('b', anAnswer())

    expect((await replays.find('a'))?.model).toBe('gpt-x')
    expect((await replays.find('b'))?.model).toBeUndefined()
  })

  test('an answer is found again and again, and finding it does not make it live longer', async () => {
    const { replays, advance } = await open({ ttlMs: 60_000 })
    await replays.keep('a', anAnswer())

    await advance(59_000)
    expect(await replays.find('a')).toBeDefined()
    expect(await replays.find('a')).toBeDefined()
    await advance(1_000)

    expect(await replays.find('a')).toBeUndefined()
  })

  test('of two answers each lives its own time', async () => {
    const { replays, advance } = await open({ ttlMs: 60_000 })
    await replays.keep('a', anAnswer('first'))
    await advance(30_000)
    await replays.keep('b', anAnswer('second'))

    await advance(30_000)

    expect(await replays.find('a')).toBeUndefined()
    expect(await replays.find('b')).toMatchObject(anAnswer('second'))
  })

  test('a newer answer takes the place of the older one, and its time begins anew', async () => {
    const { replays, advance } = await open({ ttlMs: 60_000 })
    await replays.keep('a', anAnswer('older'))
    await replays.keep('b', anAnswer('between'))
    await advance(30_000)
    await replays.keep('a', anAnswer('newer'))

    await advance(30_000)

    expect(await replays.find('a')).toMatchObject(anAnswer('newer'))
    expect(await replays.find('b')).toBeUndefined()
  })

  test('an empty answer is an answer', async () => {
    const { replays } = await open({ ttlMs: 60_000 })

    await replays.keep('a', anAnswer(''))

    expect(await replays.find('a')).toMatchObject(anAnswer(''))
  })
}
