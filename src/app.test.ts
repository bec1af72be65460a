import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { aDataFolder } from '../test/support/data-folder.ts'
import { freePort } from '../test/support/free-port.ts'
import { rejection } from '../test/support/rejection.ts'
import { startApp } from './app.ts'
import { readConfig } from './config/config.ts'

const start = (dataDir: string, port = 0) =>
  startApp(
    readConfig({ TOLLGATE_PORT: String(port), TOLLGATE_DATA_DIR: dataDir, TOLLGATE_LOG_LEVEL: 'silent' }),
  )

/** A running gateway whose address file cannot be removed, because it is a folder now. */
async function startWithoutAddressFile() {
  const dataDir = aDataFolder()
  // No other server gets this port when the gateway has stopped.
  const app = await start(dataDir, await freePort())
  rmSync(join(dataDir, 'server.json'))
  mkdirSync(join(dataDir, 'server.json'))
  return { app, dataDir }
}

test('a stop that cannot remove the address file rejects, and repeated calls share it', async () => {
  const { app } = await startWithoutAddressFile()

  const first = app.stop()
  const second = app.stop()

  expect(second).toBe(first)
  expect(String(await rejection(first))).toContain('server.json')
  expect(app.stop()).toBe(first)
})

test('a stop that cannot remove the address file still closes the server and its store', async () => {
  const { app, dataDir } = await startWithoutAddressFile()

  await rejection(app.stop())

  expect(await rejection(fetch(`${app.url}/health/live`))).toBeInstanceOf(Error)
  rmSync(join(dataDir, 'server.json'), { recursive: true })
  const next = await start(dataDir)
  expect((await fetch(`${next.url}/health/live`)).status).toBe(200)
  await next.stop()
})
