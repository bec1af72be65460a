import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { lastMigration } from '../../src/stores/postgres/database/migrate.ts'
import { aDataFolder } from '../support/data-folder.ts'
import type { PostgresServer } from '../support/postgres/server.ts'
import type { Load, LoadReport } from './load.ts'
import type { Logged } from './server-faults.ts'
import { TwoGateways, type GatewayName } from './two-gateways.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const ANSWERS = 20
const LOOK_EVERY_MS = 20
/** Ten seconds after a newer one started. A gateway polls twice a second. The rest is for a busy machine. */
const UNREADY_WITHIN_MS = 10_000 + 1000 + 2000
/** Ten seconds after that it refuses paid work. */
const REFUSES_WITHIN_MS = 10_000 + 3000
/** The times after which a gateway that is too old is not ready, and then refuses paid work, in the short form. */
const SHORT_DRAIN = {
  'UNREADY_AFTER_MS = 10_000': 'UNREADY_AFTER_MS = 500',
  'UNREADY_AFTER_MS + 10_000': 'UNREADY_AFTER_MS + 1500',
} as const
const otherThan = { one: 'other', other: 'one' } as const

/**
 * Upgrades two gateways one after the other under load, twice a round: to a build with a migration that only adds to
 * the tables, and to one with a migration that the build before cannot work with. No request fails, because a load
 * balancer sends none to a gateway that is not ready; and the gateway that is too old finishes what runs.
 */
export async function upgradeNodes(two: TwoGateways, rounds: number, log: Logged): Promise<void> {
  const builds = new Builds({})
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const additive = await builds.make(addingNote)
      const breaking = await builds.make(
        number => `-- Gateways before migration ${padded(number)} have to drain.\n`,
      )
      const reports = await underLoad(two, async (load, balancer) => {
        for (const name of ['one', 'other'] as const) {
          await upgrade(two, name, { build: additive, load, balancer })
          await load.answers(ANSWERS)
        }
        await upgrade(two, 'one', { build: breaking, load, balancer })
        await requireReady(two)
        log(await drains(two, load))
        await upgrade(two, 'other', { build: breaking, load, balancer })
        await load.answers(ANSWERS)
      })
      requireNoFailure(reports)
      const charges = await two.check()
      log(`upgrade ${round}: ${two.reported} costs reported, ${charges} charged, no request failed`)
    }
  } finally {
    builds.remove()
  }
}

/**
 * The short form: two gateways whose builds drain in two seconds are upgraded one after the other, under load. They run
 * side by side until the migration of the newer one is marked as one that older gateways cannot work with. Returns what
 * clients were told of costs.
 */
export async function upgradeNodesOnce(server: PostgresServer): Promise<number> {
  const builds = new Builds(SHORT_DRAIN)
  let two: TwoGateways | undefined
  try {
    two = await TwoGateways.start({ server, command: startOf(await builds.copy()) })
    await upgradeBoth(two, await builds.make(addingNote))
    return two.reported
  } finally {
    await two?.end()
    builds.remove()
  }
}

async function upgradeBoth(two: TwoGateways, build: string): Promise<void> {
  const reports = await underLoad(two, async (load, balancer) => {
    await upgrade(two, 'one', { build, load, balancer })
    await load.answers(ANSWERS)
    await requireReady(two)
    await two.sql`UPDATE migrations SET min_number = number WHERE number = ${lastMigration() + 1}`
    await drains(two, load)
    await upgrade(two, 'other', { build, load, balancer })
    await load.answers(ANSWERS)
    await requireReady(two)
  })
  requireNoFailure(reports)
  await two.check()
}

/**
 * The gateway `other` is too old. It is ready until load balancers have seen the newer one. Returns how long it took to
 * be unready and to refuse.
 */
async function drains(two: TwoGateways, load: Load): Promise<string> {
  const startedAtMs = performance.now()
  const waited = () => Math.round(performance.now() - startedAtMs)
  const reason = await until(
    UNREADY_WITHIN_MS,
    'be unready',
    async () => (await readiness(two, 'other')).reason,
  )
  if (!reason.includes('This gateway is too old for the database')) throw new Error(reason)
  const unreadyMs = waited()
  const refusal = await until(REFUSES_WITHIN_MS, 'refuse', async () => {
    const response = await ask(two, 'other')
    return response.status === 503 ? response.text : undefined
  })
  if (!refusal.includes('is being replaced by a newer version')) throw new Error(refusal)
  const refusedMs = waited()
  const { data } = await two.admin<{ data: { name: string; too_old: boolean }[] }>('one', 'GET', 'nodes')
  const old = data.filter(node => node.too_old).map(({ name }) => name)
  if (old.join() !== 'other') throw new Error(`These gateways are listed as too old: ${old.join()}.`)
  if (!two.gateway('other').output().includes('too old')) throw new Error('Its log does not say so.')
  await load.answers(ANSWERS)
  return `the too old gateway was not ready after ${unreadyMs} ms, and refused paid work after ${refusedMs} ms`
}

/** What the orchestrator of a rolling upgrade does: takes a gateway out, stops it, and starts the new build. */
async function upgrade(
  two: TwoGateways,
  name: GatewayName,
  { build, load, balancer }: { readonly build: string; readonly load: Load; readonly balancer: Balancer },
): Promise<void> {
  balancer.takeOut(name)
  // Those that were sent to it a moment ago have reached it by then.
  await load.answers(ANSWERS, [otherThan[name]])
  const code = await two.gateway(name).stop()
  if (code !== 0) throw new Error(`The gateway ${name} ended with ${code}: ${two.gateway(name).output()}`)
  await two.restart(name, startOf(build))
  balancer.putBack(name)
}

