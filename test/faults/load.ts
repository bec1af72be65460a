import { until } from '../../src/http1/testing/until.ts'
import type { GatewayName } from './two-gateways.ts'

/** What the clients of one gateway saw. */
export type LoadReport = {
  /** The costs that they were told, by request id. Null if a complete answer named no cost. */
  readonly costs: Map<string, string | null>
  /** Answers with 503. */
  refused: number
  /** What they said, and how often. */
  readonly refusals: Map<string, number>
  /** Connections that broke, because the gateway ended. */
  broken: number
  /** Answers that repeat another one. They cost nothing. */
  replayed: number
  /** The longest time until an answer. */
  longestMs: number
  /** The longest time until a refusal. */
  longestRefusalMs: number
  /** Any other answer. */
  readonly unexpected: string[]
}

/** Text requests at once on each gateway, beside an image request and a text that the other gateway gets, too. */
const TEXTS = 8
/** Every few requests, an answer takes this long, so that some run at the moment of a fault. */
const SLOW_EVERY = 4
const SLOW_MS = 40
/** After a refusal. */
const PAUSE_MS = 50
/** A gateway that answers nothing for so long has failed. */
const ANSWERS_MS_MAX = 30_000
/** What is not answered so long after the end of the load never will be. */
const END_MS_MAX = 15_000
/** The image was not ready in time, and its job goes on. */
const ACCEPTED = 202
const TEXT_PATH = 'chat/completions'
const LOOK_EVERY_MS = 5

/** Clients of two gateways that send their next request when they have the answer to the last. */
export class Load {
  readonly reports: Readonly<Record<GatewayName, LoadReport>> = { one: newReport(), other: newReport() }
  readonly #url: (name: GatewayName) => string
  readonly #key: string
  readonly #clients: Promise<void>[] = []
  readonly #cancel = new AbortController()
  /** The answers to texts that both gateways are asked, by the text. */
  readonly #answers = new Map<string, string>()
  readonly #id = crypto.randomUUID()
  #isEnding = false

  constructor(url: (name: GatewayName) => string, key: string) {
    this.#url = url
    this.#key = key
    for (const name of ['one', 'other'] as const) {
      this.add(name, TEXTS)
      this.#clients.push(this.#client(name, anImage))
      this.#clients.push(this.#client(name, turn => aSharedText(`${this.#id} ${turn}`)))
    }
  }

  /** Adds clients that send texts. */
  add(name: GatewayName, count: number): void {
    for (let number = 0; number < count; number += 1)
      this.#clients.push(this.#client(name, turn => aText(number, turn)))
  }

  /** Resolves when clients of these gateways were told so many more costs. */
  async answers(count: number, of: readonly GatewayName[] = ['one', 'other']): Promise<void> {
    const enough = of.map(name => this.reports[name].costs.size + count)
    await this.until(`the gateways ${of.join(' and ')} answered`, () =>
      of.every((name, index) => this.reports[name].costs.size >= enough[index]!),
    )
  }

  /** Resolves when the gateway has refused so many more requests. */
  async refusals(count: number, of: GatewayName): Promise<void> {
    const enough = this.reports[of].refused + count
    await this.until(`the gateway ${of} refused`, () => this.reports[of].refused >= enough)
  }

  /** Ends when each client has its answer. */
  async end(): Promise<void> {
    this.#isEnding = true
    const late = setTimeout(() => this.#cancel.abort(), END_MS_MAX)
    await Promise.all(this.#clients)
    clearTimeout(late)
  }

  /** Throws if it does not come to this. */
  until(what: string, check: () => boolean): Promise<void> {
    return until(what, () => Bun.sleep(LOOK_EVERY_MS).then(check), ANSWERS_MS_MAX)
  }

  async #client(name: GatewayName, request: (turn: number) => Asked): Promise<void> {
    const report = this.reports[name]
    for (let turn = 0; !this.#isEnding; turn += 1) {
      const startedAtMs = performance.now()
      const asked = request(turn)
      const response = await this.#ask(name, asked).catch(() => undefined)
      const tookMs = performance.now() - startedAtMs
      if (response === undefined) report.broken += 1
      else if (response.status === 200) {
        report.longestMs = Math.max(report.longestMs, tookMs)
        if (response.isReplay) report.replayed += 1
        else report.costs.set(response.id, response.cost)
        const { shared } = asked
        if (shared !== undefined && this.#isWrong(shared, response.text))
          report.unexpected.push(`Another answer to ${shared}: ${response.text}`)
        continue
      } else if (response.status === 503) {
        report.refused += 1
        report.refusals.set(response.text, (report.refusals.get(response.text) ?? 0) + 1)
        report.longestRefusalMs = Math.max(report.longestRefusalMs, tookMs)
      } else if (response.status !== ACCEPTED) report.unexpected.push(`${response.status} ${response.text}`)
      await Bun.sleep(PAUSE_MS)
    }
  }

  #isWrong(text: string, answer: string): boolean {
    const { choices } = JSON.parse(answer) as { choices: { message: { content: string } }[] }
    const { content } = choices[0]!.message
    const before = this.#answers.get(text)
    this.#answers.set(text, content)
    return content === '' || (before ?? content) !== content
  }

  async #ask(name: GatewayName, { path, body }: Asked) {
    const response = await fetch(`${this.#url(name)}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: this.#cancel.signal,
    })
    const text = await response.text()
    const { status, headers } = response
    return {
      status,
      text,
      id: headers.get('x-request-id') ?? '',
      cost: headers.get('x-service-cost-usd'),
      isReplay: headers.get('x-service-replay') === 'true',
    }
  }
}

type Asked = {
  readonly path: string
  readonly body: object
  /** The text, if the other gateway is asked the same one. */
  readonly shared?: string
}

function newReport(): LoadReport {
  return {
    costs: new Map(),
    refused: 0,
    refusals: new Map(),
    broken: 0,
    replayed: 0,
    longestMs: 0,
    longestRefusalMs: 0,
    unexpected: [],
  }
}

/** Both gateways are asked it: one can repeat the answer of the other, if they share a cache. */
function aSharedText(text: string): Asked {
  const messages = [{ role: 'user', content: text }]
  return { path: TEXT_PATH, body: { model: 'sandbox-chat', max_tokens: 20, messages }, shared: text }
}

/** Each is another one, so that no answer is a repeat of an earlier one. */
function aText(number: number, turn: number): Asked {
  const messages = [{ role: 'user', content: crypto.randomUUID() }]
  const sandbox = (number + turn) % SLOW_EVERY === 0 ? { delay_ms: SLOW_MS } : {}
  return { path: TEXT_PATH, body: { model: 'sandbox-chat', max_tokens: 20, messages, sandbox } }
}

function anImage(): Asked {
  return { path: 'images/generations', body: { model: 'sandbox-image', prompt: crypto.randomUUID() } }
}
