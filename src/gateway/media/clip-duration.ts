import type { StoredFile } from '../../domain/jobs/job.ts'
import { mp4Duration } from '../../protocol/media/mp4-duration.ts'
import type { Blobs } from '../ports/blobs.ts'

/** The duration in the header of a stored clip, in milliseconds; undefined if it has none that can be read. */
export async function clipDuration(
  { key, bytes }: Pick<StoredFile, 'key' | 'bytes'>,
  blobs: Pick<Blobs, 'read'>,
): Promise<number | undefined> {
  return mp4Duration((offset, length) => readPart(key, { offset, length }, blobs), bytes)
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
