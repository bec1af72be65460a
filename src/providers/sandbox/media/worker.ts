import type { Picture } from './paint.ts'
import { renderClip, type ClipPicture } from './render-clip.ts'
import { renderPng } from './render-png.ts'

/** The work for the worker. */
export type Rendering = ({ readonly file: 'png' } & Picture) | ({ readonly file: 'clip' } & ClipPicture)

export type RenderRequest = { readonly id: number; readonly rendering: Rendering }
export type RenderReply = { readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }

self.addEventListener('message', ({ data: { id, rendering } }: MessageEvent<RenderRequest>) => {
  // A failure ends the worker, which its owner sees.
  void render(rendering).then(bytes => postMessage({ id, bytes } satisfies RenderReply))
})

async function render(rendering: Rendering): Promise<Uint8Array<ArrayBuffer>> {
  return rendering.file === 'png' ? renderPng(rendering) : renderClip(rendering)
}
