import { expect, test } from 'bun:test'
import { blobsConform } from '../../../../test/conformance/blobs.ts'
import { streamOfText, textOf } from '../../../../test/support/byte-streams.ts'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { openDiskBlobs } from '../../../stores/disk/blobs.ts'
import type { OpenBlob } from '../../ports/media/blobs.ts'
import { splitBlobs } from './split-blobs.ts'

const UNLIMITED = { bytesMax: 1000 }
const ALL = { limit: 100, olderThanMs: Number.MAX_SAFE_INTEGER }

async function opened() {
  const disk = await openDiskBlobs({ folder: aDataFolder() })
  const results = await openDiskBlobs({ folder: aDataFolder() })
  return { disk, results, blobs: splitBlobs({ disk, results }) }
}

blobsConform(async () => (await opened()).blobs)

test('inputs of jobs stay on the disk, and results go to the store', async () => {
  const { disk, results, blobs } = await opened()
  for (const key of ['vid_1/in-0', 'vid_1/out-0', 'vid_1/in-12'])
    await blobs.write(key, streamOfText(key), UNLIMITED)

  const keys = async (of: typeof blobs) => (await of.list(ALL)).map(({ key }) => key)

  expect(await keys(disk)).toEqual(['vid_1/in-0', 'vid_1/in-12'])
  expect(await keys(results)).toEqual(['vid_1/out-0'])
  expect(await keys(blobs)).toEqual(['vid_1/in-0', 'vid_1/in-12', 'vid_1/out-0'])
})

test('a result on the disk from before is read, listed, checked and archived there', async () => {
  const { disk, blobs } = await opened()
  const stored = await disk.write('vid_1/out-0', streamOfText('old'), UNLIMITED)
  const known = { key: 'vid_1/out-0', ...stored }

  const texts = [
    await textOf((await blobs.read(known.key))!.stream),
    await textOf(((await blobs.readIntact(known)) as OpenBlob).stream),
  ]
  const damage = await blobs.damageOf(known)
  await blobs.archive(known.key)

  expect(texts).toEqual(['old', 'old'])
  expect(damage).toBeUndefined()
  expect(await disk.list(ALL)).toEqual([])
  expect(await blobs.readIntact(known)).toBe('missing')
})

test('a result that is damaged in the store is not looked for on the disk', async () => {
  const { disk, results, blobs } = await opened()
  const stored = await disk.write('vid_1/out-0', streamOfText('old'), UNLIMITED)
  await results.write('vid_1/out-0', streamOfText('new'), UNLIMITED)

  expect(await blobs.readIntact({ key: 'vid_1/out-0', ...stored })).toBe('changed')
})
