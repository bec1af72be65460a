import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { failingStream, streamOf, textOf } from '../../../test/support/byte-streams.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { Base64Body, base64Length } from './base64-json.ts'

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

test('cancelling closes the file that is read and the files behind it', async () => {
  const files = [1, 2, 3].map(() => streamOf([Uint8Array.of(1, 2, 3), Uint8Array.of(4, 5, 6)]))
  const body = new Base64Body(['[', ...files, ']'])
  for (let reads = 0; reads < 4; reads += 1) await body.read()

  body.cancel()

  expect(files.map(({ isCancelled }) => isCancelled)).toEqual([false, true, true])
  expect(await body.read()).toBeUndefined()
})

test('a file that breaks off breaks the body', async () => {
  const body = new Base64Body(['"', failingStream([Uint8Array.of(1, 2, 3)], new Error('disk'))])
  await body.read()
  await body.read()

  expect(await rejection(body.read())).toEqual(new Error('disk'))
})
