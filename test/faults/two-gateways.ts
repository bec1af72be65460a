import { SQL } from 'bun'
import { rmSync } from 'node:fs'
import { parseId } from '../../src/domain/ids.ts'
import { usd } from '../../src/domain/money.ts'
import { until } from '../../src/http1/testing/until.ts'
import { lastMigration } from '../../src/stores/postgres/database/migrate.ts'
import { Lane, LANE_TTL_MS } from '../../src/stores/postgres/lanes/lane.ts'
import { sealSilentLanes } from '../../src/stores/postgres/lanes/stored-rows.ts'
import { aDataFolder } from '../support/data-folder.ts'
import { startGatewayProcess, type GatewayProcess } from '../support/gateway-process.ts'
import { anEmptyDatabase } from '../support/postgres/databases.ts'
import { Proxy } from '../support/postgres/proxy.ts'
import { PostgresServer } from '../support/postgres/server.ts'
import { GRANT, makeCustomer, type Customer } from '../scenarios/books/reported-costs.ts'
import { Load, type LoadReport } from './load.ts'

const ADMIN_KEY = 'tg_admin_kill_nine'
const SETTLED_WITHIN_MS = 30_000
const LOOK_EVERY_MS = 50
const VERIFY_TRIES = 3
const MAJOR = 18

export type GatewayName = 'one' | 'other'
const names: readonly GatewayName[] = ['one', 'other']

/** A gateway, whose connections to the database go through a proxy. */
type Node = {
  readonly proxy: Proxy
  readonly folder: string
  process: GatewayProcess | undefined
  /** All processes that were started for it. */
  readonly processes: GatewayProcess[]
}

type Options = {
  /** Added to that of both gateways. */
  readonly environment?: Readonly<Record<string, string>>
  /** Starts another build. */
  readonly command?: string[]
  /** One that others use, too, and that no fault ends. */
  readonly server?: PostgresServer
}

/** A PostgreSQL server, two gateway processes over one of its databases, and a customer who calls both. */
export class TwoGateways {
  readonly server: PostgresServer
  /** A connection for checks. */
  readonly sql: SQL
  readonly #url: string
  readonly #environment: Readonly<Record<string, string>>
  /** Starts the build that both gateways have at first. Undefined for this one. */
  readonly #command: string[] | undefined
  readonly #isOwnServer: boolean
  readonly #nodes: Readonly<Record<GatewayName, Node>>
  #customer: Customer | undefined
  /** Started beside the two, and not stopped yet. */
  #third: GatewayProcess | undefined
  /** The costs of all loads. */
  readonly #reported = new Map<string, string | null>()

  private constructor(
    server: PostgresServer,
    url: string,
    { environment = {}, command, server: shared }: Options,
  ) {
    this.server = server
    this.sql = new SQL({ url, bigint: true, max: 1 })
    this.#url = url
    this.#environment = environment
    this.#command = command
    this.#isOwnServer = shared === undefined
    const aNode = (): Node => ({
      proxy: Proxy.to(url),
      folder: aDataFolder(),
      process: undefined,
      processes: [],
    })
    this.#nodes = { one: aNode(), other: aNode() }
  }

