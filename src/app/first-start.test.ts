import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../test/support/data-folder.ts'
import { readConfig } from '../config/config.ts'
import { openDataFolder } from './data-folder.ts'
import { welcome } from './first-start.ts'

const folder = openDataFolder(aDataFolder())
const said = (start: Partial<Parameters<typeof welcome>[0]> = {}) =>
  welcome({
    url: 'http://127.0.0.1:8787',
    config: readConfig({}),
    folder,
    adminKey: { key: 'tg_admin_x', isNew: false },
    demoKey: null,
    unreadFile: undefined,
    keyless: [],
    hasModels: true,
    ...start,
  })

describe('a start says', () => {
  test('where it listens and keeps its data, and no key that was shown before', () => {
    expect(said()).toBe(`Tollgate listens on http://127.0.0.1:8787\n  data folder  ${folder.path}\n\n`)
  })

  test('the keys that it made, and a line to paste', () => {
    const text = said({ adminKey: { key: 'tg_admin_x', isNew: true }, demoKey: 'tg_live_x' })

    expect(text).toContain('admin key    tg_admin_x')
    expect(text).toMatch(
      /^curl http:\/\/127\.0\.0\.1:8787\/v1\/chat\/completions -H 'Authorization: Bearer tg_live_x'/m,
    )
  })

  test('the address that clients use, where that is another', () => {
    const config = readConfig({ TOLLGATE_BASE_URL: 'https://ai.example.com/' })

    expect(said({ config, demoKey: 'tg_live_x' })).toContain(
      'curl https://ai.example.com/v1/chat/completions ',
    )
  })

  test('that a catalog file was left alone where the store has a catalog', () => {
    expect(said({ unreadFile: 'my.yaml' })).toContain(
      `catalog      the store's own; "bin/tollgate catalog import my.yaml" replaces it`,
    )
  })

  test('which providers have lost their keys', () => {
    expect(said({ keyless: ['main', 'spare'] })).toContain('enter them again: main, spare')
  })

  test('what is missing where no model can be called', () => {
    expect(said({ hasModels: false })).toContain('catalog import FILE')
  })
})
