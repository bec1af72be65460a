import type { Bytes } from '../../src/domain/bytes.ts'
/** The smallest file that says it is an MP4 of this length: no track, no picture. */
export function tinyMp4(durationMs: number): Bytes {
  const header = new DataView(new ArrayBuffer(100))
  // Units a second, and the duration in them; behind the version and two times.
  header.setUint32(12, 1000)
  header.setUint32(16, Math.round(durationMs))
  const fileType = Buffer.from('isom\0\0\0\0isommp42', 'latin1')
  const clip = Buffer.concat([
    box('ftyp', fileType),
    box('moov', box('mvhd', Buffer.from(header.buffer))),
    box('mdat', Buffer.from('no pictures')),
  ])
  return new Uint8Array(clip)
}

function box(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(content.length + 8)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, content])
}

/** The length that such a file says it has, in milliseconds. */
export function readMp4Duration(clip: Uint8Array): number {
  const at = Buffer.from(clip.buffer, clip.byteOffset, clip.length).indexOf('mvhd')
  const view = new DataView(clip.buffer, clip.byteOffset + at + 4)
  return (view.getUint32(16) / view.getUint32(12)) * 1000
}
