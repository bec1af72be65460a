import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startApp, type AppOverrides } from '../../src/app.ts'
import { readConfig } from '../../src/config/config.ts'

/** A whole gateway in this process: a real store in a folder of its own, real HTTP on a free port. */
export type TestGateway = {
  readonly url: string
  readonly dataDir: string
  /** One request to the admin API; throws for any status that is not 2xx. */
  admin<Answer>(method: string, path: string, body?: unknown): Promise<Answer>
  /** A new account with this much money, and a key of it. */
  account(money?: { readonly grant: string }): Promise<TestAccount>
  /** `POST /v1/chat/completions` with this key. */
  chat(key: string, body: object | string, headers?: Record<string, string>): Promise<Response>
  stop(): Promise<void>
}

export type TestAccount = {
  readonly id: string
  readonly key: string
  balance(): Promise<{ readonly available_usd: string; readonly held_usd: string }>
}

const ADMIN_KEY = 'tg_admin_for_tests'

export async function startTestGateway(
  options: {
    readonly environment?: Record<string, string>
    /** A catalog file's text, in the place of the sandbox's catalog. */
    readonly catalog?: string
    readonly overrides?: AppOverrides
  } = {},
): Promise<TestGateway> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  const environment: Record<string, string> = {
    TOLLGATE_PORT: '0',
    TOLLGATE_DATA_DIR: dataDir,
    TOLLGATE_ADMIN_KEY: ADMIN_KEY,
    TOLLGATE_LOG_LEVEL: 'silent',
    // A test that repeats a request means to ask again; tests of replays switch them on.
    TOLLGATE_REPLAY_TTL_S: '0',
    ...options.environment,
  }
  if (options.catalog !== undefined) {
    environment['TOLLGATE_CATALOG'] = join(dataDir, 'catalog.yaml')
    writeFileSync(environment['TOLLGATE_CATALOG'], options.catalog)
  }
  const app = await startApp(readConfig(environment), options.overrides)

  const admin = async <Answer>(method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${app.url}/admin/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Answer
  }
  let accounts = 0
  return {
    url: app.url,
    dataDir,
    admin,
    account: async ({ grant } = { grant: '10' }) => {
      accounts += 1
      const { id } = await admin<{ id: string }>('POST', 'accounts', { name: `account ${accounts}` })
      if (grant !== '0') await admin('POST', `accounts/${id}/grants`, { amount_usd: grant })
      const { key } = await admin<{ key: string }>('POST', `accounts/${id}/keys`, {})
      return { id, key, balance: () => admin('GET', `accounts/${id}`) }
    },
    chat: (key, body, headers = {}) =>
      fetch(`${app.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' || body instanceof Blob ? body : JSON.stringify(body),
      }),
    stop: async () => {
      await app.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
