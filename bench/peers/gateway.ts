import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aDatabase } from '../../test/support/postgres/databases.ts'
import { PostgresServer } from '../../test/support/postgres/server.ts'
import { freePort } from '../processes.ts'
import { paces, streamModel, type Pace } from '../workloads/streams.ts'
import { EMBEDDING_MODEL, EMBEDDING_UPSTREAM_MODEL, MODEL, UPSTREAM_MODEL } from '../workloads/workload.ts'
import type { Peer, Surroundings } from './peer.ts'

/** The gateway, with its admin API. */
export type Gateway = Peer & {
  readonly dataDir: string
  /** The key of a new account with a balance that no run can spend. Both have these limits. */
  newKey(name: string, limits?: object): Promise<string>
  /** Sends a request without a body, and returns the JSON. Throws unless the status is 2xx. */
  admin<Answer>(method: 'GET' | 'POST', path: string): Promise<Answer>
}

/** Rows beside those that every benchmark needs, and settings that are not the defaults. */
type Additional = {
  readonly providers: readonly object[]
  readonly models: readonly object[]
  readonly environment: Readonly<Record<string, string>>
}

/**
 * Starts the gateway like an operator, with everything on: an empty data folder, a catalog with one priced model on the
 * mock upstream, and one account with a balance that no run can spend.
 */
export async function startGateway(
  { processes, upstreamPort }: Surroundings,
  additional: Additional = { providers: [], models: [], environment: {} },
  name: 'gateway' | 'limited' | 'postgres' | 'console-off' = 'gateway',
): Promise<Gateway> {
  const port = freePort()
  const adminKey = crypto.randomUUID()
  const catalog = join(processes.folder, `${name}.yaml`)
  writeFileSync(catalog, JSON.stringify(catalogFor(upstreamPort, additional)))
  const dataDir = join(processes.folder, `${name}-data`)
  const running = processes.start({
    name,
    command: [join(import.meta.dir, '../../bin/tollgate'), 'serve'],
    environment: {
      TOLLGATE_HOST: '127.0.0.1',
      TOLLGATE_PORT: String(port),
      TOLLGATE_DATA_DIR: dataDir,
      TOLLGATE_CATALOG: catalog,
      TOLLGATE_ADMIN_KEY: adminKey,
      TOLLGATE_SANDBOX: 'off',
      TOLLGATE_BRAND: 'service',
      ...additional.environment,
    },
  })
  const base = `http://127.0.0.1:${port}`
  await running.ready(() => answersOk(`${base}/health/ready`))

  const makeKey = async (of: string, limits?: object) => {
    const { id } = await post(`${base}/admin/api/accounts`, adminKey, { name: of })
    await post(`${base}/admin/api/accounts/${id}/grants`, adminKey, { amount_usd: '1000000' })
    const made = await post(`${base}/admin/api/accounts/${id}/keys`, adminKey, { name: of })
    if (limits === undefined) return made.key
    for (const path of [`accounts/${id}`, `keys/${made.id}`])
      await ask('PATCH', `${base}/admin/api/${path}`, adminKey, limits)
    return made.key
  }
  const key = await makeKey('bench', name === 'limited' ? LIMITS : undefined)
  return {
    name,
    dataDir,
    pid: running.pid,
    port,
    headers: { authorization: `Bearer ${key}` },
    costHeader: 'x-service-cost-usd',
    newKey: makeKey,
    admin: (method, path) => ask(method, `${base}/admin/api/${path}`, adminKey),
  }
}

/** Every kind of limit, and more than a run can use: each request takes its part of all of them, for two scopes. */
const LIMITS = {
  limits: {
    requests_per_minute: 100_000_000,
    tokens_per_minute: 100_000_000_000,
    concurrent_requests: 1_000_000,
  },
  budgets: { day: '1000000', week: '1000000', month: '1000000', total: '1000000' },
}

/** A gateway whose requests pass two scopes with every limit, and whose replies have the headers with them. */
export function startLimitedGateway(surroundings: Surroundings): Promise<Gateway> {
  return startGateway(surroundings, undefined, 'limited')
}

/** A gateway with its books in a PostgreSQL server on the same machine. */
export async function startPostgresGateway(surroundings: Surroundings): Promise<Gateway> {
  const server = await PostgresServer.start(18)
  surroundings.processes.atEnd(() => server.crash())
  const environment = {
    TOLLGATE_DATABASE_URL: await aDatabase(server),
    TOLLGATE_SECRET_KEY: Buffer.alloc(32).toString('base64'),
  }
  return startGateway(surroundings, { providers: [], models: [], environment }, 'postgres')
}

/** A gateway that does not serve its console. */
export function startConsoleOffGateway(surroundings: Surroundings): Promise<Gateway> {
  const additional = { providers: [], models: [], environment: { TOLLGATE_CONSOLE: 'off' } }
  return startGateway(surroundings, additional, 'console-off')
}

const paceNames = Object.keys(paces) as Pace[]

/** A catalog file in JSON. */
function catalogFor(upstreamPort: number, { providers, models }: Additional): unknown {
  return {
    providers: [
      {
        id: 'mock',
        kind: 'openai-compatible',
        base_url: `http://127.0.0.1:${upstreamPort}/v1`,
        api_key: 'sk-bench-upstream',
        routes: ['chat', 'responses', 'embeddings'],
      },
      ...paceNames.map(pace => ({
        id: pace,
        kind: 'openai-compatible',
        base_url: `http://127.0.0.1:${upstreamPort}/${pace}`,
        api_key: 'sk-bench-upstream',
        routes: ['chat'],
      })),
      ...providers,
    ],
    models: [
      modelRow(MODEL, 'mock'),
      ...paceNames.map(pace => modelRow(streamModel(pace), pace)),
      {
        id: EMBEDDING_MODEL,
        kind: 'embedding',
        enabled: true,
        display_name: 'Bench embeddings',
        upstreams: [{ provider: 'mock', model: EMBEDDING_UPSTREAM_MODEL }],
        pricing: { input_per_mtok: '0.02' },
        context_window: 8192,
      },
      ...models,
    ],
  }
}

function modelRow(id: string, provider: string): object {
  return {
    id,
    kind: 'chat',
    enabled: true,
    display_name: 'Bench',
    upstreams: [{ provider, model: UPSTREAM_MODEL, order: 1, weight: 1 }],
    pricing: { input_per_mtok: '2.5', cached_input_per_mtok: '1.25', output_per_mtok: '10' },
    max_output_tokens: 4096,
    context_window: 128_000,
  }
}

async function answersOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok
  } catch {
    return false
  }
}

async function post(url: string, adminKey: string, body: object): Promise<{ id: string; key: string }> {
  return ask('POST', url, adminKey, body)
}

async function ask<Answer>(method: string, url: string, adminKey: string, body?: object): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${new URL(url).pathname} answered ${response.status}: ${text}`)
  return JSON.parse(text) as Answer
}
