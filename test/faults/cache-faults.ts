import type { Program } from '../support/debian-program.ts'
import { RedisServer } from '../support/redis-server.ts'
import { startS3Server, type S3Server } from '../support/s3-server.ts'
import { requireUndisturbed } from './node-faults.ts'
import type { Logged } from './server-faults.ts'
import { TwoGateways } from './two-gateways.ts'

const ANSWERS = 10

/** Two gateways with a shared cache and a bucket for their results. */
export type WithCaches = {
  readonly two: TwoGateways
  readonly cache: RedisServer
  readonly storage: S3Server
}

/** Starts all processes, with the program of the cache. `end` ends them. */
export async function startWithCaches(program: Program): Promise<WithCaches & { end(): Promise<void> }> {
  const cache = await RedisServer.start(program)
  const storage = await startS3Server()
  const endCaches = () => Promise.all([cache.kill(), storage.stop()]).then(() => undefined)
  try {
    const two = await TwoGateways.start({ TOLLGATE_REDIS_URL: cache.url, ...storage.environment })
    return { two, cache, storage, end: () => two.end().then(endCaches) }
  } catch (error) {
    await endCaches()
    throw error
  }
}

/**
 * Empties, freezes and ends the shared cache, and lets the storage of results fail and end, each under the load of both
 * gateways. Every text is answered, and each with its own answer; images wait; and everything is charged exactly.
 */
export async function loseCaches({ two, cache, storage }: WithCaches, log: Logged): Promise<void> {
  const whileLost: readonly (readonly [string, () => unknown, () => unknown])[] = [
    ['cache emptied', () => flush(cache), () => undefined],
    ['cache frozen', () => cache.freeze(), () => cache.thaw()],
    ['cache ended', () => cache.kill(), () => cache.restart()],
    ['storage slow', () => (storage.fault = () => SLOW_DOWN), () => (storage.fault = () => undefined)],
    ['storage ended', () => storage.stop(), () => storage.start()],
  ]
  for (const [name, lose, restore] of whileLost) {
    const reports = await two.load(async load => {
      await load.answers(ANSWERS)
      await lose()
      try {
        await load.answers(ANSWERS)
      } finally {
        await restore()
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

const SLOW_DOWN = { status: 503, code: 'SlowDown' } as const

async function flush(cache: RedisServer): Promise<void> {
  const stranger = await cache.stranger()
  await stranger.send('FLUSHALL', [])
  stranger.close()
}
