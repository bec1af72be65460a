import { expect, test } from 'bun:test'
import type { Bytes } from '../../src/domain/bytes.ts'
import {
  fingerprintOf,
  type Fingerprint,
  type KeptAnswer,
  type Replays,
} from '../../src/gateway/ports/requests/replays.ts'

/** An empty cache that keeps answers for `ttlMs`, and a function that lets time pass. */
export type OpenReplays = (options: { readonly ttlMs: number }) => Promise<{
  readonly replays: Replays
  readonly advance: (ms: number) => Promise<void> | void
}>

/** The fingerprint of requests with this body, with another key or route if given. */
export function aFingerprint(name: string, change: Partial<Fingerprint> = {}): Fingerprint {
  const digest = Bun.SHA256.hash(name, 'base64')
  return fingerprintOf({ apiKeyId: 1, apiKey: 'key_1', route: 'chat', digest, ...change })
}

/** Fingerprints that differ from one as little as possible. */
export function differing(from: Fingerprint): readonly Fingerprint[] {
  const { digest } = from
  const others = Array.from(digest, (_, place) => `${digest.slice(0, place)}*${digest.slice(place + 1)}`)
  return [
    fingerprintOf({ ...from, apiKeyId: 2, apiKey: 'key_2' }),
    fingerprintOf({ ...from, route: 'responses' }),
    ...others.map(other => fingerprintOf({ ...from, digest: other })),
  ]
}

export function anAnswer(body: string | Bytes = '{"id":"1"}'): KeptAnswer {
  return {
    first: { id: { key: 3n, tail: -4n } },
    contentType: 'application/json',
    model: 'gpt-x',
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
  }
}

/** What every cache of answers must do. Run by the tests of stores/memory and stores/valkey. */
export function replaysConform(open: OpenReplays): void {
  test('an answer that was never kept is not found', async () => {
    const { replays } = await open({ ttlMs: 60_000 })

    expect(await replays.find(aFingerprint('a'))).toBeUndefined()
  })

  test('an answer is found with its bytes, content type and model', async () => {
    const { replays } = await open({ ttlMs: 60_000 })
    const answer = anAnswer(Uint8Array.from({ length: 256 }, (_, byte) => byte))

    await replays.keep(aFingerprint('a'), answer)

    expect(await replays.find(aFingerprint('a'))).toEqual(answer)
    expect(await replays.find(aFingerprint('b'))).toBeUndefined()
  })

  test('an answer is found with the id and the end user of the request that paid for it', async () => {
    const { replays } = await open({ ttlMs: 60_000 })
    const id = { key: (1n << 63n) - 1n, tail: -(1n << 63n) }
    const answer = { ...anAnswer(), first: { id, userId: 'zoë' } }

    await replays.keep(aFingerprint('a'), answer)

    expect(await replays.find(aFingerprint('a'))).toEqual(answer)
  })

  test('an answer does not change if the bytes it was kept from change', async () => {
    const { replays } = await open({ ttlMs: 60_000 })
    const body = new TextEncoder().encode('first')

    const keeping = replays.keep(aFingerprint('a'), anAnswer(body))
    body.fill(0)
    await keeping

    expect(await replays.find(aFingerprint('a'))).toEqual(anAnswer('first'))
  })

  test('an answer is not found for another key, another route or a digest that differs in one word', async () => {
    const { replays } = await open({ ttlMs: 60_000 })
    const kept = aFingerprint('a')
    await replays.keep(kept, anAnswer())

    for (const other of differing(kept)) expect(await replays.find(other)).toBeUndefined()
    expect(await replays.find({ ...kept, digest: kept.digest.slice() })).toBeDefined()
  })

  test('answers with different content types and models are each found with their own', async () => {
    const { replays } = await open({ ttlMs: 60_000 })
    const types = ['application/json', 'text/event-stream; charset=utf-8', 'application/json', 'text/plain']
    const answers = types.map((contentType, index) =>
      Object.assign(anAnswer(), { contentType, model: `m${index}` }),
    )

    for (const [index, answer] of answers.entries()) await replays.keep(aFingerprint(`${index}`), answer)

    for (const [index, answer] of answers.entries())
      expect(await replays.find(aFingerprint(`${index}`))).toEqual(answer)
  })

  test('an answer is found repeatedly, and finding it does not extend its time', async () => {
    const { replays, advance } = await open({ ttlMs: 60_000 })
    await replays.keep(aFingerprint('a'), anAnswer())

    await advance(59_000)
    expect(await replays.find(aFingerprint('a'))).toBeDefined()
    expect(await replays.find(aFingerprint('a'))).toBeDefined()
    await advance(1_000)

    expect(await replays.find(aFingerprint('a'))).toBeUndefined()
  })

  test('each answer has its own time', async () => {
    const { replays, advance } = await open({ ttlMs: 60_000 })
    await replays.keep(aFingerprint('a'), anAnswer('first'))
    await advance(30_000)
    await replays.keep(aFingerprint('b'), anAnswer('second'))

    await advance(30_000)

    expect(await replays.find(aFingerprint('a'))).toBeUndefined()
    expect(await replays.find(aFingerprint('b'))).toEqual(anAnswer('second'))
  })

  test('a newer answer replaces the older one and starts its time again', async () => {
    const { replays, advance } = await open({ ttlMs: 60_000 })
    await replays.keep(aFingerprint('a'), anAnswer('older'))
    await replays.keep(aFingerprint('b'), anAnswer('between'))
    await advance(30_000)
    await replays.keep(aFingerprint('a'), anAnswer('newer'))

    await advance(30_000)

    expect(await replays.find(aFingerprint('a'))).toEqual(anAnswer('newer'))
    expect(await replays.find(aFingerprint('b'))).toBeUndefined()
  })

  test('an empty answer is an answer', async () => {
    const { replays } = await open({ ttlMs: 60_000 })

    await replays.keep(aFingerprint('a'), anAnswer(''))

    expect(await replays.find(aFingerprint('a'))).toEqual(anAnswer(''))
  })
}