async function underLoad(
  two: TwoGateways,
  during: (load: Load, balancer: Balancer) => Promise<void>,
): ReturnType<TwoGateways['load']> {
  const balancer = new Balancer(two)
  try {
    return await two.load(
      async load => {
        await load.answers(ANSWERS)
        await during(load, balancer)
      },
      name => balancer.urlFor(name),
    )
  } finally {
    await balancer.stop()
  }
}

/** Sends the requests of each gateway's clients to the other one while that gateway is not ready. */
class Balancer {
  readonly #two: TwoGateways
  readonly #out = new Set<GatewayName>()
  readonly #ready = { one: true, other: true }
  readonly #looking: Promise<unknown>
  #isStopping = false

  constructor(two: TwoGateways) {
    this.#two = two
    this.#looking = Promise.all([this.#look('one'), this.#look('other')])
  }

  /** If no gateway seems to be ready, one that was not taken out: a busy machine answers late. */
  urlFor(name: GatewayName): string {
    const left = [name, otherThan[name]].filter(gateway => !this.#out.has(gateway))
    const serving = left.find(gateway => this.#ready[gateway]) ?? left[0] ?? name
    return this.#two.gateway(serving).url
  }

  takeOut(name: GatewayName): void {
    this.#out.add(name)
  }

  /** It gets requests when it was seen to be ready. */
  putBack(name: GatewayName): void {
    this.#ready[name] = false
    this.#out.delete(name)
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#looking
  }

  async #look(name: GatewayName): Promise<void> {
    while (!this.#isStopping) {
      const found = await readiness(this.#two, name).catch(() => ({ isReady: false }))
      this.#ready[name] = found.isReady
      await Bun.sleep(LOOK_EVERY_MS)
    }
  }
}

/** Copies of this build, with other texts in the file of what newer gateways cause. */
class Builds {
  readonly #replaced: Readonly<Record<string, string>>
  readonly #folders: string[] = []
  readonly #migrations: (readonly [name: string, script: string])[] = []

  constructor(replaced: Readonly<Record<string, string>>) {
    this.#replaced = replaced
  }

  /** Returns the folder of the next build, which has one more migration than the one before. */
  make(script: (number: number) => string): Promise<string> {
    const number = lastMigration() + this.#migrations.length + 1
    this.#migrations.push([`${padded(number)}_newer.sql`, script(number)])
    return this.copy()
  }

  /** It is copied without blocking: the gateways reach their database through proxies of this process. */
  async copy(): Promise<string> {
    const folder = aDataFolder()
    this.#folders.push(folder)
    mkdirSync(folder, { recursive: true })
    for (const part of ['src', 'package.json', 'tsconfig.json'])
      await cp(join(ROOT, part), join(folder, part), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    for (const [name, text] of this.#migrations)
      writeFileSync(join(folder, 'src/stores/postgres/migrations', name), text)
    this.#replace(join(folder, 'src/stores/postgres/newer-gateways.ts'))
    return folder
  }

  #replace(file: string): void {
    let text = readFileSync(file, 'utf8')
    for (const [before, after] of Object.entries(this.#replaced)) {
      if (!text.includes(before)) throw new Error(`${file} has no ${before}.`)
      text = text.replace(before, after)
    }
    writeFileSync(file, text)
  }

  remove(): void {
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true })
  }
}

function addingNote(number: number): string {
  return `ALTER TABLE accounts ADD COLUMN note_${number} text;`
}

function startOf(build: string): string[] {
  return [process.execPath, join(build, 'src/cli.ts'), 'serve']
}

function padded(number: number): string {
  return `${number}`.padStart(4, '0')
}

async function requireReady(two: TwoGateways): Promise<void> {
  const ready = await Promise.all((['one', 'other'] as const).map(name => readiness(two, name)))
  if (!ready.every(({ isReady }) => isReady)) throw new Error(`Not both are ready: ${Bun.inspect(ready)}`)
}

async function readiness(two: TwoGateways, name: GatewayName) {
  const response = await fetch(`${two.gateway(name).url}/health/ready`)
  const { reason } = (await response.json()) as { readonly reason?: string }
  return { isReady: response.ok, reason }
}

/** A paid request past the load balancer. */
async function ask(two: TwoGateways, name: GatewayName) {
  const messages = [{ role: 'user', content: crypto.randomUUID() }]
  const response = await fetch(`${two.gateway(name).url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${two.customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-chat', max_tokens: 20, messages }),
  })
  return { status: response.status, text: await response.text() }
}

async function until<T>(withinMs: number, what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const giveUpAtMs = performance.now() + withinMs; ;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > giveUpAtMs) throw new Error(`It did not ${what} within ${withinMs} ms.`)
    await Bun.sleep(LOOK_EVERY_MS)
  }
}

function requireNoFailure(reports: Readonly<Record<GatewayName, LoadReport>>): void {
  for (const [name, { refused, refusals, broken, unexpected }] of Object.entries(reports))
    if (refused + broken + unexpected.length > 0)
      throw new Error(
        `Of the clients of ${name}, ${refused} were refused and ${broken} broke: ${Bun.inspect(refusals)} ${unexpected.join('; ')}`,
      )
}
