import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { bytesOf, streamOf } from '../../../test/support/byte-streams.ts'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { openDiskBlobs } from './blobs.ts'
import { copyBlobs, countBlobs } from './copy-blobs.ts'

const UNLIMITED = { bytesMax: 1e9 }
const MEMORY_DISK = '/dev/shm'

/** Blobs with one that is live and one that is archived. */
async function someBlobs() {
  const folder = join(aDataFolder(), 'blobs')
  const blobs = await openDiskBlobs({ folder })
  const write = (key: string, text: string) => blobs.write(key, streamOf([Buffer.from(text)]), UNLIMITED)
  await write('img_1/out-0', 'live')
  await write('img_2/out-0', 'archived')
  await blobs.archive('img_2/out-0')
  return { folder, blobs, write }
}

async function textOf(folder: string, key: string): Promise<string | undefined> {
  const blob = await (await openDiskBlobs({ folder })).read(key)
  return blob && Buffer.from(await bytesOf(blob.stream)).toString()
}

test('a copy has live and archived blobs, and not those that are being written', async () => {
  const { folder } = await someBlobs()
  writeFileSync(join(folder, 'partial', 'half'), 'ha')
  const to = join(aDataFolder(), 'copy')

  await copyBlobs(folder, to)

  expect(await countBlobs(to)).toBe(2)
  expect(await textOf(to, 'img_1/out-0')).toBe('live')
  expect(readFileSync(join(to, 'archive', 'img_2.out-', 'img_2.out-0'), 'utf8')).toBe('archived')
  expect(existsSync(join(to, 'partial', 'half'))).toBe(false)
})

test('a copy is not changed when the blobs are replaced, removed or archived', async () => {
  const { folder, blobs, write } = await someBlobs()
  await write('img_3/out-0', 'removed later')
  await write('img_4/out-0', 'archived later')
  const to = join(aDataFolder(), 'copy')
  await copyBlobs(folder, to)

  await write('img_1/out-0', 'another')
  await blobs.remove('img_3/out-0')
  await blobs.archive('img_4/out-0')

  const keys = ['img_1/out-0', 'img_3/out-0', 'img_4/out-0']
  expect(await Promise.all(keys.map(key => textOf(to, key)))).toEqual([
    'live',
    'removed later',
    'archived later',
  ])
})

test('a second copy to the same folder adds what is new, and counts all', async () => {
  const { folder, blobs, write } = await someBlobs()
  const to = join(aDataFolder(), 'copy')
  await copyBlobs(folder, to)
  await blobs.remove('img_1/out-0')
  await write('img_3/out-0', 'new')

  await copyBlobs(folder, to)

  expect(await textOf(to, 'img_1/out-0')).toBe('live')
  expect(await textOf(to, 'img_3/out-0')).toBe('new')
  expect(await countBlobs(to)).toBe(3)
})

test('a data folder without blobs has an empty copy', async () => {
  const to = join(aDataFolder(), 'copy')

  await copyBlobs(join(aDataFolder(), 'blobs'), to)

  expect(await countBlobs(to)).toBe(0)
  expect(existsSync(to)).toBe(true)
})

const isOtherDisk = existsSync(MEMORY_DISK) && statSync(MEMORY_DISK).dev !== statSync(aDataFolder()).dev

test.skipIf(!isOtherDisk)('a copy on another disk has the same bytes', async () => {
  const { folder } = await someBlobs()
  const to = mkdtempSync(join(MEMORY_DISK, 'tollgate-test-'))
  try {
    mkdirSync(to, { recursive: true })

    await copyBlobs(folder, to)

    expect(await countBlobs(to)).toBe(2)
    expect(await textOf(to, 'img_1/out-0')).toBe('live')
  } finally {
    rmSync(to, { recursive: true })
  }
})
