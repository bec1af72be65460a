import { expect, test } from 'bun:test'
import { bytesOf, streamOf } from '../../../../test/support/byte-streams.ts'
import { PeekedStream } from './file-streams.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

test.each([
  [['abcdef', 'ghi'], 4, 'abcdef'],
  [['a', 'b', 'c', 'defg'], 3, 'abc'],
  [['ab'], 64, 'ab'],
  [[], 64, ''],
])(
  'of the pieces %j, looking %i bytes ahead shows %p, and all of them are still read',
  async (pieces, ahead, shown) => {
    const source = streamOf(pieces.map(bytes))

    const { stream, head } = await PeekedStream.open(source, ahead)

    expect(new TextDecoder().decode(head)).toBe(shown)
    expect((await bytesOf(stream)).toString()).toBe(pieces.join(''))
  },
)

test('cancelling cancels the source, and nothing more is read', async () => {
  const source = streamOf([bytes('abc'), bytes('def')])
  const { stream } = await PeekedStream.open(source, 1)

  stream.cancel()

  expect(source.isCancelled).toBe(true)
  expect(await stream.read()).toBeUndefined()
})
