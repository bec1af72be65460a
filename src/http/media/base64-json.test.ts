import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { failingStream, streamOf, textOf } from '../../../test/support/byte-streams.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { Base64Body, base64Length } from './base64-json.ts'

/** A piece of a file that fills a piece of the body. */
const LARGE = new Uint8Array(12 * 1024)

test('files come out as base64 between the texts, however their bytes are cut', async () => {
  const file = fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(file, file, async (first, second) => {
      const body = new Base64Body(['{"a":"', streamOf(first), '","b":"', streamOf(second), '"}'])

      const text = await textOf(body)

      const [a, b] = [Buffer.concat(first), Buffer.concat(second)]
      expect(JSON.parse(text)).toEqual({ a: a.toString('base64'), b: b.toString('base64') })
      expect(text).toHaveLength('{"a":"","b":""}'.length + base64Length(a.length) + base64Length(b.length))
    }),
  )
})

test('a small file and the texts around it come in one piece', async () => {
  const body = new Base64Body(['{"a":"', streamOf([Uint8Array.of(1, 2), Uint8Array.of(3, 4)]), '"}'])

  expect(Buffer.from((await body.read())!).toString()).toBe('{"a":"AQIDBA=="}')
  expect(await body.read()).toBeUndefined()
})

test('a large file comes piece by piece', async () => {
  const body = new Base64Body(['"', streamOf([LARGE, LARGE]), '"'])

  const lengths = [await body.read(), await body.read(), await body.read()].map(piece => piece?.length)

  expect(lengths).toEqual([16_385, 16_384, 1])
})

test('cancelling closes the file that is read and the files behind it', async () => {
  const files = [1, 2, 3].map(() => streamOf([LARGE, LARGE]))
  const body = new Base64Body(['[', ...files, ']'])
  for (let reads = 0; reads < 4; reads += 1) await body.read()

  body.cancel()

  expect(files.map(({ isCancelled }) => isCancelled)).toEqual([false, true, true])
  expect(await body.read()).toBeUndefined()
})

test('what comes before a file that cannot be read is sent, so that a reply has begun before its body fails', async () => {
  const body = new Base64Body(['{"cost_usd":"1","a":"', failingStream([], new Error('disk')), '"}'])

  const sent = await body.read()

  expect(Buffer.from(sent!).toString()).toBe('{"cost_usd":"1","a":"')
  expect(await rejection(body.read())).toEqual(new Error('disk'))
})

test('a body fails if one of its files ends early', async () => {
  const body = new Base64Body(['"', failingStream([LARGE], new Error('disk'))])
  await body.read()

  expect(await rejection(body.read())).toEqual(new Error('disk'))
})
