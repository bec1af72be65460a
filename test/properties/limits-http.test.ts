import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import { startApp, type App } from '../../src/app.ts'
import { readConfig } from '../../src/config/config.ts'
import { ADMIN_KEY, chatModel, DOLLAR_A_REQUEST } from '../scenarios/gateways/scripted-gateway.ts'
import { until } from '../support/until.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startUpstream } from '../support/upstream.ts'
import { answer, chatAnswer } from '../support/upstream-replies.ts'

const HOUR_MS = 3_600_000

type Step =
  | { readonly step: 'begin'; readonly key: number }
  /** The request that has been open for `age` others is answered, which costs a dollar, or fails and is free. */
  | { readonly step: 'end'; readonly age: number; readonly isAnswered: boolean }
  | { readonly step: 'kill' }
  | { readonly step: 'clock'; readonly byMs: number }

const aStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ step: fc.constant('begin'), key: fc.nat({ max: 1 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({ step: fc.constant('end'), age: fc.nat({ max: 5 }), isAnswered: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.constant({ step: 'kill' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constant('clock'),
      byMs: fc.integer({ min: -30 * HOUR_MS, max: 60 * HOUR_MS }),
    }),
  },
)

const dollars = fc.integer({ min: 0, max: 4 })
const someBudgets = fc.record({ day: dollars, week: dollars, total: fc.integer({ min: 1, max: 8 }) })

let running: Run | undefined

afterEach(async () => {
  await running?.close()
  running = undefined
})

test('over HTTP, whatever happens, no request passes a budget, and no reserve or cost is lost', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({ account: someBudgets, keys: fc.tuple(someBudgets, someBudgets) }),
      fc.array(aStep, { maxLength: 25 }),
      async (budgets, steps) => {
        running = await Run.start(budgets)
        for (const step of steps) await running.take(step)
        await running.end()
        await running.close()
      },
    ),
    { numRuns: 8 },
  )
}, 480_000)

test.each(['0', '10'])(
  'of 200 requests at once on a budget for 10, exactly 10 pass, if others wait for up to %s s',
  async waitS => {
    const budgets = { day: 100, week: 100, total: 10 }
    const unlimited = { day: 1000, week: 1000, total: 1000 }
    running = await Run.start({ account: unlimited, keys: [budgets, unlimited] }, waitS)
    running.answerAll()

    const statuses = await running.race(200)

    expect(statuses.filter(status => status === 200)).toHaveLength(10)
    expect(statuses.filter(status => ![200, 402, 429].includes(status))).toEqual([])
    expect(await running.usageOf(0)).toMatchObject({ total: { spent_usd: '10', reserved_usd: '0' } })
    await running.end()
  },
  240_000,
)

type Budgets = { readonly day: number; readonly week: number; readonly total: number }
type ScopeBudgets = { readonly account: Budgets; readonly keys: readonly [Budgets, Budgets] }

type Usage = Readonly<Record<keyof Budgets, { readonly spent_usd: string; readonly reserved_usd: string }>>

/** A request whose upstream has not answered. */
type Open = {
  readonly key: number
  readonly number: number
  readonly response: Promise<Response | undefined>
  readonly client: AbortController
}

/** A gateway whose requests cost one dollar each, at a clock that moves, with one account of two keys. */
class Run {
  readonly #clock = fakeClock()
  readonly #upstream = startUpstream()
  readonly #folders: string[] = []
  /** The requests that reached the upstream and have no answer yet, by their number. */
  readonly #gates = new Map<number, (isAnswered: boolean) => void>()
  readonly #charged = [0, 0]
  readonly #budgets: ScopeBudgets
  readonly #waitS: string
  #keys: readonly { readonly id: string; readonly key: string }[] = []
  #accountId = ''
  #open: Open[] = []
  #asked = 0
  #answersAll = false
  #app: App | undefined

  private constructor(budgets: ScopeBudgets, waitS: string) {
    this.#budgets = budgets
    this.#waitS = waitS
  }

