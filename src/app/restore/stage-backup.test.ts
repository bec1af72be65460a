import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { stageBackup } from './stage-backup.ts'

let gateway: TestGateway
let file: string

beforeAll(async () => {
  gateway = await startTestGateway()
  file = join(aDataFolder(), 'books.db')
  await gateway.admin('POST', 'backups', { file })
})
afterAll(() => gateway.stop())

/** A folder that is a mount point wherever the tests run. */
const MOUNT_POINT = '/dev'

test('a restore is refused before it changes anything, if the files of jobs are on a mount point', async () => {
  const staging = join(aDataFolder(), 'restore.partial')

  const error = await rejection(stageBackup({ file, staging, detail: 'a test', replacedBlobs: MOUNT_POINT }))

  expect(error).toMatchObject({
    message: expect.stringMatching(/^\/dev cannot be moved .+ mount point\. .+ with --without-blobs\.$/),
  })
  expect([existsSync(staging), existsSync(MOUNT_POINT)]).toEqual([false, true])
})

test('a restore of the books alone does not need to move the files of jobs', async () => {
  const staging = join(aDataFolder(), 'restore.partial')

  await stageBackup({ file, staging, detail: 'a test', replacedBlobs: undefined })

  expect([existsSync(join(staging, 'tollgate.db')), existsSync(join(staging, 'blobs'))]).toEqual([
    true,
    false,
  ])
})
