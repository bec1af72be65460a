/** copy-process.ts PORT FOLDER: the bare copy. Stores the body of a POST in a file, and sends the clip for a GET. */
import { join } from 'node:path'
import { endWithParent } from '../peers/end-with-parent.ts'
import { CLIP_BYTES } from './sizes.ts'

const [port, folder = '.'] = process.argv.slice(2)
const clip = join(folder, 'copy-clip.mp4')
await Bun.write(clip, new Uint8Array(CLIP_BYTES))

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(port),
  maxRequestBodySize: 2 ** 40,
  async fetch(request) {
    if (request.method === 'GET') return new Response(Bun.file(clip))
    const file = Bun.file(join(folder, `copy-${crypto.randomUUID()}`))
    const writer = file.writer()
    for await (const piece of request.body ?? []) {
      await writer.write(piece)
      await writer.flush()
    }
    await writer.end()
    await file.delete()
    return new Response('stored')
  },
})
endWithParent()
