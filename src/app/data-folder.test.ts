import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../test/support/data-folder.ts'
import { openDataFolder } from './data-folder.ts'

describe('the admin key', () => {
  test('the admin key is created again until one is kept, and then stays', () => {
    const path = aDataFolder()
    const [lost, made] = [openDataFolder(path).adminKey(), openDataFolder(path).adminKey()]

    made.keep()
    const kept = openDataFolder(path).adminKey()

    expect(made).toMatchObject({ key: expect.stringMatching(/^tg_admin_[\w-]{32}$/), isNew: true })
    expect(made.key).not.toBe(lost.key)
    expect(kept).toMatchObject({ key: made.key, isNew: false })
  })

  test.each(['', ' \n'])('the admin key of %j stops the start', text => {
    const path = aDataFolder()
    writeFileSync(join(path, 'admin.key'), text)

    expect(() => openDataFolder(path).adminKey()).toThrow(`${join(path, 'admin.key')} is empty.`)
  })
})

describe('the secret key', () => {
  test('the secret key that is not kept yet is the same for all parts of a process', () => {
    const folder = openDataFolder(aDataFolder())

    const [ofStore, ofCache] = [folder.secretKey(), folder.secretKey()]
    ofStore.keep()

    expect(ofCache.bytes).toEqual(ofStore.bytes)
    expect(folder.secretKey()).toMatchObject({ bytes: Buffer.from(ofStore.bytes), isNew: false })
  })

  test('the secret key is created again until one is kept, and then stays', () => {
    const path = aDataFolder()
    const [lost, made] = [openDataFolder(path).secretKey(), openDataFolder(path).secretKey()]

    made.keep()
    made.keep()
    const kept = openDataFolder(path).secretKey()

    expect(made.bytes).toHaveLength(32)
    expect([lost.isNew, made.isNew, kept.isNew]).toEqual([true, true, false])
    expect(made.bytes).not.toEqual(lost.bytes)
    expect(kept.bytes).toEqual(made.bytes)
  })

  test('the secret key with another length is refused and not changed', () => {
    const path = aDataFolder()
    writeFileSync(join(path, 'secret.key'), 'c2hvcnQ=')

    expect(() => openDataFolder(path).secretKey()).toThrow('Restore it from a backup.')
    expect(readFileSync(join(path, 'secret.key'), 'utf8')).toBe('c2hvcnQ=')
  })
})

test('the error for a folder that cannot be created names the setting', () => {
  const file = join(aDataFolder(), 'file')
  writeFileSync(file, '')

  expect(() => openDataFolder(join(file, 'data'))).toThrow('Set TOLLGATE_DATA_DIR to another path.')
})
