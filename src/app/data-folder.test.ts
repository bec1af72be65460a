import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../test/support/data-folder.ts'
import { openDataFolder } from './data-folder.ts'

describe('the admin key', () => {
  test('is made anew until one is kept, and stays from then on', () => {
    const path = aDataFolder()
    const [lost, made] = [openDataFolder(path).adminKey(), openDataFolder(path).adminKey()]

    made.keep()
    const kept = openDataFolder(path).adminKey()

    expect(made).toMatchObject({ key: expect.stringMatching(/^tg_admin_[\w-]{32}$/), isNew: true })
    expect(made.key).not.toBe(lost.key)
    expect(kept).toMatchObject({ key: made.key, isNew: false })
  })

  test.each(['', ' \n'])('of %j, which anybody could send, stops the start', text => {
    const path = aDataFolder()
    writeFileSync(join(path, 'admin.key'), text)

    expect(() => openDataFolder(path).adminKey()).toThrow(`${join(path, 'admin.key')} is empty.`)
  })
})

describe('the secret key', () => {
  test('is made once', () => {
    const path = aDataFolder()

    const made = openDataFolder(path).secretKey()

    expect(made.bytes).toHaveLength(32)
    expect(made.isNew).toBe(true)
    expect(openDataFolder(path).secretKey()).toEqual({ bytes: made.bytes, isNew: false })
  })

  test('of another length is refused, and left as it is', () => {
    const path = aDataFolder()
    writeFileSync(join(path, 'secret.key'), 'c2hvcnQ=')

    expect(() => openDataFolder(path).secretKey()).toThrow('Restore it from a backup.')
    expect(readFileSync(join(path, 'secret.key'), 'utf8')).toBe('c2hvcnQ=')
  })
})

test('a folder that cannot be made is told with the setting that names it', () => {
  const file = join(aDataFolder(), 'file')
  writeFileSync(file, '')

  expect(() => openDataFolder(join(file, 'data'))).toThrow('Set TOLLGATE_DATA_DIR to another place.')
})
