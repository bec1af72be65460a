import { until } from '../../src/http1/testing/until.ts'
import type { Load, LoadReport } from './load.ts'
import type { Logged } from './server-faults.ts'
import type { TwoGateways, GatewayName } from './two-gateways.ts'

const ANSWERS = 10
const REFUSALS = 10
const NEW_CLIENTS = 4
/** What one gateway answers before a fault, so that its longest waits with and without one can be compared. */
const CALM_ANSWERS = 50
const LOAD_MS_MAX = 100
/** The longest waits of the clients of the gateway that a fault of the other one must not disturb. */
export type LongestWaits = {
  readonly longestMs: number
  /** The longest one before the fault: how busy the machine is. */
  readonly calmMs: number
}

/** The limit for new paid requests. */
export const REFUSED_WITHIN_MS = 3000

/**
 * Kills one gateway under load, in turns, `rounds` times. Its holds are freed once its lane is silent for long enough,
 * and its jobs recovered; nothing is charged twice; and the other gateway answers all its clients.
 */
export async function killNodes(two: TwoGateways, rounds: number, log: Logged): Promise<void> {
  for (let round = 1; round <= rounds; round += 1) {
    const [victim, survivor] = round % 2 === 1 ? (['other', 'one'] as const) : (['one', 'other'] as const)
    const reports = await two.load(async load => {
      await load.answers(ANSWERS)
      await Bun.sleep(Math.random() * LOAD_MS_MAX)
      await two.kill(victim)
      await load.answers(ANSWERS, [survivor])
    })
    requireUndisturbed(survivor, reports[survivor])
    const open = await two.age(victim)
    // Without a new start: the survivor frees what the dead gateway held.
    const charges = await two.check(survivor)
    await two.restart(victim)
    log(`kill ${round} of a gateway: ${open} holds freed, ${two.reported} costs reported, ${charges} charged`)
  }
}

/** How the network fails: what is held arrives when it heals, and what is cut never does. */
export const cuts = ['requests held', 'answers held', 'both held', 'answers lost', 'both lost'] as const

/**
 * Cuts the network between one gateway and the database. It is not ready, its new paid requests are refused within 3
 * seconds, its running answers are charged after it heals, and the other gateway is not disturbed. Returns the longest
 * waits of its clients.
 */
export async function cutNetwork(
  two: TwoGateways,
  cut: (typeof cuts)[number],
  log: Logged,
  refusedWithinMs = REFUSED_WITHIN_MS,
): Promise<LongestWaits> {
  const proxy = two.proxyOf('other')
  let calmMs = 0
  const reports = await two.load(async load => {
    calmMs = await calmWait(load)
    const flow = cut.endsWith('held') ? 'held' : 'lost'
    if (!cut.startsWith('answers')) proxy.requests = flow
    if (!cut.startsWith('requests')) proxy.answers = flow
    // The clients so far may all wait for an answer whose charge is not written yet.
    load.add('other', NEW_CLIENTS)
    const [isReady] = await Promise.all([two.isReady('other'), load.refusals(REFUSALS, 'other')])
    if (isReady) throw new Error('The gateway without a network is ready.')
    await load.answers(ANSWERS, ['one'])
    // The bytes between are gone, and the connections with them.
    if (flow === 'lost') proxy.cut()
    proxy.heal()
    await load.answers(ANSWERS)
    await until('the gateway is ready again', () => two.isReady('other'))
  })
  requireUndisturbed('one', reports.one)
  const { broken, unexpected, longestRefusalMs, refused } = reports.other
  if (broken + unexpected.length > 0) throw new Error(`${broken} answers broke; ${unexpected.join('; ')}`)
  if (longestRefusalMs > refusedWithinMs) throw new Error(`A refusal took ${longestRefusalMs} ms.`)
  const charges = await two.check()
  log(
    `${cut}: ${refused} refused after at most ${Math.round(longestRefusalMs)} ms, ${charges} charged, longest wait of the other gateway ${Math.round(reports.one.longestMs)} ms, and ${Math.round(calmMs)} ms before`,
  )
  return { longestMs: reports.one.longestMs, calmMs }
}

/** The longest wait of the clients of the first gateway while nothing is wrong. Later waits are measured anew. */
async function calmWait(load: Load): Promise<number> {
  const { one } = load.reports
  await load.answers(ANSWERS)
  one.longestMs = 0
  await load.answers(CALM_ANSWERS, ['one'])
  const calmMs = one.longestMs
  one.longestMs = 0
  return calmMs
}

/**
 * Freezes one gateway under load. If it was silent for too long, its holds expire and another process takes its lane:
 * it is then fenced, and its charges are written in another lane. `isAged` lets that time pass at once. The longest
 * waits of the other gateway's clients are returned.
 */
export async function freezeNode(
  two: TwoGateways,
  { ms, isLate, isAged }: { readonly ms: number; readonly isLate: boolean; readonly isAged: boolean },
  log: Logged,
): Promise<LongestWaits> {
  const lane = await two.laneOf('other')
  let calmMs = 0
  const { one } = await two.load(async load => {
    calmMs = await calmWait(load)
    two.signal('other', 'SIGSTOP')
    try {
      await Bun.sleep(ms)
      if (isAged) {
        await two.age('other')
        await two.takeLane()
      } else if (isLate) await two.startAndStopAnother()
      await load.answers(ANSWERS, ['one'])
    } finally {
      two.signal('other', 'SIGCONT')
    }
    await load.answers(ANSWERS)
  })
  requireUndisturbed('one', one)
  // Read at the end, so that a request that waited until the frozen gateway went on is counted, too.
  const { longestMs } = one
  const isFenced = (await two.laneOf('other')) !== lane
  if (isFenced !== isLate) throw new Error(`The frozen gateway was ${isFenced ? '' : 'not '}fenced.`)
  const charges = await two.check()
  log(
    `frozen for ${ms} ms${isLate ? ', fenced' : ''}: ${two.reported} costs reported, ${charges} charged, longest wait of the other gateway ${Math.round(longestMs)} ms, and ${Math.round(calmMs)} ms before`,
  )
  return { longestMs, calmMs }
}

export function requireUndisturbed(name: GatewayName, { refused, broken, unexpected }: LoadReport): void {
  if (refused + broken + unexpected.length > 0)
    throw new Error(
      `The gateway ${name} refused ${refused} requests and broke ${broken}; ${unexpected.join('; ')}`,
    )
}
