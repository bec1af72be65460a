import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Id } from '../../src/domain/ids.ts'
import { usd } from '../../src/domain/money.ts'
import type { Attempt } from '../../src/gateway/ports/ledger/attempts.ts'
import type { Hold } from '../../src/gateway/ports/ledger/ledger.ts'
import { connections } from '../../src/stores/postgres/database/database.ts'
import { sealSilentLanes } from '../../src/stores/postgres/lanes/stored-rows.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { aJob, moveTo, record } from '../support/job-builders.ts'
import {
  aBill,
  aCharge,
  aCredit,
  anAccount,
  anAttempt,
  anAudit,
  anId,
  changeLimits,
  hold,
  NOW,
} from '../support/ledger-builders.ts'
import { aDatabase } from '../support/postgres/databases.ts'
import { runServer } from '../support/postgres/run-server.ts'
import { aNode } from '../support/postgres/a-node.ts'

const server = await runServer()
const ends: (() => Promise<unknown>)[] = []

afterEach(end)

async function end(): Promise<void> {
  for (const close of ends.splice(0).toReversed()) await close()
}

type Node = Awaited<ReturnType<typeof aNode>>
type Payer = { readonly accountId: number; readonly apiKeyId: number }

async function aStore() {
  const url = await aDatabase(server!)
  const sql = connections({ url }).openReads()
  ends.push(() => sql.close())
  const clock = fakeClock()
  const open = async (name: string) => {
    const node = await aNode(url, name, clock)
    ends.push(() => node.close())
    return node
  }
  return { sql, clock, open }
}

async function chargeText({ ledger }: Node, { accountId, apiKeyId }: Payer, tokens = 1): Promise<void> {
  const held = await hold(ledger, { accountId, kind: 'text', amount: usd('2') })
  await ledger.captureHold(held, aCharge(apiKeyId, { tokens }))
}

type Step = { readonly what: keyof typeof steps; readonly node: number; readonly payer: number }

/** Books that two nodes use in every way. What begins in one round may end in another. */
class Usage {
  readonly #store: Awaited<ReturnType<typeof aStore>>
  readonly nodes: Node[]
  readonly payers: Payer[] = []
  readonly #holds: Hold[] = []
  readonly #jobs: Id[] = []
  readonly #attempts: Extract<Attempt, { state: 'timed_out' }>[] = []
  readonly #charges: Id[] = []

  private constructor(store: Awaited<ReturnType<typeof aStore>>, nodes: Node[]) {
    this.#store = store
    this.nodes = nodes
  }

  static async begin(): Promise<Usage> {
    const store = await aStore()
    const usage = new Usage(store, [await store.open('one'), await store.open('two')])
    await usage.addPayer(usage.nodes[0]!)
    await usage.addPayer(usage.nodes[1]!)
    return usage
  }

  async addPayer(node: Node): Promise<void> {
    const payer = await anAccount(node, { funds: usd('900') })
    this.payers.push(payer)
    await changeLimits(node, { ...payer, apiKeyId: undefined }, { budgets: { day: usd('500') } })
  }

  async charge(node: Node, payer: Payer, tokens: number): Promise<void> {
    await chargeText(node, payer, tokens)
    const [line] = await node.ledger.usage(payer.accountId, { limit: 1 })
    if (tokens > 0) this.#charges.push(line!.id)
  }

  async refund({ ledger }: Node): Promise<void> {
    const charge = this.#charges.shift()
    if (charge !== undefined) await ledger.refund({ id: anId(), charge, amount: usd('1'), audit: anAudit() })
  }

  async holdMedia({ ledger }: Node, { accountId }: Payer): Promise<void> {
    this.#holds.push(await hold(ledger, { accountId, kind: 'media', amount: usd('3') }))
  }

  async endHold({ ledger }: Node): Promise<void> {
    const held = this.#holds.shift()
    if (held !== undefined) await ledger.releaseHold(held, NOW)
  }

  async createJob({ jobs }: Node, payer: Payer): Promise<void> {
    const job = await record(jobs, aJob(payer))
    await jobs.beginSubmit(job.id, NOW)
    this.#jobs.push(job.id)
  }

