import { pick, seededRandom } from '../seeded-random.ts'
import type { Size } from './frame-size.ts'

/** The look of a picture. The same seed gives the same picture. */
export type Picture = Size & { readonly seed: string }

/** Tiles along the longer side. */
const TILES = 16
const COLORS = 6

/** The word on every picture, so that none is mistaken for the work of a model. Five rows, three columns a letter. */
const LETTERS = [
  ['111', '010', '110', '110', '110', '010', '101'],
  ['100', '101', '101', '101', '101', '101', '101'],
  ['111', '111', '101', '101', '110', '101', '010'],
  ['001', '101', '101', '101', '101', '101', '101'],
  ['111', '101', '101', '110', '110', '010', '101'],
] as const
const LABEL_COLUMNS = LETTERS[0].length * 4 + 1
const LABEL_ROWS = LETTERS.length + 2
/** How much of the width the label takes. */
const LABEL_SHARE = 0.5

/**
 * A mosaic in a few colors with the label in its lower left corner, row by row from the top, `channels` bytes a pixel:
 * red, green, blue and, of four, an opaque alpha. With each frame the mosaic moves one tile to the left.
 */
export function paint(picture: Picture, channels: 3 | 4, frame = 0): Uint8Array<ArrayBuffer> {
  const { width, height } = picture
  const tile = Math.ceil(Math.max(width, height) / TILES)
  const mosaic = mosaicOf(picture.seed)
  const pixels = new Uint8Array(width * height * channels)
  const rowBytes = width * channels
  for (let top = 0; top < height; top += tile) {
    const row = new Uint8Array(rowBytes)
    for (let x = 0; x < width; x += 1) {
      setPixel(row, x * channels, mosaic(Math.floor(x / tile) + frame, top / tile))
      if (channels === 4) row[x * channels + 3] = 255
    }
    for (let y = top; y < Math.min(top + tile, height); y += 1) pixels.set(row, y * rowBytes)
  }
  paintLabel(pixels, picture, channels)
  return pixels
}

type Color = readonly [red: number, green: number, blue: number]

function mosaicOf(seed: string): (column: number, row: number) => Color {
  const random = seededRandom(seed)
  const channel = () => 32 + Math.floor(random() * 192)
  const colors = Array.from({ length: COLORS }, (): Color => [channel(), channel(), channel()])
  const tiles = Array.from({ length: TILES * TILES }, () => pick(colors as [Color, ...Color[]], random))
  return (column, row) => tiles[row * TILES + (column % TILES)] ?? [0, 0, 0]
}

function paintLabel(pixels: Uint8Array, { width, height }: Size, channels: 3 | 4): void {
  const dot = Math.max(1, Math.floor((width * LABEL_SHARE) / LABEL_COLUMNS))
  const top = height - LABEL_ROWS * dot
  for (let y = Math.max(0, top); y < height; y += 1) {
    for (let x = 0; x < Math.min(width, LABEL_COLUMNS * dot); x += 1) {
      const isInk = isLetter(Math.floor(x / dot) - 1, Math.floor((y - top) / dot) - 1)
      setPixel(pixels, (y * width + x) * channels, isInk ? [255, 255, 255] : [0, 0, 0])
    }
  }
}

function isLetter(column: number, row: number): boolean {
  return LETTERS[row]?.[Math.floor(column / 4)]?.[column % 4] === '1'
}

function setPixel(pixels: Uint8Array, at: number, [red, green, blue]: Color): void {
  pixels[at] = red
  pixels[at + 1] = green
  pixels[at + 2] = blue
}
