import type { Blobs, KnownBlob, ListedBlob } from '../../ports/media/blobs.ts'

/** The input files of jobs. Every other file of a job is a result. */
const INPUT = /\/in-\d+$/

/**
 * Blobs whose inputs are on this node's disk, and whose results are in a store that several nodes may share. Only the
 * node that submits a job reads its inputs, and they are removed when it ends. Results that the node has on its disk
 * from before can still be read and archived there: a read asks the disk for a result that is not in the store.
 */
export function splitBlobs({ disk, results }: { readonly disk: Blobs; readonly results: Blobs }): Blobs {
  const isInput = (key: string) => INPUT.test(key)
  const onBoth = async (key: string, act: (blobs: Blobs) => Promise<void>) => {
    await act(disk)
    if (!isInput(key)) await act(results)
  }
  return {
    write: (key, source, limits) => (isInput(key) ? disk : results).write(key, source, limits),
    read: async (key, range) =>
      (isInput(key) ? undefined : await results.read(key, range)) ?? disk.read(key, range),
    async readIntact(file, range) {
      const found = isInput(file.key) ? 'missing' : await results.readIntact(file, range)
      if (found !== 'missing') return found
      return disk.readIntact(file, range)
    },
    async damageOf(file: KnownBlob) {
      const damage = isInput(file.key) ? 'missing' : await results.damageOf(file)
      return damage === 'missing' ? disk.damageOf(file) : damage
    },
    remove: key => onBoth(key, blobs => blobs.remove(key)),
    archive: key => onBoth(key, blobs => blobs.archive(key)),
    async list(page) {
      const listed = [...(await disk.list(page)), ...(await results.list(page))]
      return inOrder(listed).slice(0, page.limit)
    },
    async removeUnfinished(beganBeforeMs) {
      await disk.removeUnfinished(beganBeforeMs)
      await results.removeUnfinished(beganBeforeMs)
    },
  }
}

/** In the order of the keys, which both stores have. A result that is in both is listed once. */
function inOrder(listed: readonly ListedBlob[]): readonly ListedBlob[] {
  const byKey = new Map(listed.map(blob => [blob.key, blob]))
  return [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
}
