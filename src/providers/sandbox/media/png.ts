import { crc32, deflate } from 'node:zlib'
import { joinBytes, type Bytes } from '../../../domain/bytes.ts'
import { pick, seededRandom } from '../seeded-random.ts'
import type { Size } from '../../../domain/jobs/params.ts'

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const BITS_PER_PIXEL = 8
const PALETTE_COLORS = 3
/** Stores each row as its difference from the row above, which is zero within a tile. */
const FILTER_UP = 2
/** A fast level that still finds that most rows are equal. A 4K image has 30 KB. */
const DEFLATE_LEVEL = 3

/** A picture as a PNG file with a palette (ISO/IEC 15948). */
export async function pngOf(painting: Painting): Promise<Bytes> {
  const { width, height, palette } = painting
  const header = new DataView(new ArrayBuffer(13))
  header.setUint32(0, width)
  header.setUint32(4, height)
  header.setUint8(8, BITS_PER_PIXEL)
  header.setUint8(9, PALETTE_COLORS)
  return joinBytes([
    Uint8Array.from(SIGNATURE),
    chunk('IHDR', new Uint8Array(header.buffer)),
    chunk('PLTE', Uint8Array.from(palette.flat())),
    chunk('IDAT', await deflated(scanlines(painting))),
    chunk('IEND', new Uint8Array(0)),
  ])
}

/**
 * Each row after the byte that names its filter. Most rows equal the one above, so that their differences stay zero.
 */
function scanlines({ width, height, row }: Painting): Bytes {
  const lines = new Uint8Array(height * (width + 1))
  let above = new Uint8Array(width)
  for (let y = 0; y < height; y += 1) {
    const start = y * (width + 1)
    lines[start] = FILTER_UP
    const pixels = row(y)
    if (pixels === above) continue
    for (let x = 0; x < width; x += 1) lines[start + 1 + x] = (pixels[x] ?? 0) - (above[x] ?? 0)
    above = pixels
  }
  return lines
}

/** Compresses in another thread. */
function deflated(bytes: Bytes): Promise<Bytes> {
  return new Promise((resolve, reject) => {
    deflate(bytes, { level: DEFLATE_LEVEL }, (error, compressed) =>
      error === null ? resolve(compressed) : reject(error),
    )
  })
}

/** The length of the content, the type, the content, and the checksum of the type and the content. */
function chunk(type: string, content: Uint8Array): Bytes {
  const bytes = new Uint8Array(content.length + 12)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, content.length)
  new TextEncoder().encodeInto(type, bytes.subarray(4, 8))
  bytes.set(content, 8)
  view.setUint32(content.length + 8, crc32(bytes.subarray(4, content.length + 8)))
  return bytes
}

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
  readonly row: (y: number) => Bytes
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
