import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startApp, type AppOverrides } from '../../src/app.ts'
import { readConfig } from '../../src/config/config.ts'
import { openTokenizer } from '../../src/tokenizer/tokenizer.ts'
import { checkedHandler } from './checked-handler.ts'
import { putNewDatabase } from './new-database.ts'

/** A gateway in this process, with a real store in its own folder and real HTTP on a free port. */
export type TestGateway = {
  readonly url: string
  readonly dataDir: string
  /** Sends a request to the admin API. Throws if the status is not 2xx. */
  admin<Answer>(method: string, path: string, body?: unknown): Promise<Answer>
  /** Creates an account with this balance, and a key. */
  account(money?: { readonly grant: string }): Promise<TestAccount>
  /** Sends `POST /v1/chat/completions` with this key. */
  chat(key: string, body: object | string, headers?: Record<string, string>): Promise<Response>
  /** Throws if a reply differed from the OpenAPI document; see `checkedHandler`. */
  stop(): Promise<void>
}

export type TestAccount = {
  readonly id: string
  readonly key: string
  balance(): Promise<{ readonly available_usd: string; readonly held_usd: string }>
}

/** The admin key of every gateway that `startTestGateway` starts. */
export const ADMIN_KEY = 'tg_admin_for_tests'

/**
 * The tokenizer of all gateways in this process, because each would load the vocabulary: 0.4 s of processor time and
 * 90 MB. It has no time limit, which a very busy machine would exceed; then the count would be a rough one.
 */
const tokenizer = { ...openTokenizer({ after: () => () => undefined }), close: () => undefined }

export async function startTestGateway(
  options: {
    readonly environment?: Record<string, string>
    /** The text of a catalog file that replaces the sandbox catalog. */
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
    // Replays are off by default, so that a repeated request calls the model again.
    TOLLGATE_REPLAY_TTL_S: '0',
    // Request records are off by default, so that their timers do not count among those of a test's clock.
    TOLLGATE_REQUEST_RECORDS_DAYS: '0',
    ...options.environment,
  }
  if (options.catalog !== undefined) {
    environment['TOLLGATE_CATALOG'] = join(dataDir, 'catalog.yaml')
    writeFileSync(environment['TOLLGATE_CATALOG'], options.catalog)
  }
  putNewDatabase(join(dataDir, 'tollgate.db'))
  const config = readConfig(environment)
  const undescribed: string[] = []
  const checked = checkedHandler(config, undescribed)
  const { aroundHandler } = options.overrides ?? {}
  const app = await startApp(config, {
    tokenizer,
    ...options.overrides,
    aroundHandler: handler => checked(aroundHandler?.(handler) ?? handler),
  })

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
      if (undescribed.length > 0)
        throw new Error(`Replies differ from the OpenAPI document:\n${undescribed.join('\n')}`)
    },
  }
}
