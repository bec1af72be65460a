import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { newBooksSentence, otherBooks } from './new-books.ts'

describe('other books are found', () => {
  test('other books are found in the working directory, above it and in the installation, but not in the folder itself', () => {
    const [home, installation] = [aDataFolder(), aDataFolder()]
    const workingDirectory = join(home, 'deploy', 'today')
    const above = withBooks(home)
    const here = withBooks(workingDirectory)
    const installed = withBooks(installation)

    expect(otherBooks(here, { workingDirectory, installation })).toEqual([above, installed])
    expect(otherBooks('/elsewhere', { workingDirectory, installation })).toEqual([here, above, installed])
  })

  test('other books are found only if a data folder has a database', () => {
    const home = aDataFolder()
    mkdirSync(join(home, 'data'))

    expect(otherBooks('/elsewhere', { workingDirectory: home, installation: home })).toEqual([])
  })
})

test.each([
  [[], 'This start created new, empty books.'],
  [
    ['/srv/data', '/opt/data'],
    'This start created new, empty books. There are other books in /srv/data and in /opt/data. To use them, set TOLLGATE_DATA_DIR=/srv/data.',
  ],
])('the sentence about new books, with the others %p, is %p', (others, sentence) => {
  expect(newBooksSentence('This start', others)).toBe(sentence)
})

function withBooks(folder: string): string {
  const data = join(folder, 'data')
  mkdirSync(data, { recursive: true })
  writeFileSync(join(data, 'tollgate.db'), '')
  return data
}
