/**
 * provider-process.ts PORT: the mock provider of images and videos. Images are made at once. The jobs of the video
 * model `open` never end, and those of `clip` have ended when they are first asked for, with a clip of 100 MB.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bytes } from '../../src/domain/bytes.ts'
import { endWithParent } from '../peers/end-with-parent.ts'
import { CLIP_BYTES, CLIP_SECONDS } from './sizes.ts'

const fixture = (name: string) => readFileSync(join(import.meta.dir, '../../test/fixtures/media', name))
const image = JSON.stringify({ created: 1, data: [{ b64_json: fixture('image.png').toString('base64') }] })
const clip = clipOf(CLIP_BYTES)
const port = Number(process.argv[2])
let tasks = 0
/** The most images that came in one request. */
let imagesMax = 0

Bun.serve({
  hostname: '127.0.0.1',
  port,
  maxRequestBodySize: 2 ** 40,
  // Longer than the gateway keeps an idle connection. A submit on a connection that just closed is an unknown submit.
  idleTimeout: 255,
  async fetch(request) {
    const { pathname } = new URL(request.url)
    if (pathname === '/clip.mp4') return new Response(clip, { headers: { 'content-type': 'video/mp4' } })
    if (pathname === '/images-max') return Response.json(imagesMax)
    if (pathname.startsWith('/v1/images/')) {
      imagesMax = Math.max(imagesMax, await filesIn(request))
      return new Response(image, { headers: { 'content-type': 'application/json' } })
    }
    if (request.method === 'GET') return taskReply(pathname.slice(pathname.lastIndexOf('/') + 1))
    const { model_name: model } = (await request.json()) as { model_name: string }
    tasks += 1
    return taskReply(`${model}-${tasks}`, 'submitted')
  },
})
endWithParent()

function taskReply(taskId: string, status?: string): Response {
  const videos = [{ url: `http://127.0.0.1:${port}/clip.mp4`, duration: String(CLIP_SECONDS) }]
  const ended = { task_status: 'succeed', task_result: { videos } }
  const running = { task_status: status ?? 'processing' }
  const isEnded = status === undefined && taskId.startsWith('clip-')
  return Response.json({ code: 0, data: { task_id: taskId, ...(isEnded ? ended : running) } })
}

/** Reads a form and counts its files, without keeping it. */
async function filesIn(request: Request): Promise<number> {
  const name = Buffer.from('filename=')
  let files = 0
  for await (const piece of request.body ?? []) {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length)
    for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + 1)) files += 1
  }
  return files
}

/** A playable clip with a box behind it that players skip. */
function clipOf(bytes: number): Bytes {
  const content = new Uint8Array(bytes)
  const playable = fixture('clip-faststart.mp4')
  content.set(playable)
  const box = Buffer.from(content.buffer, playable.length)
  box.writeUInt32BE(box.length)
  box.write('free', 4)
  return content
}
