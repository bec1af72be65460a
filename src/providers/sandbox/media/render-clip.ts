import { createH264MP4Encoder } from 'h264-mp4-encoder'
import { paint, type Picture } from './paint.ts'
import { retimeClip } from './retime-clip.ts'

/** The same for a clip of any length, so that each takes about 0.1 s. */
export const CLIP_FRAMES = 12
/** The encoder's scale goes to 10, which is the fastest. */
const FASTEST = 10

export type ClipPicture = Picture & { readonly durationMs: number }

/** An MP4 with one H.264 track of exactly the requested length. */
export async function renderClip(picture: ClipPicture): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = await createH264MP4Encoder()
  encoder.width = picture.width
  encoder.height = picture.height
  encoder.speed = FASTEST
  encoder.groupOfPictures = CLIP_FRAMES
  // The encoder supports only whole frames per second. The clip gets its real timing below.
  encoder.frameRate = 1
  encoder.initialize()
  for (let frame = 0; frame < CLIP_FRAMES; frame += 1) encoder.addFrameRgba(paint(picture, 4, frame))
  encoder.finalize()
  const clip = new Uint8Array(encoder.FS.readFile(encoder.outputFilename))
  // Its file system is shared by all encoders of the thread and outlives them.
  encoder.FS.unlink(encoder.outputFilename)
  encoder.delete()
  return retimeClip(clip, picture.durationMs)
}
