import { expect, test } from 'bun:test'
import type { Fingerprint, KeptAnswer, Replays } from '../../src/gateway/ports/replays.ts'

/** An empty cache under test that keeps answers for `ttlMs`, and how to let its time pass. */
export type OpenReplays = (options: { readonly ttlMs: number }) => Promise<{
  readonly replays: Replays
  readonly advance: (ms: number) => Promise<void> | void
}>

/** What requests called so have in common; beside that, they may be of another route or key. */
export function aFingerprint(name: string, change: Partial<Fingerprint> = {}): Fingerprint {
  const digest = new Int32Array(8)
  Bun.SHA256.hash(name, digest)
  return { apiKeyId: 1, route: 'chat', digest, ...change }
}

/** Fingerprints that differ from one in as little as they can. */
export function differing(from: Fingerprint): readonly Fingerprint[] {
  const { apiKeyId, route, digest } = from
  const words = Array.from(digest.keys(), place => digest.with(place, 7))
  return [
    { apiKeyId: 2, route, digest },
    { apiKeyId, route: 'responses', digest },
    ...words.map(other => ({ apiKeyId, route, digest: other })),
  ]
}

export function anAnswer(body: string | Uint8Array<ArrayBuffer> = '{"id":"1"}'): KeptAnswer {
  return {
    headers: { 'content-type': 'application/json' },
    model: undefined,
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
  }
}

/** What any cache of answers must do. Run by stores/memory/replays.test.ts, and by each cache to come. */
export function replaysConform(open: OpenReplays): void {
  test('what was never kept is not found', async () => {
    const { replays } = await open({ ttlMs: 60_000 })

    expect(await replays.find(aFingerprint('a'))).toBeUndefined()
  })

  test('an answer is found with the bytes and headers it was kept with', async () => {
    const { replays } = await open({ ttlMs: 60_000 })
    const answer = anAnswer(Uint8Array.from({ length: 256 }, (_, byte) => byte))

    await replays.keep(aFingerprint('a'), answer)

    expect(await replays.find(aFingerprint('a'))).toMatchObject(answer)
    expect(await replays.find(aFingerprint('b'))).toBeUndefined()
  })

  test('an answer is kept as it was, whatever becomes of the bytes it was kept from', async () => {
    const { replays } = await open({ ttlMs: 60_000 })
    const body = new TextEncoder().encode('first')

    const keeping = replays.keep(aFingerprint('a'), anAnswer(body))
    body.fill(0)
    await keeping

    expect(await replays.find(aFingerprint('a'))).toMatchObject(anAnswer('first'))
  })

  test('an answer is not found for another key, another route or a body that differs in any part of its digest', async () => {
    const { replays } = await open({ ttlMs: 60_000 })
    const kept = aFingerprint('a')
    await replays.keep(kept, anAnswer())

    for (const other of differing(kept)) expect(await replays.find(other)).toBeUndefined()
    expect(await replays.find({ ...kept, digest: kept.digest.slice() })).toBeDefined()
  })

  test('of answers with other headers each is found with its own', async () => {
    const { replays } = await open({ ttlMs: 60_000 })
    const types = ['application/json', 'text/event-stream', 'application/json', 'text/plain']
    const { model, body } = anAnswer()
    const answers = types.map(type => ({ headers: { 'content-type': type }, model, body }))

    for (const [index, answer] of answers.entries()) await replays.keep(aFingerprint(`${index}`), answer)

    for (const [index, answer] of answers.entries())
      expect(await replays.find(aFingerprint(`${index}`))).toMatchObject(answer)
  })

  test('an answer is found with the model it was kept with', async () => {
    const { replays } = await open({ ttlMs: 60_000 })

    await replays.keep(aFingerprint('a'), { ...anAnswer(), model: 'gpt-x' })
    await replays.keep(aFingerprint('b'), anAnswer())

    expect((await replays.find(aFingerprint('a')))?.model).toBe('gpt-x')
    expect((await replays.find(aFingerprint('b')))?.model).toBeUndefined()
  })

  test('an answer is found again and again, and finding it does not make it live longer', async () => {
    const { replays, advance } = await open({ ttlMs: 60_000 })
    await replays.keep(aFingerprint('a'), anAnswer())

    await advance(59_000)
    expect(await replays.find(aFingerprint('a'))).toBeDefined()
    expect(await replays.find(aFingerprint('a'))).toBeDefined()
    await advance(1_000)

    expect(await replays.find(aFingerprint('a'))).toBeUndefined()
  })

  test('of two answers each lives its own time', async () => {
    const { replays, advance } = await open({ ttlMs: 60_000 })
    await replays.keep(aFingerprint('a'), anAnswer('first'))
    await advance(30_000)
    await replays.keep(aFingerprint('b'), anAnswer('second'))

    await advance(30_000)

    expect(await replays.find(aFingerprint('a'))).toBeUndefined()
    expect(await replays.find(aFingerprint('b'))).toMatchObject(anAnswer('second'))
  })

  test('a newer answer takes the place of the older one, and its time begins anew', async () => {
    const { replays, advance } = await open({ ttlMs: 60_000 })
    await replays.keep(aFingerprint('a'), anAnswer('older'))
    await replays.keep(aFingerprint('b'), anAnswer('between'))
    await advance(30_000)
    await replays.keep(aFingerprint('a'), anAnswer('newer'))

    await advance(30_000)

    expect(await replays.find(aFingerprint('a'))).toMatchObject(anAnswer('newer'))
    expect(await replays.find(aFingerprint('b'))).toBeUndefined()
  })

  test('an empty answer is an answer', async () => {
    const { replays } = await open({ ttlMs: 60_000 })

    await replays.keep(aFingerprint('a'), anAnswer(''))

    expect(await replays.find(aFingerprint('a'))).toMatchObject(anAnswer(''))
  })
}
