import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../support/data-folder.ts'
import { startGatewayProcess, type GatewayProcess } from '../../support/gateway-process.ts'
import { until } from '../../support/until.ts'

const ADMIN = { TOLLGATE_ADMIN_KEY: 'tg_admin_for_tests', TOLLGATE_LOG_LEVEL: 'info' }

/** A lost database has lost its catalog too. */
const SANDBOX_CHAT = {
  kind: 'chat',
  upstreams: [{ provider: 'sandbox', model: 'chat' }],
  pricing: { input_per_mtok: '1', output_per_mtok: '1' },
  max_output_tokens: 100,
}

let running: GatewayProcess | undefined

afterEach(async () => {
  await running?.kill()
})

async function start(dataDir: string, settings: Record<string, string> = {}): Promise<GatewayProcess> {
  running = await startGatewayProcess(dataDir, { ...ADMIN, ...settings })
  return running
}

async function admin<Answer>(gateway: GatewayProcess, method: string, path: string, body?: object) {
  const response = await fetch(`${gateway.url}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN.TOLLGATE_ADMIN_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return (await response.json()) as Answer
}

function chat(gateway: GatewayProcess, key: string): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sandbox-chat',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Hi' }],
    }),
  })
}

function anchored(path: string): number {
  const { chains } = JSON.parse(readFileSync(path, 'utf8')) as { chains: [{ number: number }] }
  return chains[0].number
}

/** The folder of a gateway that was killed after it sold, when its anchor named the last commit. */
async function killedFolder(anchorPath?: string) {
  const dataDir = aDataFolder()
  const path = anchorPath ?? join(dataDir, 'anchor.json')
  const settings = anchorPath === undefined ? {} : { TOLLGATE_ANCHOR_FILE: anchorPath }
  const gateway = await start(dataDir, settings)
  await admin(gateway, 'POST', 'accounts', { name: 'ada' })
  const { key } = await admin<{ key: string }>(gateway, 'POST', 'accounts/demo/keys', {})
  await until('the anchor is written', () => existsSync(path))
  const before = anchored(path)
  expect((await chat(gateway, key)).status).toBe(200)
  await until('the anchor names the charge', () => anchored(path) > before)
  await gateway.kill()
  return { dataDir, path, key, settings, wal: join(dataDir, 'tollgate.db-wal') }
}

async function readiness(gateway: GatewayProcess) {
  const response = await fetch(`${gateway.url}/health/ready`)
  const { reason } = (await response.json()) as { reason?: string }
  return { status: response.status, reason }
}

describe('a gateway whose books lost commits', () => {
  test.each<[string, (folder: Awaited<ReturnType<typeof killedFolder>>) => void, string]>([
    ['the write-ahead log was deleted', ({ wal }) => rmSync(wal), 'commits are lost'],
    [
      'the write-ahead log was truncated',
      ({ wal }) => truncateSync(wal, Math.floor(statSync(wal).size / 2)),
      'commits are lost',
    ],
    [
      'the database was deleted',
      ({ dataDir, wal }) => {
        rmSync(join(dataDir, 'tollgate.db'))
        rmSync(wal)
      },
      'commits are lost',
    ],
    ['the anchor was deleted', ({ path }) => rmSync(path), 'it is missing, but the books have'],
  ])(
    'a gateway whose books lost commits refuses paid requests if %s, until the loss is accepted',
    async (_, damage, problem) => {
      const folder = await killedFolder()
      damage(folder)
      const gateway = await start(folder.dataDir)

      const ready = await readiness(gateway)
      const verified = await admin<{ ok: boolean; problems: { message: string }[] }>(
        gateway,
        'POST',
        'verify',
      )
      const created = await admin<{ id: string }>(gateway, 'POST', 'accounts', { name: 'ben' })
      await admin(gateway, 'POST', 'accounts/ben/grants', { amount_usd: '1' })
      const { key } = await admin<{ key: string }>(gateway, 'POST', 'accounts/ben/keys', {})
      await admin(gateway, 'PUT', 'providers/sandbox', { kind: 'sandbox' })
      await admin(gateway, 'PUT', 'models/sandbox-chat', SANDBOX_CHAT)
      const refused = await chat(gateway, key)
      const accepted = await admin<{ ok: boolean }>(gateway, 'POST', 'verify', {
        accept_loss: 'the disk failed',
      })
      const readyAgain = await readiness(gateway)
      const audit = await admin<{ data: { action: string; detail: string }[] }>(gateway, 'GET', 'audit')
      await gateway.stop()
      const restarted = await start(folder.dataDir)

      expect(ready).toMatchObject({ status: 503, reason: 'The books do not match their anchor.' })
      expect(gateway.output()).toContain('No paid request is served. The anchor ')
      expect(verified.ok).toBe(false)
      expect(verified.problems[0]!.message).toContain(problem)
      expect(created.id).toStartWith('acct_')
      expect(refused.status).toBe(503)
      expect(refused.headers.get('x-should-retry')).toBe('false')
      expect(await refused.json()).toMatchObject({
        error: { code: 'books_inconsistent', type: 'server_error' },
      })
      expect(accepted.ok).toBe(true)
      expect(readyAgain.status).toBe(200)
      expect(audit.data).toContainEqual(
        expect.objectContaining({
          action: 'books.accept_loss',
          detail: expect.stringMatching(/^the disk failed \(The anchor /),
        }),
      )
      expect((await readiness(restarted)).status).toBe(200)
    },
  )

  test('a gateway whose books lost commits sells if nothing was lost by a kill', async () => {
    const { dataDir, key } = await killedFolder()

    const gateway = await start(dataDir)

    expect(await readiness(gateway)).toMatchObject({ status: 200 })
    expect((await chat(gateway, key)).status).toBe(200)
    expect(await gateway.stop()).toBe(0)
  })

  test('a gateway whose books lost commits finds it in an anchor on another disk', async () => {
    const elsewhere = join(aDataFolder(), 'disk-2')
    mkdirSync(elsewhere)
    const { dataDir, settings, path, wal } = await killedFolder(join(elsewhere, 'anchor.json'))
    renameSync(wal, `${wal}.lost`)

    const gateway = await start(dataDir, settings)

    expect(path).toStartWith(elsewhere)
    expect(existsSync(join(dataDir, 'anchor.json'))).toBe(false)
    expect((await readiness(gateway)).status).toBe(503)
  })
})

test('the loss cannot be accepted if nothing is lost', async () => {
  const gateway = await start(aDataFolder())

  const refused = await admin<object>(gateway, 'POST', 'verify', { accept_loss: 'just in case' })
  const empty = await admin<object>(gateway, 'POST', 'verify', { accept_loss: ' ' })

  expect(refused).toMatchObject({ error: { code: 'invalid_field', param: 'accept_loss' } })
  expect(empty).toMatchObject({ error: { code: 'invalid_field', param: 'accept_loss' } })
})
