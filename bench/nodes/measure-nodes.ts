import { SQL } from 'bun'
import { readdirSync, readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { nanoUsd } from '../../src/domain/money.ts'
import { limitChanges } from '../../src/stores/books/access/limit-changes.ts'
import { Batches } from '../../src/stores/postgres/lanes/batches.ts'
import { connections } from '../../src/stores/postgres/database/database.ts'
import { createStepRunner } from '../../src/stores/postgres/lanes/step-runner.ts'
import { limitUsage } from '../../src/stores/postgres/limits/limit-usage.ts'
import { timedReads } from '../../src/stores/postgres/database/reads.ts'
import { aKeyIn, anAccountIn } from '../../test/support/postgres/books.ts'
import { aDatabase } from '../../test/support/postgres/databases.ts'
import { PostgresServer } from '../../test/support/postgres/server.ts'
import { cpuUsedMs, readCpu } from '../proc.ts'
import type { NodeFigures, NodeRun, Payer } from './node-process.ts'

const ACCOUNTS = 1000
const WARM_UP_MS = 2000

type Case = {
  readonly name: string
  readonly nodes: number
  readonly payers: 'one' | 'many' | 'limited'
  readonly hotPercent?: number
  /** Microseconds that each flush of the server waits, as on a slow disk. */
  readonly flushUs?: number
}

const cases: readonly Case[] = [
  { name: '1,000 accounts', nodes: 1, payers: 'many' },
  { name: '1,000 accounts', nodes: 2, payers: 'many' },
  { name: '1,000 accounts', nodes: 4, payers: 'many' },
  { name: '1,000 accounts', nodes: 8, payers: 'many' },
  { name: 'one account', nodes: 2, payers: 'one' },
  { name: '1,000 accounts, two limited scopes', nodes: 2, payers: 'limited' },
  { name: '1,000 accounts, flush of 5 ms', nodes: 2, payers: 'many', flushUs: 5000 },
  { name: 'one of 1,000 with 10 %, flush of 5 ms', nodes: 2, payers: 'many', hotPercent: 10, flushUs: 5000 },
]

export type NodesRow = {
  readonly name: string
  readonly nodes: number
  readonly pairsPerSecond: number
  readonly nodeUsPerPair: number
  readonly serverUsPerPair: number
  readonly serverUsPerBatch: number
  readonly pairsPerBatch: number
}

/** Measures nodes in processes of their own, with their database server, all on this machine. */
export async function measureNodes(ms: number, log: (line: string) => void): Promise<readonly NodesRow[]> {
  const server = await PostgresServer.start(18)
  const url = await aDatabase(server)
  const sql = new SQL({ url, bigint: true, max: 1 })
  const started: Node[] = []
  try {
    const payers = { many: await makePayers(sql), limited: await makeLimited(url, await makePayers(sql)) }
    const rows: NodesRow[] = []
    for (const measured of cases) {
      while (started.length < measured.nodes) started.push(await startNode(url, `node ${started.length + 1}`))
      await sql.unsafe(`ALTER SYSTEM SET commit_delay = ${measured.flushUs ?? 0}`)
      await sql.unsafe('ALTER SYSTEM SET commit_siblings = 0')
      await sql`SELECT pg_reload_conf()`
      const of = measured.payers === 'limited' ? payers.limited : payers.many
      const run = {
        payers: measured.payers === 'one' ? of.slice(0, 1) : of,
        hotPercent: measured.hotPercent ?? 0,
      }
      const nodes = started.slice(0, measured.nodes)
      await Promise.all(nodes.map(node => node.run({ ...run, ms: WARM_UP_MS })))
      const [batches, cpuMs] = [await batchesOf(sql), await serverCpu(sql)]
      const figures = await Promise.all(nodes.map(node => node.run({ ...run, ms })))
      const row = rowOf(measured, figures, {
        batches: (await batchesOf(sql)) - batches,
        serverMs: (await serverCpu(sql)) - cpuMs,
      })
      log(`${row.name}, ${row.nodes} nodes: ${row.pairsPerSecond} pairs/s, load ${loadavg()[0]!.toFixed(1)}`)
      rows.push(row)
    }
    return rows
  } finally {
    for (const node of started) await node.end()
    await sql.close({ timeout: 0 })
    await server.crash()
  }
}

export function nodesTable(rows: readonly NodesRow[]): string {
  const lines = rows.map(row => `| ${Object.values(row).join(' | ')} |`)
  return [
    '| accounts | nodes | pairs/s | node µs/pair | server µs/pair | server µs/batch | pairs/batch |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n')
}

function rowOf(
  { name, nodes }: Case,
  figures: readonly NodeFigures[],
  { batches, serverMs }: { readonly batches: number; readonly serverMs: number },
): NodesRow {
  const pairs = figures.reduce((sum, figure) => sum + figure.pairs, 0)
  const cpuUs = figures.reduce((sum, figure) => sum + figure.cpuUs, 0)
  return {
    name,
    nodes,
    pairsPerSecond: Math.round(figures.reduce((sum, figure) => sum + (figure.pairs * 1000) / figure.ms, 0)),
    nodeUsPerPair: Math.round(cpuUs / pairs),
    serverUsPerPair: Math.round((serverMs * 1000) / pairs),
    serverUsPerBatch: Math.round((serverMs * 1000) / batches),
    pairsPerBatch: Math.round((pairs / batches) * 10) / 10,
  }
}

type Node = { run(run: NodeRun): Promise<NodeFigures>; end(): Promise<unknown> }

async function startNode(url: string, name: string): Promise<Node> {
  const command = [process.execPath, join(import.meta.dir, 'node-process.ts'), url, name]
  const child = Bun.spawn(command, { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
  const lines = createInterface(Readable.fromWeb(child.stdout as never))[Symbol.asyncIterator]()
  const next = async () => {
    const { value } = await lines.next()
    if (value === undefined) throw new Error(`${name} ended.`)
    return value
  }
  await next()
  return {
    async run(run) {
      void child.stdin.write(`${JSON.stringify(run)}\n`)
      await child.stdin.flush()
      return JSON.parse(await next()) as NodeFigures
    },
    async end() {
      await child.stdin.end()
      await child.exited
    },
  }
}

async function makePayers(sql: SQL): Promise<readonly Payer[]> {
  const payers: Payer[] = []
  for (let made = 0; made < ACCOUNTS; made += 1) {
    const accountId = await anAccountIn(sql, nanoUsd(10n ** 18n))
    payers.push({ accountId, apiKeyId: await aKeyIn(sql, accountId) })
  }
  return payers
}

/** Gives each account and each key limits and a budget that refuse nothing. */
async function makeLimited(url: string, payers: readonly Payer[]): Promise<readonly Payer[]> {
  const { openReads, connect } = connections({ url })
  const reads = timedReads(openReads)
  const batches = await Batches.open({ connect, label: 'bench', version: '0' })
  const stepRunner = createStepRunner({ batches, reads })
  const change = limitChanges(limitUsage(() => null))
  const patch = {
    limits: { requests_per_minute: 100_000_000, tokens_per_minute: 1_000_000_000 },
    budgets: { month: nanoUsd(10n ** 17n) },
  }
  const line = { action: 'key.limits', subject: 'key' }
  for (const { accountId, apiKeyId } of payers)
    await stepRunner.write('access', function* () {
      yield* change({ accountId, apiKeyId: undefined }, patch, line)
      yield* change({ accountId, apiKeyId }, patch, line)
    })
  await batches.close()
  await reads.close()
  return payers
}

async function batchesOf(sql: SQL): Promise<number> {
  const [row] = await sql<{ batches: bigint }[]>`SELECT sum(batch)::bigint AS batches FROM lanes`
  return Number(row?.batches)
}

/** The CPU time of all processes of the server. */
export async function serverCpu(sql: SQL): Promise<number> {
  const [row] = await sql<{ pid: bigint }[]>`SELECT pg_backend_pid()::bigint AS pid`
  const parent = parentOf(Number(row?.pid))
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name) && parentOf(Number(name)) === parent)
  const zero = { exactNs: 0, ticksNs: 0 }
  return pids.reduce((sum, pid) => sum + cpuUsedMs(zero, readCpu(Number(pid))), 0)
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return 0
  }
}
