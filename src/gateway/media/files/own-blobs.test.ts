import { expect, test } from 'bun:test'
import { streamOfText } from '../../../../test/support/byte-streams.ts'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import { openDiskBlobs } from '../../../stores/disk/blobs.ts'
import { BlobElsewhereError } from '../../ports/media/blobs.ts'
import { ownBlobs } from './own-blobs.ts'

test('a file that only another gateway has is out of reach, and not lost', async () => {
  const [disk, other] = [
    await openDiskBlobs({ folder: aDataFolder() }),
    await openDiskBlobs({ folder: aDataFolder() }),
  ]
  const stored = await other.write('img_1/out-0', streamOfText('an image'), { bytesMax: 1000 })
  const file = { ...stored, key: 'img_1/out-0' }
  const [one, holder] = [ownBlobs(disk), ownBlobs(other)]

  const errors = [await rejection(one.damageOf(file)), await rejection(one.readIntact(file))]

  for (const error of errors) expect(error).toBeInstanceOf(BlobElsewhereError)
  expect(await holder.damageOf(file)).toBeUndefined()
  expect(await holder.damageOf({ ...file, sha256: '0' })).toBe('changed')
})
