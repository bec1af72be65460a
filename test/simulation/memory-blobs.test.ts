import { expect, test } from 'bun:test'
import { blobsConform } from '../conformance/blobs.ts'
import { streamOfText } from '../support/byte-streams.ts'
import { turn } from '../support/turn.ts'
import { Disk, MemoryBlobs } from './memory-blobs.ts'

const never = new Promise<void>(() => {})

blobsConform(async () => new MemoryBlobs(new Disk(), { before: async () => {}, now: () => Date.now() }))

test('a node that is killed during a write leaves nothing of the blob', async () => {
  const disk = new Disk()
  const before = (label: string) => (label === 'blobs.write' ? never : Promise.resolve())
  const blobs = new MemoryBlobs(disk, { before, now: () => 0 })

  void blobs.write('img_1/out-0', streamOfText('half'), { bytesMax: 100 })
  await turn()

  expect(disk.live.size).toBe(0)
})
