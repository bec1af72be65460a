import { parseArgs } from 'node:util'
import { peerNames, type PeerName } from './peers/peer.ts'
import { workloads } from './workloads/all.ts'
import type { Workload } from './workloads/workload.ts'

export type Options = {
  readonly command: 'compare' | 'memory'
  readonly peers: readonly PeerName[]
  readonly workloads: readonly Workload[]
  readonly connections: readonly number[]
  readonly rounds: number
  readonly requests: number
  /** Where all figures go as JSON, beside the table on standard output. */
  readonly jsonFile?: string
}

export const USAGE = `npm run bench [-- compare] [options]   the peers side by side, in interleaved rounds
npm run bench -- memory [options]     the gateway's memory under 64 connections

  --only NAMES         peers, of ${peerNames.join(', ')} (compare: all; memory: gateway)
  --workload NAMES     kinds of request, of ${workloads
    .map(({ name }) => name)
    .join(', ')} (all; memory: the first)
  --connections LIST   requests at once (1,64); compare only
  --rounds N           rounds of all peers (5); compare only
  --requests N         requests in one run (compare: 20000; memory: 200000)
  --json FILE          write all figures there as well
  --help`

/** Reads the arguments after `npm run bench --`. Undefined when help was asked for. Throws a sentence about a bad one. */
export function parseOptions(argv: readonly string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      workload: { type: 'string' },
      connections: { type: 'string', default: '1,64' },
      rounds: { type: 'string', default: '5' },
      requests: { type: 'string' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const command = oneOf('command', ['compare', 'memory'] as const, positionals[0] ?? 'compare')
  const inMemory = command === 'memory'
  const known = workloads
  const names =
    values.workload?.split(',') ?? known.map(({ name }) => name).slice(0, inMemory ? 1 : undefined)
  return {
    command,
    peers: (values.only?.split(',') ?? (inMemory ? ['gateway'] : peerNames)).map(name =>
      oneOf('--only', peerNames, name),
    ),
    workloads: names.map(name => {
      oneOf(
        '--workload',
        known.map(workload => workload.name),
        name,
      )
      return known.find(workload => workload.name === name)!
    }),
    connections: values.connections.split(',').map(count => positive('--connections', count)),
    rounds: positive('--rounds', values.rounds),
    requests: positive('--requests', values.requests ?? (inMemory ? '200000' : '20000')),
    ...(values.json !== undefined && { jsonFile: values.json }),
  }
}

function oneOf<Name extends string>(what: string, allowed: readonly Name[], given: string): Name {
  const found = allowed.find(name => name === given)
  if (found === undefined) throw new Error(`${what}: "${given}" is none of ${allowed.join(', ')}.`)
  return found
}

function positive(what: string, given: string): number {
  const number = Number(given)
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Error(`${what}: "${given}" is not a whole number above 0.`)
  return number
}
