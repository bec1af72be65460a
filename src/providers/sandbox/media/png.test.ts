import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { PNG } from 'pngjs'
import { paint, pngOf, type Color, type Painting } from './png.ts'

const palette: readonly Color[] = [
  [0, 0, 0],
  [255, 0, 7],
  [1, 200, 255],
]

describe('a PNG file', () => {
  test('a PNG file of any size has the painted pixels', async () => {
    const side = fc.integer({ min: 1, max: 40 })
    await fc.assert(
      fc.asyncProperty(side, side, fc.infiniteStream(fc.nat({ max: 2 })), async (width, height, places) => {
        const rows = Array.from({ length: height }, () => Uint8Array.from(places.take(width)))
        const painting: Painting = { width, height, palette, row: y => rows[y]! }

        const read = PNG.sync.read(Buffer.from(await pngOf(painting)))

        expect([read.width, read.height]).toEqual([width, height])
        expect(colorsIn(read)).toEqual(colorsOf(painting))
      }),
    )
  })

  test.each([
    [1, 1],
    [1, 4096],
    [4096, 1],
    [171, 256],
  ])('a PNG file of a picture with %d × %d pixels has the pixels of each row', async (width, height) => {
    const picture = { width, height, seed: 'a' }

    const read = PNG.sync.read(Buffer.from(await pngOf(paint(picture))))

    expect(colorsIn(read)).toEqual(colorsOf(paint(picture)))
  })
})

/** Each pixel as one number, from its upper left corner: red, green, blue and alpha. */
function colorsIn({ data }: PNG): readonly number[] {
  return Array.from({ length: data.length / 4 }, (_, pixel) => data.readUInt32BE(pixel * 4))
}

function colorsOf({ width, height, palette, row }: Painting): readonly number[] {
  return Array.from({ length: width * height }, (_, pixel) => {
    const [red, green, blue] = palette[row(Math.floor(pixel / width))[pixel % width]!]!
    return Buffer.from([red, green, blue, 255]).readUInt32BE()
  })
}