  static async start(options: Options = {}): Promise<TwoGateways> {
    const server = options.server ?? (await PostgresServer.start(MAJOR))
    const two = new TwoGateways(server, await anEmptyDatabase(server), options)
    try {
      await Promise.all(names.map(name => two.restart(name)))
      two.#customer = await makeCustomer(two.gateway('one'))
      return two
    } catch (error) {
      const outputs = names.map(name => two.#nodes[name].process?.output() ?? '')
      await two.end()
      throw new Error(`The gateways did not start: ${outputs.join()}`, { cause: error })
    }
  }

  get customer(): Customer {
    if (this.#customer === undefined) throw new Error('The customer is not made yet.')
    return this.#customer
  }

  /** What clients were told of costs, in all loads. */
  get reported(): number {
    return this.#reported.size
  }

  proxyOf(name: GatewayName): Proxy {
    return this.#nodes[name].proxy
  }

  gateway(name: GatewayName): GatewayProcess {
    const { process } = this.#nodes[name]
    if (process === undefined) throw new Error(`The gateway ${name} has not started.`)
    return process
  }

  /** What all processes of a gateway logged. */
  logs(name: GatewayName): string {
    return this.#nodes[name].processes.map(process => process.output()).join('\n')
  }

  /** Sends SIGSTOP or SIGCONT to a gateway. */
  signal(name: GatewayName, signal: 'SIGSTOP' | 'SIGCONT'): void {
    process.kill(this.gateway(name).pid, signal)
  }

  /** Kills a gateway. Resolves when the database has ended what the gateway had sent to it. */
  async kill(name: GatewayName): Promise<void> {
    await this.gateway(name).kill()
    await this.proxyOf(name).quiet()
  }

  /** Starts a gateway that was stopped. `command` starts another build than at first. */
  async restart(name: GatewayName, command = this.#command): Promise<void> {
    const { folder, proxy, processes } = this.#nodes[name]
    const process = await this.#startProcess(name, folder, proxy.url(this.#url), command)
    this.#nodes[name].process = process
    processes.push(process)
  }

  /**
   * Lets the lane of a silent gateway be as old as if the time after which its holds expire had passed. The leases end
   * sooner: a gateway that is killed in a pass of the reconciler leaves one. Returns the number of its open text holds.
   */
  async age(name: GatewayName): Promise<number> {
    const [open] = await this.sql<{ count: bigint }[]>`
      SELECT count(*) AS count FROM text_holds JOIN lanes ON number = lane
        WHERE label = ${name} AND expired_at_ms IS NULL`
    await this
      .sql`UPDATE lanes SET seen_at_ms = seen_at_ms - ${LANE_TTL_MS} WHERE label = ${name} AND seen_at_ms > 0`
    await this.sql`UPDATE leases SET until_ms = until_ms - ${LANE_TTL_MS}`
    return Number(open?.count)
  }

  /** Calls both gateways until `during` ends. `urlFor` says which one the clients of a gateway call. */
  async load(
    during: (load: Load) => Promise<unknown>,
    urlFor: (name: GatewayName) => string = name => this.gateway(name).url,
  ): Promise<Readonly<Record<GatewayName, LoadReport>>> {
    const load = new Load(urlFor, this.customer.key)
    try {
      await during(load)
    } finally {
      await load.end()
    }
    for (const name of names) for (const [id, cost] of load.reports[name].costs) this.#reported.set(id, cost)
    return load.reports
  }

  /**
   * Checks that each cost that a client was told is in the books, and every charge once; that nothing is held any more;
   * that `verify` finds nothing; and that the balance is the granted amount less the charges. Returns the number of
   * charges.
   */
  async check(by: GatewayName = 'one'): Promise<number> {
    await this.#settled()
    const rows = await this.sql<{ id_key: bigint; id_tail: bigint; cost: bigint }[]>`
      SELECT id_key, id_tail, cost FROM charges`
    const charges = new Map<string, bigint>()
    let spent = 0n
    for (const { id_key: key, id_tail: tail, cost } of rows) {
      if (charges.has(`${key} ${tail}`)) throw new Error(`The id ${key} ${tail} is charged twice.`)
      charges.set(`${key} ${tail}`, cost)
      spent += cost
    }
    // The charge of an image has the id of its job.
    const jobs = await this.sql<
      { id_key: bigint; id_tail: bigint; request_key: bigint; request_tail: bigint }[]
    >`
      SELECT id_key, id_tail, request_key, request_tail FROM jobs`
    for (const { id_key: key, id_tail: tail, request_key, request_tail } of jobs) {
      const charged = charges.get(`${key} ${tail}`)
      if (charged !== undefined) charges.set(`${request_key} ${request_tail}`, charged)
    }
    for (const [id, cost] of this.#reported) {
      const { key, tail } = parseId('req', id)!
      const charged = charges.get(`${key} ${tail}`)
      if (charged === undefined || (cost !== null && charged !== usd(cost)))
        throw new Error(`${id}: the client was told ${cost}, and the books have ${charged ?? 'no charge'}.`)
    }
    const account = await this.admin<{ available_usd: string }>(
      by,
      'GET',
      `accounts/${this.customer.accountId}`,
    )
    if (usd(account.available_usd) !== usd(GRANT) - spent)
      throw new Error(`The balance is ${account.available_usd} USD, and the charges are ${spent} billionths.`)
    const { problems } = await this.#verify(by)
    // The images of the other gateway are on its own disk.
    const wrong = problems.filter(({ concerns }) => concerns !== 'nothing')
    if (wrong.length > 0) throw new Error(`The books are not sound: ${JSON.stringify(wrong)}`)
    return rows.length
  }

  /** The lane of a gateway, as `number/epoch`. It is another one after the gateway was fenced. */
  async laneOf(name: GatewayName): Promise<string> {
    const rows = await this.sql<{ number: bigint; epoch: bigint }[]>`
      SELECT number, epoch FROM lanes WHERE label = ${name} ORDER BY seen_at_ms DESC LIMIT 1`
    return rows.map(({ number, epoch }) => `${number}/${epoch}`).join()
  }

  /** Does what the upkeep and the start of another gateway do: seals the lanes that are silent, and takes one. */
  async takeLane(): Promise<void> {
    await sealSilentLanes(this.sql, null)
    const lane = await Lane.claim(this.sql, {
      label: 'third',
      version: '1',
      migration: lastMigration(),
      nowMs: null,
    })
    await lane.giveBack(this.sql, null)
  }

  /** A third gateway that starts and stops, as in a rolling restart. */
  async startAndStopAnother(): Promise<void> {
    const folder = aDataFolder()
    this.#third = await this.#startProcess('third', folder, this.#url)
    await this.#third.stop()
    this.#third = undefined
    rmSync(folder, { recursive: true, force: true })
  }

  async admin<Answer>(by: GatewayName, method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${this.gateway(by).url}/admin/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Answer
  }

  /** Ends all processes, also those that are frozen. */
  async end(): Promise<void> {
    await this.#third?.kill()
    for (const { process, proxy, folder } of Object.values(this.#nodes)) {
      await process?.kill()
      proxy.stop()
      rmSync(folder, { recursive: true, force: true })
    }
    await this.sql.close({ timeout: 0 })
    if (this.#isOwnServer) await this.server.crash()
  }

  /** What a load balancer sees of a gateway. */
  async isReady(name: GatewayName): Promise<boolean> {
    return (await fetch(`${this.gateway(name).url}/health/ready`)).ok
  }

  /** Waits until a gateway is not ready because its database lost commits. Returns the reason. */
  async lossOf(name: GatewayName): Promise<string> {
    let reason: string | undefined
    await until(`the gateway ${name} names what the database lost`, async () => {
      const reply = await fetch(`${this.gateway(name).url}/health/ready`)
      reason = /The database lost [^"]*/.exec(await reply.text())?.[0]
      return reason !== undefined
    })
    return reason!
  }

  /** A gateway whose connections for reads were lost may refuse the first one. */
  async #verify(by: GatewayName): Promise<{ readonly problems: readonly { readonly concerns: string }[] }> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.admin(by, 'POST', 'verify')
      } catch (error) {
        if (tries === VERIFY_TRIES) throw error
      }
    }
  }

  /** Waits until nothing is held: holds of lost answers are ended soon after the database answers again. */
  async #settled(): Promise<void> {
    for (const giveUpAtMs = performance.now() + SETTLED_WITHIN_MS; ;) {
      const held = await this.sql<object[]>`
        SELECT reserved, held_text, held_media FROM balances WHERE reserved <> 0 OR held_text <> 0 OR held_media <> 0`
      if (held.length === 0) return
      if (performance.now() > giveUpAtMs)
        throw new Error(`This is still held: ${Bun.inspect(held)}${Bun.inspect(await this.#holds())}`)
      await Bun.sleep(LOOK_EVERY_MS)
    }
  }

  async #holds(): Promise<unknown> {
    return {
      text: await this.sql`SELECT lane, epoch, expired_at_ms, count(*) FROM text_holds GROUP BY 1, 2, 3`,
      jobs: await this.sql`SELECT state, node, count(*) FROM jobs GROUP BY 1, 2`,
      lanes: await this.sql`SELECT number, label, epoch, batch FROM lanes`,
    }
  }

  /** The reconciler runs each second, so that a test need not wait for it. */
  #startProcess(name: string, folder: string, url: string, command?: string[]): Promise<GatewayProcess> {
    const settings = {
      TOLLGATE_ADMIN_KEY: ADMIN_KEY,
      TOLLGATE_DATABASE_URL: url,
      TOLLGATE_SECRET_KEY: Buffer.alloc(32).toString('base64'),
      TOLLGATE_NODE_NAME: name,
      TOLLGATE_LOG_LEVEL: 'warn',
      TOLLGATE_RECONCILE_EVERY_S: '1',
      TOLLGATE_UNKNOWN_SUBMIT_TTL_S: '1',
      ...this.#environment,
    }
    return startGatewayProcess(folder, settings, command === undefined ? {} : { command })
  }
}
