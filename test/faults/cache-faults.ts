import { Proxy } from '../support/postgres/proxy.ts'
import type { Program } from '../support/debian-program.ts'
import { RedisServer } from '../support/redis-server.ts'
import { startS3Server, type S3Fault, type S3Server } from '../support/s3-server.ts'
import type { Load } from './load.ts'
import { requireUndisturbed } from './node-faults.ts'
import type { Logged } from './server-faults.ts'
import { TwoGateways } from './two-gateways.ts'

const ANSWERS = 10
const SLOW_MS = 300

/** Two gateways with a shared cache and a bucket for their results. */
export type WithCaches = {
  readonly two: TwoGateways
  readonly cache: RedisServer
  /** Between the gateways and the cache. */
  readonly network: Proxy
  readonly storage: S3Server
}

/** Starts all processes, with the program of the cache. `end` ends them. */
export async function startWithCaches(program: Program): Promise<WithCaches & { end(): Promise<void> }> {
  const cache = await RedisServer.start(program)
  const network = Proxy.to(cache.url)
  const storage = await startS3Server()
  const endCaches = async () => {
    network.stop()
    await Promise.all([cache.kill(), storage.stop()])
  }
  try {
    const environment = { TOLLGATE_REDIS_URL: network.url(cache.url), ...storage.environment }
    const two = await TwoGateways.start({ environment })
    return { two, cache, network, storage, end: () => two.end().then(endCaches) }
  } catch (error) {
    await endCaches()
    throw error
  }
}

type Loss = {
  readonly name: string
  readonly lose: () => unknown
  readonly restore?: () => unknown
  /** The gateways do not call a cache for five seconds after it was lost, and could not lose it again. */
  readonly isOfCache?: true
  /** Only in the long form, because it waits for these seconds. */
  readonly isLong?: true
}

/**
 * Empties, delays, freezes and ends the shared cache, and lets the storage of results lose all, refuse, be slow and
 * end, each under the load of both gateways. Every text is answered, and each with its own answer; images wait; and
 * everything is charged exactly.
 */
export async function loseCaches(
  started: WithCaches,
  log: Logged,
  { isLong }: { readonly isLong: boolean },
): Promise<void> {
  const { two } = started
  for (const { name, lose, restore, isOfCache } of losses(started).filter(loss => isLong || !loss.isLong)) {
    const reports = await two.load(async load => {
      await load.answers(ANSWERS)
      if (isOfCache) await load.until('a gateway repeats the answer of the other', () => repeatedIn(load) > 0)
      await lose()
      try {
        await load.answers(ANSWERS)
      } finally {
        await restore?.()
      }
      await load.answers(ANSWERS)
    })
    requireUndisturbed('one', reports.one)
    requireUndisturbed('other', reports.other)
    const charges = await two.check()
    const repeated = reports.one.replayed + reports.other.replayed
    const longestMs = Math.round(Math.max(reports.one.longestMs, reports.other.longestMs))
    log(
      `${name}: ${two.reported} costs reported, ${charges} charged, ${repeated} repeated, longest wait ${longestMs} ms`,
    )
  }
}

function losses({ cache, network, storage }: WithCaches): readonly Loss[] {
  const failing = (fault: S3Fault) => ({
    lose: () => (storage.fault = () => fault),
    restore: () => (storage.fault = () => undefined),
  })
  return [
    { name: 'cache emptied', isOfCache: true, lose: () => flush(cache) },
    {
      name: 'cache slow',
      isOfCache: true,
      lose: () => (network.answers = 'slow'),
      restore: () => network.heal(),
    },
    { name: 'results removed', lose: () => removeResults(storage) },
    { name: 'storage busy', ...failing(SLOW_DOWN) },
    { name: 'storage slow', ...failing({ afterMs: SLOW_MS }) },
    { name: 'storage ended', lose: () => storage.stop(), restore: () => storage.start() },
    {
      name: 'cache frozen, then ended',
      isOfCache: true,
      lose: () => cache.freeze(),
      restore: () => cache.kill().then(() => cache.restart()),
    },
    {
      name: 'cache ended',
      isOfCache: true,
      isLong: true,
      lose: () => cache.kill(),
      restore: () => cache.restart(),
    },
  ]
}

/** The anchor stays: books without it stop all paid work. */
function removeResults({ objects }: S3Server): void {
  for (const name of objects.keys()) if (name.startsWith('live/')) objects.delete(name)
}

function repeatedIn({ reports }: Load): number {
  return reports.one.replayed + reports.other.replayed
}

const SLOW_DOWN = { status: 503, code: 'SlowDown' } as const

async function flush(cache: RedisServer): Promise<void> {
  const stranger = await cache.stranger()
  await stranger.send('FLUSHALL', [])
  stranger.close()
}
