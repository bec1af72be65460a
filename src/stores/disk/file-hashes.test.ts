import { createHash } from 'node:crypto'
import { utimesSync, writeFileSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { editFile } from '../../../test/support/edit-file.ts'
import { FileHashes } from './file-hashes.ts'

/** A file of a name and text, and what each look at its hash found and read. */
function aFile(hashes: FileHashes, text: string, name = 'clip') {
  const path = join(aDataFolder(), name)
  writeFileSync(path, text)
  const look = async () => {
    const file = await open(path, 'r')
    let reads = 0
    const read = file.read.bind(file)
    Object.assign(file, {
      read: (...given: Parameters<typeof read>) => {
        reads += 1
        return read(...given)
      },
    })
    const sha256 = await hashes.of(file, path)
    await file.close()
    return { isRight: sha256 === sha256Of(text), isRead: reads > 0 }
  }
  return { path, look }
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

test('a file is read for its hash once', async () => {
  const { look } = aFile(new FileHashes(), 'the clip')

  expect([await look(), await look()]).toEqual([
    { isRight: true, isRead: true },
    { isRight: true, isRead: false },
  ])
})

test('a file whose hash was noted when it was written is not read', async () => {
  const hashes = new FileHashes()
  const { path, look } = aFile(hashes, 'the clip')

  hashes.note(path, await stat(path, { bigint: true }), sha256Of('the clip'))

  expect(await look()).toEqual({ isRight: true, isRead: false })
})

test('a file that was edited is read again, even if its size and time of writing were kept', async () => {
  const { path, look } = aFile(new FileHashes(), 'the clip')
  utimesSync(path, 1000, 1000)
  await look()

  editFile(path, 'the film', 1000)

  expect(await look()).toEqual({ isRight: false, isRead: true })
})

test('the hashes of a bounded number of files are kept', async () => {
  const hashes = new FileHashes(1)
  const [first, second] = [aFile(hashes, 'one', 'first'), aFile(hashes, 'two', 'second')]
  await first.look()

  await second.look()

  expect([(await second.look()).isRead, (await first.look()).isRead]).toEqual([false, true])
})
