/** npm run bench: compares the gateway with other servers. `--help` lists the options. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, release } from 'node:os'
import { join } from 'node:path'
import { compare } from './compare.ts'
import { floodTable } from './flood/flood-report.ts'
import { measureFlood } from './flood/measure-flood.ts'
import { measureRefused, refusedTable } from './flood/measure-refused.ts'
import { measureLargeBodies } from './media/large-bodies.ts'
import { measureMedia } from './media/measure-media.ts'
import { largeBodiesTable, mediaTables } from './media/media-report.ts'
import { startMedia } from './media/start-media.ts'
import { measureMemory } from './memory.ts'
import { measureNodes, nodesTable } from './nodes/measure-nodes.ts'
import { parseOptions, USAGE, type Options } from './options.ts'
import { startGateway } from './peers/gateway.ts'
import { startPeers } from './peers/start-peers.ts'
import { startUpstream } from './peers/upstream.ts'
import { openProcesses, type Processes } from './processes.ts'
import { comparisonTable, memoryTable, summarize } from './report.ts'
import { median } from './statistics.ts'
import { compareStreams } from './streams/compare-streams.ts'
import { measureOpenStreams } from './streams/open-streams.ts'
import { openStreamsTable, streamTable, summarizeStreams } from './streams/stream-report.ts'
import { streamWorkloads } from './workloads/streams.ts'

const SIGNAL_EXIT_CODE = 130

const runs: Readonly<Record<Options['command'], (options: Options, processes: Processes) => Promise<void>>> =
  {
    compare: runCompare,
    memory: runMemory,
    streams: runStreams,
    open: runOpen,
    media: runMedia,
    bodies: runBodies,
    flood: runFlood,
    refused: runRefused,
    nodes: runNodes,
  }

process.exitCode = await main()

async function main(): Promise<number> {
  let options: Options | undefined
  try {
    options = parseOptions(process.argv.slice(2))
  } catch (error) {
    return fail(`${messageOf(error)}\n\n${USAGE}`)
  }
  if (options === undefined) {
    console.log(USAGE)
    return 0
  }
  if (process.platform !== 'linux')
    return fail('The benchmark needs Linux, because it reads CPU time from /proc.')

  const processes = openProcesses(makeFolder())
  const end = async (): Promise<void> => {
    await processes.stopAll()
    rmSync(processes.folder, { recursive: true, force: true })
  }
  let isInterrupted = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      isInterrupted = true
      void end().finally(() => process.exit(SIGNAL_EXIT_CODE))
    })
  }
  try {
    await runs[options.command](options, processes)
    return 0
  } catch (error) {
    // After an interrupt, the errors of the stopped peers are of no interest.
    return isInterrupted ? SIGNAL_EXIT_CODE : fail(messageOf(error))
  } finally {
    await end()
  }
}

/**
 * On the disk of the checkout, because the system's temporary folder is often in memory, where a durable write is free.
 */
function makeFolder(): string {
  const parent = join(import.meta.dir, 'data')
  mkdirSync(parent, { recursive: true })
  return mkdtempSync(join(parent, 'run-'))
}

async function runCompare(options: Options, processes: Processes): Promise<void> {
  const { upstream, peers } = await startPeers(options.peers, processes, logProgress)
  const samples = await compare({ ...options, upstream, peers }, logProgress)
  const rows = summarize(samples)
  console.log(`${machine().summary}; ${options.rounds} rounds of ${options.requests} requests.\n`)
  console.log(comparisonTable(rows))
  const loadCpu = median(samples.map(sample => sample.loadCpuUsPerRequest))
  console.log(`\nThe load generator used ${loadCpu.toFixed(1)} µs of CPU per request.`)
  writeJson(options, { rows, samples })
}

