import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { readConfig } from '../../config/config.ts'
import { openDataFolder } from '../data-folder.ts'
import { welcome } from './welcome.ts'

const path = aDataFolder()
const newFolder = openDataFolder(path)
writeFileSync(newFolder.database, '')
const folder = openDataFolder(path)
const messageOf = (start: Partial<Parameters<typeof welcome>[0]> = {}) =>
  welcome({
    url: 'http://127.0.0.1:8787',
    config: readConfig({}),
    folder,
    adminKey: { key: 'tg_admin_x', isNew: false },
    ownerLink: undefined,
    demoKey: null,
    unreadFile: undefined,
    keyless: [],
    missingVariables: [],
    anchorProblem: undefined,
    hasModels: true,
    otherBooks: [],
    ...start,
  })

describe('a start prints', () => {
  test('a start without users prints the link for the first owner', () => {
    const link = { url: 'http://127.0.0.1:8787/console/#link=abc', text: 'abc', expiresAtMs: 0 }

    expect(messageOf({ ownerLink: link })).toContain(`works once, until\n1970-01-01T00:00:00.000Z.`)
    expect(messageOf({ ownerLink: link })).toContain(`\n  ${link.url}\n`)
    expect(messageOf()).not.toContain('#link=')
  })

  test('a start prints its address and data folder, without keys that were shown before', () => {
    expect(messageOf()).toBe(
      `Tollgate listens on http://127.0.0.1:8787\n  data folder  ${folder.path}\n  console      http://127.0.0.1:8787/console/\n\n`,
    )
  })

  test('a start prints that its data folder is new, and where other books are', () => {
    const text = messageOf({ folder: newFolder, otherBooks: ['/srv/data'] })

    expect(text).toContain(`  data folder  ${path}  (new)\n`)
    expect(text).toContain('This start created new, empty books. There are other books in /srv/data. To use')
  })

  test('a start prints the name of its database without the password, and calls its data folder not new', () => {
    const config = readConfig({
      TOLLGATE_DATABASE_URL: 'postgres://gate:secret@db.example.com/books',
      TOLLGATE_SECRET_KEY: Buffer.alloc(32).toString('base64'),
      TOLLGATE_ADMIN_KEY: 'tg_admin_of_the_books',
    })

    const text = messageOf({ folder: newFolder, config })

    expect(text).toContain(`  data folder  ${path}\n  database     books on db.example.com, port 5432\n`)
    expect(text).not.toContain('secret')
  })

  test('a start prints the keys that it created, and a command to try', () => {
    const text = messageOf({ adminKey: { key: 'tg_admin_x', isNew: true }, demoKey: 'tg_live_x' })

    expect(text).toContain('admin key    tg_admin_x')
    expect(text).toMatch(
      /^curl -s http:\/\/127\.0\.0\.1:8787\/v1\/chat\/completions -H 'Authorization: Bearer tg_live_x'/m,
    )
  })

  test('a start prints a command that stores an image, with the key that it created', () => {
    expect(messageOf({ demoKey: 'tg_live_x' })).toMatch(
      /^curl -s http:\/\/127\.0\.0\.1:8787\/v1\/images\/generations -H 'Authorization: Bearer tg_live_x' .* > sandbox\.png$/m,
    )
  })

  test('a start prints a command that stores a clip, with the key that it created', () => {
    expect(messageOf({ demoKey: 'tg_live_x' })).toMatch(
      /^curl -s "http:\/\/127\.0\.0\.1:8787\/v1\/videos\/\$\(curl .*\)\/content" -H 'Authorization: Bearer tg_live_x' -o sandbox\.mp4$/m,
    )
  })

  test('a start prints that replays are on, and the preset for coding agents', () => {
    const text = messageOf({ demoKey: 'tg_live_x' })

    expect(text).toContain('TOLLGATE_REPLAY_TTL_S=0 switches this off.')
    expect(text).toContain('write "preset: coding-agent" for your models')
  })

  test('a start with a demo account prints the page of the next step', () => {
    expect(messageOf({ demoKey: 'tg_live_x' })).toContain('docs/tasks/first-customer.md')
  })

  test('a start prints the public address, if it is set', () => {
    const config = readConfig({ TOLLGATE_BASE_URL: 'https://ai.example.com/' })

    expect(messageOf({ config, demoKey: 'tg_live_x' })).toContain(
      'curl -s https://ai.example.com/v1/chat/completions ',
    )
  })

  test('a start prints that the catalog file was not imported, if the store has a catalog', () => {
    expect(messageOf({ unreadFile: 'my.yaml' })).toContain(
      'catalog      in the data folder; to replace it, run "bin/tollgate catalog import my.yaml"',
    )
  })

  test('a start prints the providers whose stored keys cannot be decrypted', () => {
    expect(messageOf({ keyless: ['main', 'spare'] })).toContain('Enter them again: main, spare')
  })

  test('a start prints the environment variables of provider keys that are not set', () => {
    expect(messageOf({ missingVariables: ['MAIN_API_KEY', 'SPARE_API_KEY'] })).toContain(
      'not set, so calls to their providers fail: MAIN_API_KEY, SPARE_API_KEY\n',
    )
  })

  test('a start prints how to import a catalog, if no model is on', () => {
    expect(messageOf({ hasModels: false })).toContain('catalog import FILE')
  })
})
