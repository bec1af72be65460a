import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readConfig } from '../../../src/config/config.ts'
import { firstLink } from '../../../src/app/parts/open-console.ts'
import type { AdminPorts } from '../../../src/http/admin/ports.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway({ environment: { TOLLGATE_CONSOLE: 'off' } })
})
afterAll(() => gateway.stop())

test.each([
  '/console',
  '/console/',
  '/console/api/session',
  '/console/api/sign-in',
  '/console/users',
  '/off',
])('with TOLLGATE_CONSOLE=off there is nothing at %s', async path => {
  const reply = await fetch(gateway.url + path, { redirect: 'manual' })

  expect(reply.status).toBe(404)
  expect(reply.headers.get('set-cookie')).toBeNull()
})

test('with TOLLGATE_CONSOLE=off no link for a first owner is made', async () => {
  const config = readConfig({ TOLLGATE_CONSOLE: 'off', TOLLGATE_ADMIN_KEY: 'tg_admin_for_tests' })
  // Nothing is asked of the store.
  expect(await firstLink(config, {} as AdminPorts)).toBeUndefined()
})
