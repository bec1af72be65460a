import { parseArgs } from 'node:util'
import { peerNames, type PeerName } from './peers/peer.ts'
import { workloads } from './workloads/all.ts'
import type { Workload } from './workloads/workload.ts'

const commands = [
  'compare',
  'memory',
  'streams',
  'open',
  'media',
  'bodies',
  'flood',
  'refused',
  'nodes',
] as const

export type Options = {
  readonly command: (typeof commands)[number]
  readonly peers: readonly PeerName[]
  readonly workloads: readonly Workload[]
  readonly connections: readonly number[]
  readonly rounds: number
  readonly requests: number
  /** A file for all figures as JSON, in addition to the table on standard output. */
  readonly jsonFile?: string
}

export const USAGE = `npm run bench [-- compare] [options]   compare the peers in interleaved rounds
npm run bench -- memory [options]     memory of the gateway with 64 connections
npm run bench -- streams [options]    compare the peers with streams of 100 tokens
npm run bench -- open [options]       memory of open streams, read and stalled
npm run bench -- media [options]      image and video jobs: jobs a second, CPU, MB/s a core, the reconciler
npm run bench -- bodies               memory of the gateway with large bodies and slow readers of large clips
npm run bench -- flood [options]      latency of small requests while other clients flood the peer with uploads
npm run bench -- refused [options]    memory and the latency of another key during a flood of refused requests;
                                      the gateway answers each connection about once a second, so --connections
                                      sets the rate of the flood
npm run bench -- nodes [options]      holds and charges of several nodes on one PostgreSQL server

  --only NAMES         peers: ${peerNames.join(', ')}
                       (compare: direct,relay,control,gateway,nginx; streams:
                       direct,relay,control,gateway; open: relay,gateway; memory: gateway; flood: gateway,node)
  --workload NAMES     workloads: ${workloads
    .map(({ name }) => name)
    .join(', ')} (compare: all; memory: the first)
  --connections LIST   concurrent requests (compare: 1,64; streams: 64; open: 2000; flood: 300;
                       refused: 2000)
  --rounds N           rounds of all peers (compare: 5; streams, media, flood: 3)
  --requests N         requests per run (compare: 20000; memory: 200000; streams: 320; media: 5000; flood: 300;
                       refused: 1000000; nodes: milliseconds of each case, 10000)
  --json FILE          also write all figures to this file
  --help`

type Defaults = Pick<Options, 'peers' | 'connections' | 'rounds' | 'requests'>

const defaults: Readonly<Record<Options['command'], Defaults>> = {
  compare: {
    peers: ['direct', 'relay', 'control', 'gateway', 'nginx'],
    connections: [1, 64],
    rounds: 5,
    requests: 20_000,
  },
  memory: { peers: ['gateway'], connections: [64], rounds: 1, requests: 200_000 },
  streams: {
    peers: ['direct', 'relay', 'control', 'gateway'],
    connections: [64],
    rounds: 3,
    requests: 320,
  },
  open: { peers: ['relay', 'gateway'], connections: [2000], rounds: 1, requests: 1 },
  media: { peers: ['gateway'], connections: [64], rounds: 3, requests: 5000 },
  bodies: { peers: ['gateway'], connections: [1], rounds: 1, requests: 1 },
  refused: { peers: ['gateway'], connections: [2000], rounds: 1, requests: 1_000_000 },
  nodes: { peers: ['gateway'], connections: [1], rounds: 1, requests: 10_000 },
  flood: { peers: ['gateway', 'node'], connections: [300], rounds: 3, requests: 300 },
}

/** Parses the arguments after `npm run bench --`. Undefined for `--help`. Throws for an invalid argument. */
export function parseOptions(argv: readonly string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      workload: { type: 'string' },
      connections: { type: 'string' },
      rounds: { type: 'string' },
      requests: { type: 'string' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const command = oneOf('command', commands, positionals[0] ?? 'compare')
  const usual = defaults[command]
  return {
    command,
    peers: values.only?.split(',').map(name => oneOf('--only', peerNames, name)) ?? usual.peers,
    workloads: workloadsNamed(values.workload, command),
    connections:
      values.connections?.split(',').map(count => positive('--connections', count)) ?? usual.connections,
    rounds: values.rounds === undefined ? usual.rounds : positive('--rounds', values.rounds),
    requests: values.requests === undefined ? usual.requests : positive('--requests', values.requests),
    ...(values.json !== undefined && { jsonFile: values.json }),
  }
}

function workloadsNamed(names: string | undefined, command: Options['command']): readonly Workload[] {
  if (names === undefined) return command === 'memory' ? workloads.slice(0, 1) : workloads
  const known = workloads.map(({ name }) => name)
  return names
    .split(',')
    .map(name => oneOf('--workload', known, name))
    .map(name => workloads.find(workload => workload.name === name)!)
}

function oneOf<Name extends string>(what: string, allowed: readonly Name[], given: string): Name {
  const found = allowed.find(name => name === given)
  if (found === undefined) throw new Error(`${what} is "${given}". It must be one of ${allowed.join(', ')}.`)
  return found
}

function positive(what: string, given: string): number {
  const number = Number(given)
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Error(`${what} is "${given}". It must be a whole number above 0.`)
  return number
}