  async endJob({ jobs }: Node, how: 'completed' | 'failed'): Promise<void> {
    const id = this.#jobs.shift()
    if (id !== undefined) await moveTo[how](jobs, id)
  }

  async attempt({ attempts }: Node, payer: Payer): Promise<void> {
    const attempt = anAttempt(payer)
    await attempts.record(attempt)
    this.#attempts.push(attempt)
  }

  async compensate({ attempts, ledger }: Node): Promise<void> {
    const attempt = this.#attempts.shift()
    if (attempt === undefined) return
    await attempts.bill(attempt, aBill())
    await ledger.compensate(attempt, NOW)
  }

  /** The node gives its lane back, and another process takes it. */
  async restart(index: number): Promise<void> {
    await this.nodes[index]!.close()
    this.nodes[index] = await this.#store.open(`node ${index}`)
  }

  async addNode(): Promise<void> {
    this.nodes.push(await this.#store.open('another'))
  }

  /** A node writes a batch and dies. Another one seals its lane, unless it could do that itself. */
  async loseNode(payer: Payer): Promise<void> {
    await chargeText(await this.#store.open('dead'), payer)
    const { sql, clock } = this.#store
    await sql`UPDATE lanes SET seen_at_ms = 1 WHERE label = 'dead' AND sealed_id < last_id`
    await sealSilentLanes(sql, clock.now())
  }
}

const steps = {
  charge: (usage, node, payer) => usage.charge(node, payer, 1),
  'free charge': (usage, node, payer) => usage.charge(node, payer, 0),
  grant: (_, { ledger }, { accountId }) => ledger.credit({ ...aCredit(accountId), amount: usd('1') }),
  debit: (_, { ledger }, { accountId }) =>
    ledger.debit({ id: anId(), accountId, amount: usd('1'), allowNegative: true, audit: anAudit() }),
  refund: (usage, node) => usage.refund(node),
  'media hold': (usage, node, payer) => usage.holdMedia(node, payer),
  'end of a hold': (usage, node) => usage.endHold(node),
  job: (usage, node, payer) => usage.createJob(node, payer),
  'completed job': (usage, node) => usage.endJob(node, 'completed'),
  'failed job': (usage, node) => usage.endJob(node, 'failed'),
  attempt: (usage, node, payer) => usage.attempt(node, payer),
  compensation: (usage, node) => usage.compensate(node),
  account: (usage, node) => usage.addPayer(node),
  restart: (usage, node) => usage.restart(usage.nodes.indexOf(node)),
  'new node': usage => (usage.nodes.length < 4 ? usage.addNode() : undefined),
  'dead node': (usage, _, payer) => usage.loseNode(payer),
} as const satisfies Record<string, (usage: Usage, node: Node, payer: Payer) => unknown>

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.oneof(
    { weight: 1, arbitrary: fc.constant<Step['what']>('charge') },
    { weight: 3, arbitrary: fc.constantFrom(...(Object.keys(steps) as Step['what'][])) },
  ),
  node: fc.nat(9),
  payer: fc.nat(9),
})
/** The books are checked after each round of steps. */
const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: 12 }), { minLength: 6, maxLength: 8 })
/** Each run opens a database. More of them, such as 200, are for a change of these checks. */
const RUNS = 1

describe.skipIf(server === undefined)('checks of recent rows between random uses by several nodes', () => {
  test('find nothing, and the last one has counted the entries of a full check', async () => {
    await fc.assert(
      fc.asyncProperty(rounds, async history => {
        const usage = await Usage.begin()
        const check = () => usage.nodes[0]!.ledger.verifyRecent()
        await check()
        for (const round of history) {
          for (const { what, node, payer } of round)
            await steps[what](usage, pick(usage.nodes, node), pick(usage.payers, payer))
          const { problems, isRecent } = await check()
          expect([problems, isRecent]).toEqual([[], true])
        }
        const { entries } = await check()
        expect(await usage.nodes[0]!.ledger.verify()).toEqual({ problems: [], affected: [], entries })
        await end()
      }),
      { numRuns: RUNS, endOnFailure: true },
    )
  }, 240_000)
})

function pick<T>(all: readonly T[], index: number): T {
  return all[index % all.length]!
}
