import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { blobsConform } from '../../../test/conformance/blobs.ts'
import { bytesOf, failingStream, streamOf, streamOfText } from '../../../test/support/byte-streams.ts'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { editFile } from '../../../test/support/edit-file.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { openDiskBlobs } from './blobs.ts'

const KEY = 'img_01jd0000000000000000000000/out-0'
const UNLIMITED = { bytesMax: Number.MAX_SAFE_INTEGER }
const modulePath = join(import.meta.dir, 'blobs.ts')

const aFolder = () => join(aDataFolder(), 'blobs')

/** Every file below a folder, in order. */
const filesIn = (folder: string) =>
  globSync('**/*', { cwd: folder })
    .filter(path => statSync(join(folder, path)).isFile())
    .sort()

/** The files below a folder that this process has open. It may open and close others at any time. */
const openFilesIn = (folder: string) =>
  globSync('*', { cwd: '/proc/self/fd' })
    .map(fd => targetOf(join('/proc/self/fd', fd)))
    .filter(path => path.startsWith(realpathSync(folder)))

/** Empty for a file that was closed meanwhile. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    return ''
  }
}

blobsConform(() => openDiskBlobs({ folder: aFolder() }))

test('the file of a blob has its key in its name, and an archived one is in a separate folder', async () => {
  const folder = aFolder()
  const blobs = await openDiskBlobs({ folder })
  await blobs.write(KEY, streamOfText('kept'), UNLIMITED)
  await blobs.write('vid_2/in-0', streamOfText('archived'), UNLIMITED)

  await blobs.archive('vid_2/in-0')

  expect(filesIn(folder)).toEqual([
    'archive/vid_2.in-0/vid_2.in-0',
    'live/img_01jd00/img_01jd0000000000000000000000.out-0',
  ])
  expect(readFileSync(join(folder, 'archive/vid_2.in-0/vid_2.in-0'), 'utf8')).toBe('archived')
})

test('only the user of the process can read the files and folders', async () => {
  const folder = aFolder()
  const blobs = await openDiskBlobs({ folder })
  await blobs.write(KEY, streamOfText('x'), UNLIMITED)
  await blobs.write('vid_1/out-0', streamOfText('x'), UNLIMITED)
  await blobs.archive('vid_1/out-0')

  const modes = globSync('**', { cwd: folder }).map(path => {
    const found = statSync(join(folder, path))
    return [found.isFile() ? 'file' : 'folder', (found.mode & 0o777).toString(8)].join(' ')
  })

  expect([...new Set(modes)].sort()).toEqual(['file 600', 'folder 700'])
})

test('a folder whose last blob has gone is removed', async () => {
  const folder = aFolder()
  const blobs = await openDiskBlobs({ folder })
  for (const key of [KEY, 'vid_1/out-0', 'vid_1/out-1']) {
    await blobs.write(key, streamOfText('x'), UNLIMITED)
  }

  await blobs.remove(KEY)
  await blobs.archive('vid_1/out-0')
  await blobs.remove('vid_1/out-1')

  expect(globSync('live/**', { cwd: folder })).toEqual(['live'])
})

test('writes and removals that share a folder do not lose a blob, however they interleave', async () => {
  const blobs = await openDiskBlobs({ folder: aFolder() })
  // The names of both begin with the same ten characters, so that one folder comes and goes.
  const comes = 'img_000000a/out-0'
  const goes = 'img_000000b/out-0'

  const found: boolean[] = []
  for (let round = 0; round < 50; round += 1) {
    await blobs.write(goes, streamOfText('x'), UNLIMITED)
    await Promise.all([blobs.remove(goes), blobs.write(comes, streamOfText('y'), UNLIMITED)])
    const blob = await blobs.read(comes)
    blob?.stream.cancel()
    found.push(blob !== undefined)
    await blobs.remove(comes)
  }

  expect(found).toEqual(Array.from({ length: 50 }, () => true))
})

test('files that are not blobs are not listed', async () => {
  const folder = aFolder()
  const blobs = await openDiskBlobs({ folder })
  await blobs.write(KEY, streamOfText('x'), UNLIMITED)
  writeFileSync(join(folder, 'live/.DS_Store'), 'x')
  writeFileSync(join(folder, 'live/img_01jd00/.nfs0001'), 'x')

  const listed = await blobs.list({ limit: 10, olderThanMs: Number.MAX_SAFE_INTEGER })

  expect(listed.map(({ key }) => key)).toEqual([KEY])
})

test('a failed write leaves no file', async () => {
  const folder = aFolder()
  const blobs = await openDiskBlobs({ folder })
  const half = new TextEncoder().encode('half')
  // A folder is where the file should be, so that the last step fails.
  mkdirSync(join(folder, 'live/vid_9.out-/vid_9.out-0'), { recursive: true })

  await rejection(blobs.write(KEY, failingStream([half], new Error('cut')), UNLIMITED))
  await rejection(blobs.write(KEY, streamOf([half, half]), { bytesMax: 4 }))
  const error = await rejection(blobs.write('vid_9/out-0', streamOf([half]), UNLIMITED))

  expect(error).toMatchObject({ code: 'EISDIR' })
  expect(filesIn(folder)).toEqual([])
})

test('a blob that is being read can be replaced, removed and archived without a change for its reader', async () => {
  const blobs = await openDiskBlobs({ folder: aFolder() })
  const old = Buffer.alloc(1_000_000, 'old')
  const readers = []
  for (const change of ['write', 'archive', 'remove'] as const) {
    await blobs.write(KEY, streamOf([old]), UNLIMITED)
    const { stream } = (await blobs.read(KEY))!
    const first = Buffer.from((await stream.read())!)
    await (change === 'write' ? blobs.write(KEY, streamOfText('new'), UNLIMITED) : blobs[change](KEY))
    readers.push({ first, stream })
  }

  for (const { first, stream } of readers) {
    const whole = Buffer.concat([first, await bytesOf(stream)])
    expect(whole.equals(old)).toBe(true)
  }
})

test('a stalled reader has one piece in memory: nothing is read from the file before it is asked for', async () => {
  const folder = aFolder()
  const blobs = await openDiskBlobs({ folder })
  await blobs.write(KEY, streamOf([new Uint8Array(1_000_000)]), UNLIMITED)
  const { stream } = (await blobs.read(KEY))!
  const first = (await stream.read())!.length
  // What the file has now is what a later read finds: it was not read ahead.
  const [path] = filesIn(folder)
  writeFileSync(join(folder, path!), new Uint8Array(1_000_000).fill(1), { flag: 'r+' })

  const rest = await bytesOf(stream)

  expect(first).toBeLessThanOrEqual(128 * 1024)
  expect(rest.length).toBe(1_000_000 - first)
  expect(rest.every(byte => byte === 1)).toBe(true)
})

test.skipIf(!existsSync('/proc/self/fd'))(
  'readers close their files at the end, when cancelled and when only a part was asked for',
  async () => {
    const folder = aFolder()
    const blobs = await openDiskBlobs({ folder })
    await blobs.write(KEY, streamOf([new Uint8Array(500_000)]), UNLIMITED)

    for (let round = 0; round < 20; round += 1) {
      await bytesOf((await blobs.read(KEY))!.stream)
      await bytesOf((await blobs.read(KEY, { start: 0, end: 0 }))!.stream)
      // The range has one piece, and its reader does not ask for another.
      await (await blobs.read(KEY, { start: 0, end: 10 }))!.stream.read()
      const cancelled = (await blobs.read(KEY))!.stream
      expect(openFilesIn(folder)).toHaveLength(1)
      const running = cancelled.read()
      cancelled.cancel()
      await running
    }

    expect(openFilesIn(folder)).toEqual([])
  },
)

test('a write that kill -9 cuts off is never visible, and the next start removes what it left', async () => {
  const folder = aFolder()
  const child = Bun.spawn([process.execPath, '-e', halfWrite(folder)], { stdout: 'pipe' })
  const reader = child.stdout.getReader()
  await reader.read()
  child.kill('SIGKILL')
  await child.exited
  const left = filesIn(folder)

  const blobs = await openDiskBlobs({ folder })

  expect(left).toEqual([
    expect.stringMatching(/^live\/img_1\.out-\/img_1\.out-0$/),
    expect.stringMatching(/^partial\//),
  ])
  expect(filesIn(folder)).toEqual(['live/img_1.out-/img_1.out-0'])
  expect(await blobs.read(KEY)).toBeUndefined()
  expect(
    (await blobs.list({ limit: 10, olderThanMs: Number.MAX_SAFE_INTEGER })).map(({ key }) => key),
  ).toEqual(['img_1/out-0'])
})

/** A program that stores one blob, writes half of another, says so, and waits. */
function halfWrite(folder: string): string {
  return `
    const { openDiskBlobs } = await import(${JSON.stringify(modulePath)})
    const blobs = await openDiskBlobs({ folder: ${JSON.stringify(folder)} })
    const limits = { bytesMax: 1e9 }
    let reads = 0
    const whole = { read: async () => (reads++ === 0 ? new Uint8Array(10) : undefined), cancel() {} }
    await blobs.write('img_1/out-0', whole, limits)
    const half = {
      read: () => {
        if (reads++ === 2) return Promise.resolve(new Uint8Array(300_000))
        console.log('half of it is written')
        return new Promise(() => setInterval(() => {}, 1_000_000))
      },
      cancel() {},
    }
    await blobs.write(${JSON.stringify(KEY)}, half, limits)`
}

test('a folder of blobs that is a file stops the start', async () => {
  const folder = aFolder()
  writeFileSync(folder, 'x')

  const error = await rejection(openDiskBlobs({ folder }))

  expect(error).toMatchObject({ code: 'EEXIST' })
  expect(existsSync(folder)).toBe(true)
})

test('a blob whose file another program edited is changed, and one that it made unreadable is reported', async () => {
  const folder = aFolder()
  const blobs = await openDiskBlobs({ folder })
  const known = { key: KEY, ...(await blobs.write(KEY, streamOfText('paid'), UNLIMITED)) }
  const [file = ''] = filesIn(folder)

  editFile(join(folder, file), 'fake')
  const edited = [await blobs.readIntact(known), await blobs.damageOf(known)]
  rmSync(join(folder, file))
  mkdirSync(join(folder, file))
  const unreadable = await blobs.damageOf(known)

  expect(edited).toEqual(['changed', 'changed'])
  expect(unreadable).not.toBeUndefined()
})
