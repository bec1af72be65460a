import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { diskAnchorFile } from './anchor-file.ts'

const FIRST = [{ node: 'main', number: 1, hash: 'aa' }]
const SECOND = [
  { node: 'main', number: 2, hash: 'bb' },
  { node: 'other', number: 1, hash: 'cc' },
]

describe('the anchor file', () => {
  test('the anchor file is undefined before it is written, and then what was written last', async () => {
    const file = diskAnchorFile(join(aDataFolder(), 'anchor.json'))

    const before = await file.read()
    await file.write(FIRST)
    await file.write(SECOND)

    expect([before, await file.read()]).toEqual([undefined, SECOND])
  })

  test('the anchor file is made with its folder, for this user alone, and leaves no other file', async () => {
    const folder = join(aDataFolder(), 'elsewhere')
    await diskAnchorFile(join(folder, 'anchor.json')).write(FIRST)

    expect(readdirSync(folder)).toEqual(['anchor.json'])
    expect(statSync(join(folder, 'anchor.json')).mode & 0o777).toBe(0o600)
  })

  test('the anchor file of an earlier version is the end of one chain', async () => {
    const path = join(aDataFolder(), 'anchor.json')
    writeFileSync(path, '{"node":"main","number":1,"hash":"aa"}\n')

    expect(await diskAnchorFile(path).read()).toEqual(FIRST)
  })

  test.each([
    '',
    '{}',
    '[]',
    'null',
    '{"node":"main","number":1.5,"hash":"aa"}',
    '{"node":"main","num',
    '{"chains":[]}',
    '{"chains":[{"node":"main","number":1,"hash":"aa"},{"node":"other"}]}',
  ])('the anchor file with the text %j cannot be read', async text => {
    const path = join(aDataFolder(), 'anchor.json')
    writeFileSync(path, text)

    expect(await rejection(diskAnchorFile(path).read())).toMatchObject({
      message: expect.stringContaining('is not an anchor'),
    })
  })

  test('the anchor file that was not replaced stays as it was', async () => {
    const path = join(aDataFolder(), 'anchor.json')
    await diskAnchorFile(path).write(FIRST)
    mkdirSync(`${path}.new`)

    const error = await rejection(diskAnchorFile(path).write(SECOND))

    expect(error).toBeInstanceOf(Error)
    expect(await diskAnchorFile(path).read()).toEqual(FIRST)
  })
})