  static async start(budgets: ScopeBudgets, waitS = '0'): Promise<Run> {
    const run = new Run(budgets, waitS)
    run.#upstream.reply(async exchange => {
      const number = Number(/request (\d+)/.exec(new TextDecoder().decode(exchange.request.body))?.[1])
      const { promise, resolve } = Promise.withResolvers<boolean>()
      run.#gates.set(number, resolve)
      const isAnswered = run.#answersAll || (await promise)
      return (isAnswered ? chatAnswer() : answer('broken', { status: 500 }))(exchange)
    })
    await run.#listen(mkdtempSync(join(tmpdir(), 'tollgate-limits-')))
    await run.#setUp()
    return run
  }

  /** From now on, the upstream answers at once. */
  answerAll(): void {
    this.#answersAll = true
  }

  /** The statuses of requests of the first key that are sent together. */
  race(count: number): Promise<readonly number[]> {
    const send = async () => {
      const response = await this.#send(0, (this.#asked += 1))
      await response.text()
      return response.status
    }
    return Promise.all(Array.from({ length: count }, send))
  }

  async take(step: Step): Promise<void> {
    if (step.step === 'begin') await this.#begin(step.key)
    else if (step.step === 'end') await this.#end(step.age, step.isAnswered)
    else if (step.step === 'kill') await this.#kill()
    else this.#clock.setWallClock(this.#clock.now() + step.byMs)
    await this.#check()
  }

  /** Ends what is open. Then nothing is reserved, and the books are sound. */
  async end(): Promise<void> {
    while (this.#open.length > 0) await this.#end(0, false)
    for (const key of [0, 1])
      for (const { reserved_usd } of Object.values(await this.usageOf(key))) expect(reserved_usd).toBe('0')
    const { problems } = await this.#admin<{ problems: { concerns: string }[] }>('POST', 'verify')
    expect(problems.filter(({ concerns }) => concerns !== 'nothing')).toEqual([])
  }

  async usageOf(key: number): Promise<Usage> {
    return (await this.#admin<{ budget_usage: Usage }>('GET', `keys/${this.#keys[key]!.id}`)).budget_usage
  }

  async close(): Promise<void> {
    for (const gate of this.#gates.values()) gate(false)
    await this.#app?.stop()
    this.#app = undefined
    this.#upstream.close()
    for (const folder of this.#folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  }

  async #begin(key: number): Promise<void> {
    const number = (this.#asked += 1)
    const client = new AbortController()
    let status: number | undefined
    const response = this.#send(key, number, client.signal)
      .then(reply => {
        status = reply.status
        return reply
      })
      .catch(() => undefined)
    await until('the request is refused or called', () => status !== undefined || this.#gates.has(number))
    if (!this.#gates.has(number)) {
      expect([402, 429]).toContain(status!)
      return
    }
    this.#open.push({ key, number, response, client })
    this.#expectWithin(this.#budgets.account, await this.#usageOfAccount())
    this.#expectWithin(this.#budgets.keys[key]!, await this.usageOf(key))
  }

  /** Only a request that fits into every budget is admitted. */
  #expectWithin(budgets: Budgets, usage: Usage): void {
    for (const period of ['day', 'week', 'total'] as const) {
      const { spent_usd: spent, reserved_usd: reserved } = usage[period]
      expect(Number(spent) + Number(reserved)).toBeLessThanOrEqual(budgets[period])
    }
  }

  async #end(age: number, isAnswered: boolean): Promise<void> {
    const [ended] = this.#open.splice(age % Math.max(1, this.#open.length), 1)
    if (ended === undefined) return
    this.#gates.get(ended.number)?.(isAnswered)
    const response = await ended.response
    await response?.text()
    expect(response?.status).toBe(isAnswered ? 200 : 502)
    if (isAnswered) this.#charged[ended.key]! += 1
  }

  /** Another gateway continues with what is on the disk at this instant. The requests of the first one are lost. */
  async #kill(): Promise<void> {
    const killed = this.#app!
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-limits-'))
    cpSync(this.#folders.at(-1)!, folder, { recursive: true })
    for (const { client, number } of this.#open.splice(0)) {
      client.abort()
      this.#gates.get(number)?.(false)
    }
    await killed.stop()
    await this.#listen(folder)
  }

  async #check(): Promise<void> {
    for (const key of [0, 1])
      this.#expectUsage(await this.usageOf(key), {
        open: this.#open.filter(open => open.key === key).length,
        charged: this.#charged[key]!,
      })
    this.#expectUsage(await this.#usageOfAccount(), {
      open: this.#open.length,
      charged: this.#charged[0]! + this.#charged[1]!,
    })
  }

  #expectUsage(usage: Usage, { open, charged }: { readonly open: number; readonly charged: number }): void {
    for (const { reserved_usd } of Object.values(usage)) expect(reserved_usd).toBe(String(open))
    expect(usage.total.spent_usd).toBe(String(charged))
  }

  async #usageOfAccount(): Promise<Usage> {
    return (await this.#admin<{ budget_usage: Usage }>('GET', `accounts/${this.#accountId}`)).budget_usage
  }

  async #listen(folder: string): Promise<void> {
    this.#folders.push(folder)
    const catalog = {
      providers: [
        {
          id: 'main',
          kind: 'openai-compatible',
          base_url: this.#upstream.baseUrl,
          api_key: 'a-key-of-the-upstream',
          retries: 0,
        },
      ],
      models: [chatModel('dollar', { pricing: DOLLAR_A_REQUEST })],
    }
    const path = join(folder, 'catalog.yaml')
    await Bun.write(path, JSON.stringify(catalog))
    const config = readConfig({
      TOLLGATE_PORT: '0',
      TOLLGATE_DATA_DIR: folder,
      TOLLGATE_CATALOG: path,
      TOLLGATE_ADMIN_KEY: ADMIN_KEY,
      TOLLGATE_LOG_LEVEL: 'silent',
      TOLLGATE_HOLD_WAIT_S: this.#waitS,
      TOLLGATE_REQUEST_RECORDS_DAYS: '0',
    })
    this.#app = await startApp(config, { clock: this.#clock })
  }

  async #setUp(): Promise<void> {
    const { account, keys } = this.#budgets
    const { id } = await this.#admin<{ id: string }>('POST', 'accounts', { name: 'ada' })
    this.#accountId = id
    await this.#admin('POST', `accounts/${id}/grants`, { amount_usd: '10000' })
    await this.#admin('PATCH', `accounts/${id}`, { budgets: inDollars(account) })
    this.#keys = await Promise.all(
      keys.map(() => this.#admin<{ id: string; key: string }>('POST', `accounts/${id}/keys`, {})),
    )
    for (const [index, key] of this.#keys.entries())
      await this.#admin('PATCH', `keys/${key.id}`, { budgets: inDollars(keys[index]!) })
  }

  #send(key: number, number: number, signal?: AbortSignal): Promise<Response> {
    return fetch(`${this.#app!.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': this.#keys[key]!.key },
      body: JSON.stringify({ model: 'dollar', messages: [{ role: 'user', content: `request ${number}` }] }),
      ...(signal !== undefined && { signal }),
    })
  }

  async #admin<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${this.#app!.url}/admin/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Answer
  }
}

function inDollars(budgets: Budgets): Record<string, string> {
  return Object.fromEntries(Object.entries(budgets).map(([period, amount]) => [period, String(amount)]))
}
