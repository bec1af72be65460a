import type { Bytes } from '../../../domain/bytes.ts'
import { baseClip, retimeClip, type ClipRatio } from './base-clips.ts'
import { paint, pngOf, type Picture } from './png.ts'

/** A file to make. */
export type Rendering =
  | ({ readonly file: 'png' } & Picture)
  | { readonly file: 'clip'; readonly ratio: ClipRatio; readonly durationMs: number }

/** Images that are made or wait, at most. A 4K image takes some 20 ms, so the last one waits a few seconds. */
export const WAITING_MAX = 64

export type Renderer = {
  /** The file's bytes. Undefined if too many images wait. */
  render(rendering: Rendering): Promise<Bytes | undefined>
}

/**
 * Makes the files of the sandbox. Images are made one at a time, because an uncompressed 4K image takes 17 MB. A clip
 * is a shipped one with another duration, which takes some microseconds.
 */
export function openRenderer(): Renderer {
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()

  const renderImage = async (picture: Picture) => {
    if (waiting >= WAITING_MAX) return undefined
    waiting += 1
    const rendered = last.then(() => pngOf(paint(picture)))
    last = rendered.catch(() => undefined)
    return rendered.finally(() => (waiting -= 1))
  }

  return {
    render: async rendering =>
      rendering.file === 'png'
        ? renderImage(rendering)
        : retimeClip(await baseClip(rendering.ratio), rendering.durationMs),
  }
}
