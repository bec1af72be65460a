import { pick, seededRandom } from '../seeded-random.ts'
import type { Size } from './frame-size.ts'

/** The look of a picture. The same seed gives the same picture. */
export type Picture = Size & { readonly seed: string }

/** 0 to 255 each. */
export type Color = readonly [red: number, green: number, blue: number]

/** A picture in a few colors. */
export type Painting = Size & {
  /** At most 256 colors. */
  readonly palette: readonly Color[]
  /**
   * The colors of a row of pixels as places in the palette. Rows are counted from the top. Successive rows that are
   * equal are the same array.
   */
  readonly row: (y: number) => Uint8Array<ArrayBuffer>
}

/** Tiles along the longer side. */
const TILES = 16
/** The colors of the tiles come first in the palette. */
const TILE_COLORS = 6
const BLACK = TILE_COLORS
const WHITE = TILE_COLORS + 1

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
 * A mosaic in a few colors with the label in its lower left corner. With each frame the mosaic moves one tile to the
 * left.
 */
export function paint({ width, height, seed }: Picture, frame = 0): Painting {
  const tile = Math.ceil(Math.max(width, height) / TILES)
  const { colors, colorAt } = mosaicOf(seed)
  const dot = Math.max(1, Math.floor((width * LABEL_SHARE) / LABEL_COLUMNS))
  const labelTop = height - LABEL_ROWS * dot
  let painted = ''
  let pixels = new Uint8Array(0)

  return {
    width,
    height,
    palette: [...colors, [0, 0, 0], [255, 255, 255]],
    row(y) {
      const tileRow = Math.floor(y / tile)
      const labelRow = y < labelTop ? -1 : Math.floor((y - labelTop) / dot)
      const name = `${tileRow} ${labelRow}`
      if (name === painted) return pixels
      painted = name
      pixels = new Uint8Array(width).map((_, x) => colorAt(Math.floor(x / tile) + frame, tileRow))
      if (labelRow >= 0) paintLabel(pixels, labelRow, dot)
      return pixels
    },
  }
}

function mosaicOf(seed: string) {
  const random = seededRandom(seed)
  const channel = () => 32 + Math.floor(random() * 192)
  const colors = Array.from({ length: TILE_COLORS }, (): Color => [channel(), channel(), channel()])
  const places = [...colors.keys()] as [number, ...number[]]
  const tiles = Array.from({ length: TILES * TILES }, () => pick(places, random))
  return {
    colors,
    colorAt: (column: number, row: number) => tiles[row * TILES + (column % TILES)] ?? BLACK,
  }
}

function paintLabel(pixels: Uint8Array, row: number, dot: number): void {
  for (let x = 0; x < Math.min(pixels.length, LABEL_COLUMNS * dot); x += 1) {
    pixels[x] = isLetter(Math.floor(x / dot) - 1, row - 1) ? WHITE : BLACK
  }
}

function isLetter(column: number, row: number): boolean {
  return LETTERS[row]?.[Math.floor(column / 4)]?.[column % 4] === '1'
}
