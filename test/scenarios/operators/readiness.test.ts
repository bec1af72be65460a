import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { rejection } from '../../support/rejection.ts'
import { until } from '../../support/until.ts'

let gateway: TestGateway
let other: Database

beforeEach(async () => {
  gateway = await startTestGateway()
  other = new Database(join(gateway.dataDir, 'tollgate.db'), { readwrite: true })
})
afterEach(async () => {
  other.close()
  await gateway.stop()
})

test('after a failed commit the gateway is not ready, until a commit succeeds', async () => {
  const readiness = async () => {
    const response = await fetch(`${gateway.url}/health/ready`)
    return { status: response.status, body: (await response.json()) as object }
  }
  const hasStatus = (status: number) => async () => (await readiness()).status === status
  const before = await readiness()

  // Another program has the write lock, so that every commit of the gateway fails.
  other.run('BEGIN IMMEDIATE')
  const refused = gateway.admin('POST', 'accounts', { name: 'ada' })
  expect(String(await rejection(refused))).toContain('could not record this')
  await until('the gateway is not ready', hasStatus(503))
  const during = await readiness()
  other.run('ROLLBACK')

  expect(before).toEqual({ status: 200, body: { status: 'ready' } })
  expect(during).toEqual({
    status: 503,
    body: { status: 'not_ready', reason: 'The store cannot be read or written.' },
  })
  await until('the gateway is ready again', hasStatus(200))
})
