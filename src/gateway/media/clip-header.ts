import type { StoredFile } from '../../domain/jobs/job.ts'
import { readMp4Header, type Mp4Header } from '../../protocol/media/mp4-header.ts'
import type { Blobs } from '../ports/blobs.ts'

/** The formats whose header can be anywhere in the file, so that the first bytes do not show that it is whole. */
const HAS_MP4_HEADER = new Set(['video/mp4', 'video/quicktime'])

/**
 * The header of a stored clip; undefined for an MP4 or QuickTime file without a readable one. The headers of other
 * formats are not read.
 */
export async function clipHeader(
  { key, bytes, mediaType }: StoredFile,
  blobs: Pick<Blobs, 'read'>,
): Promise<Mp4Header | undefined> {
  if (!HAS_MP4_HEADER.has(mediaType)) return {}
  return readMp4Header((offset, length) => readPart(key, { offset, length }, blobs), bytes)
}

async function readPart(
  key: string,
  { offset, length }: { readonly offset: number; readonly length: number },
  blobs: Pick<Blobs, 'read'>,
): Promise<Uint8Array> {
  const blob = await blobs.read(key, { start: offset, end: offset + length })
  if (blob === undefined) throw new Error(`The clip ${key} is not in the blob store.`)
  const part = new Uint8Array(length)
  let at = 0
  for (let piece = await blob.stream.read(); piece !== undefined; piece = await blob.stream.read()) {
    part.set(piece, at)
    at += piece.length
  }
  return part.subarray(0, at)
}
