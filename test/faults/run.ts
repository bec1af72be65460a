/**
 * The long forms of the faults of PostgreSQL: `sh scripts/bun.sh all test/faults/run.ts NAME [N]`. N is the number of
 * kills or rounds.
 */
import { redisProgram } from '../support/redis-server.ts'
import { loseCaches, startWithCaches } from './cache-faults.ts'
import { cutNetwork, cuts, freezeNode, killNodes } from './node-faults.ts'
import { upgradeNodes } from './rolling-upgrade.ts'
import { killServer, loseCommits } from './server-faults.ts'
import { TwoGateways } from './two-gateways.ts'

const log = (line: string) => console.log(`${new Date().toISOString()} ${line}`)
/** Longer than the locks of a frozen gateway stay. */
const SHORT_FREEZE_MS = 2000
const runs: Readonly<Record<string, (two: TwoGateways, rounds: number) => Promise<void>>> = {
  'server-kills': (two, rounds) => killServer(two, rounds, log),
  'node-kills': (two, rounds) => killNodes(two, rounds, log),
  async 'network-cuts'(two, rounds) {
    for (let round = 1; round <= rounds; round += 1) for (const cut of cuts) await cutNetwork(two, cut, log)
  },
  async freezes(two, rounds) {
    for (let round = 1; round <= rounds; round += 1) {
      await freezeNode(two, { ms: 60_000, isLate: false, isAged: false }, log)
      await freezeNode(two, { ms: 150_000, isLate: true, isAged: false }, log)
    }
  },
  async 'short-freezes'(two, rounds) {
    for (let round = 1; round <= rounds; round += 1) {
      await freezeNode(two, { ms: SHORT_FREEZE_MS, isLate: false, isAged: false }, log)
      await freezeNode(two, { ms: SHORT_FREEZE_MS, isLate: true, isAged: true }, log)
    }
  },
  'rolling-upgrade': (two, rounds) => upgradeNodes(two, rounds, log),
  async 'lost-commits'(two) {
    for (const line of await loseCommits(two)) log(line)
  },
}

const [name = '', rounds = '1'] = process.argv.slice(2)
if (name === 'caches-lost') await runWithCaches(Number(rounds))
else await runFault(name, Number(rounds))

async function runFault(name: string, rounds: number): Promise<void> {
  const run = runs[name]
  if (run === undefined)
    throw new Error(`The faults are ${[...Object.keys(runs), 'caches-lost'].join(', ')}.`)
  const two = await TwoGateways.start()
  try {
    await withLogs(two, () => run(two, rounds))
  } finally {
    await two.end()
  }
}

async function runWithCaches(rounds: number): Promise<void> {
  const program = await redisProgram()
  if (program === undefined) throw new Error('There is no Valkey or Redis server.')
  const started = await startWithCaches(program)
  try {
    await withLogs(started.two, async () => {
      for (let round = 1; round <= rounds; round += 1) await loseCaches(started, log, { isLong: true })
    })
  } finally {
    await started.end()
  }
}

/** Prints the logs of both gateways if a fault ends with an error. */
async function withLogs(two: TwoGateways, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    for (const gateway of ['one', 'other'] as const) console.error(gateway, two.logs(gateway))
    throw error
  }
}
