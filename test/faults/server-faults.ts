import type { TwoGateways } from './two-gateways.ts'

const ANSWERS = 10
const LOAD_MS_MAX = 100

export type Logged = (line: string) => void

/**
 * Kills the database server under the load of both gateways, and starts it again, `rounds` times. After each kill every
 * cost that a client was told must be charged once, nothing may be held, and the books must be sound.
 */
export async function killServer(two: TwoGateways, rounds: number, log: Logged): Promise<void> {
  for (let round = 1; round <= rounds; round += 1) {
    const reports = await two.load(async load => {
      await load.answers(ANSWERS)
      await Bun.sleep(Math.random() * LOAD_MS_MAX)
      await two.server.crash()
      await two.server.restart()
      await load.answers(ANSWERS)
    })
    for (const { broken, unexpected } of Object.values(reports))
      if (broken + unexpected.length > 0) throw new Error(`${broken} answers broke; ${unexpected.join('; ')}`)
    const charges = await two.check()
    log(`kill ${round} of the server: ${two.reported} costs reported, ${charges} charged, books sound`)
  }
}

/**
 * Puts the data of an earlier moment in place of later ones, as a failover to a standby that lacks commits does. Both
 * gateways must stop paid work and name the batches that are missing. One of them started after that moment, so that
 * the database does not even know its lane. Nothing can be done with the gateways after that.
 */
export async function loseCommits(two: TwoGateways): Promise<readonly string[]> {
  await two.server.crash()
  const restore = two.server.copyData()
  await two.server.restart()
  await two.kill('other')
  await two.restart('other')
  const named: string[] = []
  const reports = await two.load(async load => {
    await load.answers(ANSWERS)
    await two.server.crash()
    restore()
    await two.server.restart()
    for (const name of ['one', 'other'] as const) named.push(await two.lossOf(name))
    // Whoever was answered meanwhile was charged before. These are asked after it.
    for (const { costs } of Object.values(load.reports)) costs.clear()
    await Bun.sleep(STOPPED_FOR_MS)
  })
  for (const [name, { costs }] of Object.entries(reports))
    if (costs.size > 0) throw new Error(`The gateway ${name} went on with paid work.`)
  return named
}

const STOPPED_FOR_MS = 500