async function runMemory(options: Options, processes: Processes): Promise<void> {
  const { peers } = await startPeers(options.peers, processes, logProgress)
  const results = []
  console.log(`${machine().summary}.`)
  for (const workload of options.workloads) {
    for (const peer of peers) {
      const result = await measureMemory(peer, workload, options.requests, logProgress)
      results.push({ workload: workload.name, ...result })
      console.log(`\n${workload.name}\n\n${memoryTable(result)}`)
    }
  }
  writeJson(options, { results })
}

async function runStreams(options: Options, processes: Processes): Promise<void> {
  const { peers } = await startPeers(options.peers, processes, logProgress)
  const { rounds, requests } = options
  const samples = []
  for (const connections of options.connections) {
    const workloads = streamWorkloads
    samples.push(
      ...(await compareStreams({ peers, workloads, connections, rounds, streams: requests }, logProgress)),
    )
  }
  const rows = summarizeStreams(samples)
  console.log(`${machine().summary}; ${rounds} rounds of ${requests} streams.\n`)
  console.log(streamTable(rows))
  writeJson(options, { rows, samples })
}

async function runOpen(options: Options, processes: Processes): Promise<void> {
  const { peers } = await startPeers(options.peers, processes, logProgress)
  const measured = []
  for (const streams of options.connections) {
    for (const kind of ['read', 'stalled'] as const) {
      for (const peer of peers) {
        logProgress(`${peer.name}, ${streams} streams ${kind}`)
        measured.push(await measureOpenStreams(peer, kind, streams))
      }
    }
  }
  console.log(`${machine().summary}.\n`)
  console.log(openStreamsTable(measured))
  writeJson(options, { measured })
}

async function runMedia(options: Options, processes: Processes): Promise<void> {
  const servers = await startMedia(processes)
  const measured = await measureMedia(servers, options, logProgress)
  console.log(`${machine().summary}.\n`)
  console.log(mediaTables(measured))
  writeJson(options, { measured })
}

async function runBodies(options: Options, processes: Processes): Promise<void> {
  const measured = await measureLargeBodies(await startMedia(processes), logProgress)
  console.log(`${machine().summary}.\n`)
  console.log(largeBodiesTable(measured))
  writeJson(options, { measured })
}

async function runFlood(options: Options, processes: Processes): Promise<void> {
  const { peers } = await startPeers(options.peers, processes, logProgress)
  const samples = await measureFlood(peers, { ...options, connections: options.connections[0]! }, logProgress)
  console.log(`${machine().summary}; ${options.rounds} rounds of ${options.requests} requests.\n`)
  console.log(floodTable(samples))
  writeJson(options, { samples })
}

async function runRefused(options: Options, processes: Processes): Promise<void> {
  const upstream = await startUpstream(processes)
  const gateway = await startGateway({ processes, upstreamPort: upstream.port })
  const { requests, connections } = options
  const samples = await measureRefused(gateway, { requests, connections: connections[0]! }, logProgress)
  console.log(`${machine().summary}\n`)
  console.log(refusedTable(samples))
  writeJson(options, { samples })
}

async function runNodes(options: Options): Promise<void> {
  const rows = await measureNodes(options.requests, logProgress)
  console.log(`${machine().summary}\n`)
  console.log(nodesTable(rows))
  writeJson(options, { rows })
}

function writeJson(options: Options, figures: object): void {
  if (options.jsonFile === undefined) return
  const { workloads, ...rest } = options
  const named = { ...rest, workloads: workloads.map(({ name }) => name) }
  writeFileSync(options.jsonFile, JSON.stringify({ machine: machine(), options: named, ...figures }, null, 2))
}

function machine(): { readonly summary: string } & Record<string, string | number> {
  const cores = cpus()
  const processor = cores[0]?.model ?? 'unknown processor'
  const summary = `${cores.length} × ${processor}, Linux ${release()}, Bun ${Bun.version}`
  return { summary, processor, cores: cores.length, kernel: release(), bun: Bun.version }
}

/** Progress and errors go to standard error, so that standard output has only the report. */
function logProgress(line: string): void {
  console.error(line)
}

function fail(message: string): number {
  logProgress(message)
  return 1
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
