/**
 * make-sandbox-clips.ts [FOLDER]: writes the clips of the sandbox, one for each aspect ratio, into
 * src/providers/sandbox/media/clips or another folder. Run it with `sh scripts/bun.sh all scripts/make-sandbox-clips.ts`
 * after a change of the picture or of the list of aspect ratios.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createH264MP4Encoder } from 'h264-mp4-encoder'
import { clipFile, clipRatios, retimeClip, clipSize } from '../src/providers/sandbox/media/base-clips.ts'
import type { Size } from '../src/domain/jobs/params.ts'
import { paint, type Painting } from '../src/providers/sandbox/media/png.ts'

/** Small, so that the files are small. */
const FRAMES = 12
/** The encoder's scale goes to 10, which is the fastest. */
const FASTEST = 10
const DURATION_MS = 5000
/** The look of all clips. */
const SEED = 'clip'

const folder = process.argv[2] ?? join(import.meta.dir, '../src/providers/sandbox/media/clips')
mkdirSync(folder, { recursive: true })
for (const ratio of clipRatios) {
  // The encoder takes even sides only.
  const clip = await encoded(clipSize({ aspect_ratio: ratio }))
  writeFileSync(join(folder, clipFile(ratio)), retimeClip(clip, DURATION_MS))
}

/** An MP4 with one H.264 track, one second a frame. */
async function encoded(size: Size): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = await createH264MP4Encoder()
  encoder.width = size.width
  encoder.height = size.height
  encoder.speed = FASTEST
  encoder.groupOfPictures = FRAMES
  encoder.frameRate = 1
  encoder.initialize()
  for (let frame = 0; frame < FRAMES; frame += 1)
    encoder.addFrameRgba(rgbaOf(paint({ ...size, seed: SEED }, frame)))
  encoder.finalize()
  const clip = new Uint8Array(encoder.FS.readFile(encoder.outputFilename))
  // Its file system is shared by all encoders.
  encoder.FS.unlink(encoder.outputFilename)
  encoder.delete()
  return clip
}

/** Four bytes a pixel: red, green, blue and an opaque alpha. */
function rgbaOf({ width, height, palette, row }: Painting): Uint8Array<ArrayBuffer> {
  // One number for the four bytes, the first of which is its lowest.
  const colors = palette.map(([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0)
  const pixels = new Uint32Array(width * height)
  for (let y = 0; y < height; y += 1) {
    const places = row(y)
    for (let x = 0; x < width; x += 1) pixels[y * width + x] = colors[places[x]!]!
  }
  return new Uint8Array(pixels.buffer)
}
