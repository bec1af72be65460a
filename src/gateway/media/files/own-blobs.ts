import { BlobElsewhereError, type Blobs, type KnownBlob } from '../../ports/media/blobs.ts'

/**
 * The blobs of a node that shares its books with other nodes, but not its disk. A file of a job that this node does not
 * have is not known to be lost: the node that stored it has it. So it is out of reach instead of missing.
 */
export function ownBlobs(disk: Blobs): Blobs {
  return {
    write: (key, source, limits) => disk.write(key, source, limits),
    read: (key, range) => disk.read(key, range),
    async readIntact(file, range) {
      const found = await disk.readIntact(file, range)
      if (found === 'missing') throw new BlobElsewhereError()
      return found
    },
    async damageOf(file: KnownBlob) {
      const damage = await disk.damageOf(file)
      if (damage === 'missing') throw new BlobElsewhereError()
      return damage
    },
    remove: key => disk.remove(key),
    archive: key => disk.archive(key),
    list: page => disk.list(page),
    removeUnfinished: beganBeforeMs => disk.removeUnfinished(beganBeforeMs),
  }
}
