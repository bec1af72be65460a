import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { FAILURES_BEFORE_OPEN, OPEN_MS_MAX } from '../../../src/gateway/upstreams/upstream-health.ts'
import {
  refusedUrl,
  startUpstream,
  type Exchange,
  type Reply,
  type Upstream,
} from '../../support/upstream.ts'
import { lanes, type Lane } from './fault-lanes.ts'
import { faults, rules, type Rule } from './fault-matrix.ts'
import { status, wholeAnswer, type Stage } from './fault-plays.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { chatModel, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'
import { settlementOf } from '../streams/settled-stream.ts'
import { until } from '../../support/until.ts'

/** The upstreams after the one with the fault, by the name in the title. */
const settings = {
  alone: 'alone',
  'followed by one that works': 'well',
  'followed by one with the same fault': 'same',
} as const
type Behind = (typeof settings)[keyof typeof settings]

type Case = {
  readonly lane: Lane
  readonly fault: string
  readonly behind: Behind
}

let gateway: ScriptedGateway
let spare: Upstream

/**
 * The ledger check, the renewal of holds, the reconciler, the webhooks, the days on which keys were used, the
 * events that follow from time, and the connection sweep of the server.
 */
const BACKGROUND_TIMERS = 7

beforeAll(async () => {
  spare = startUpstream()
  const provider = (id: string, baseUrl: string) => ({
    id,
    kind: 'openai-compatible',
    base_url: baseUrl,
    retries: 0,
  })
  gateway = await startScriptedGateway({
    models: ['chat', 'embedding'].flatMap(kind =>
      [true, false].flatMap(isRefused => modelRows(kind, isRefused)),
    ),
    providers: () => [
      provider('spare', spare.baseUrl),
      provider('refusing', refusedUrl()),
      provider('refusing-too', refusedUrl()),
    ],
  })
})
// Closes the circuits that the previous test opened.
beforeEach(() => gateway.clock.advance(OPEN_MS_MAX))
afterAll(async () => {
  await gateway.stop()
  spare.close()
})

function modelRows(kind: string, isRefused: boolean): object[] {
  const [first, second] = isRefused ? ['refusing', 'refusing-too'] : ['main', 'spare']
  const row = (behind: Behind, next: string | null) =>
    chatModel(modelOf({ kind, isRefused, behind }), {
      kind,
      upstreams: [first, next].flatMap((provider, index) =>
        provider === null ? [] : [{ provider, model: 'upstream-model', order: index + 1 }],
      ),
      ...(kind === 'chat' ? {} : { pricing: { input_per_mtok: '2' }, max_output_tokens: undefined }),
    })
  return [row('alone', null), row('well', 'spare'), row('same', second)]
}

function modelOf(row: {
  readonly kind: string
  readonly isRefused: boolean
  readonly behind: Behind
}): string {
  return `${row.kind}-${row.isRefused ? 'refused' : 'taken'}-${row.behind}`
}

const cases = lanes.flatMap(lane =>
  Object.entries(faults).flatMap(([fault, ends]) =>
    ends[lane.upstreamSends] === undefined
      ? []
      : Object.entries(settings).map(
          ([setting, behind]) => [lane.title, fault, setting, { lane, fault, behind }] as const,
        ),
  ),
)

describe('a request ends according to the rules for', () => {
  test.each(cases)(
    'a request ends according to the rules for %s, of an upstream with %s, %s',
    async (_lane, _fault, _setting, one) => {
      const expected = expectedOf(one)

      const seen = await play(one)

      expect(seen).toEqual(expected)
    },
  )
})

/** The faults after which the next upstream is called, by the rules. */
const switched = cases.filter(([, , , { lane, fault, behind }]) => {
  const [end] = faults[fault]![lane.upstreamSends]!
  return behind === 'well' && (rules[end].isSwitched || (end === 'empty' && lane.isEmptyRetried))
})

describe('with both circuits open, two upstreams are as available as the healthy one alone for', () => {
  test.each(switched)(
    'with both circuits open, two upstreams are as available as the healthy one alone for %s, of an upstream with %s, %s',
    async (_lane, _fault, _setting, one) => {
      const expected = expectedOf({ ...one, fault: 'no fault', behind: 'alone' })
      await openBothCircuits(one)

      const seen = await play(one)

      expect(seen).toEqual({ ...expected, saidBy: ['spare'], asked: { ...seen.asked, spare: 1 } })
    },
  )
})

test('the ledger is sound afterwards, and nothing waits or is held', async () => {
  const { ok, problems } = await gateway.admin<{ ok: boolean; problems: unknown[] }>('POST', 'verify')

  expect({ ok, problems }).toEqual({ ok: true, problems: [] })
  expect(await gateway.metric('tollgate_held_usd{kind="text"}')).toBe(0)
  expect(await gateway.metric('tollgate_late_calls')).toBe(0)
})

/** The outcome of one request, in the terms of the rules. */
type Seen = {
  readonly status: number
  /** The code of the error, from the status or from the end of a stream. */
  readonly code?: string | undefined
  readonly type?: string | undefined
  readonly shouldRetry?: string | null
  readonly retryAfter?: string | null
  readonly looksWhole: boolean
  /** The upstream whose output reached the client. */
  readonly saidBy: readonly string[]
  /** The charged amount. */
  readonly paid: string
  /** The number of requests to each upstream. */
  readonly asked: { readonly main: number; readonly spare: number }
}

/** Computed from the table and its rules. */
function expectedOf({ lane, fault, behind }: Case): Seen {
  const { isRefused = false, ...ends } = faults[fault]!
  const [end] = ends[lane.upstreamSends]!
  const rule = rules[end]
  const isSwitched = behind !== 'alone' && (rule.isSwitched || (end === 'empty' && lane.isEmptyRetried))
  const isMended = isSwitched && behind === 'well'
  const { pays, status, code, type, shouldRetry, retryAfter }: Rule = isMended ? rules.whole : rule
  const isTold = code !== undefined
  return {
    status,
    looksWhole: !isTold,
    saidBy: isMended ? ['spare'] : end === 'whole' ? ['main'] : [],
    paid: pays === 'nothing' ? '0' : lane.costs[pays],
    asked: { main: isRefused ? 0 : 1, spare: isSwitched && !(isRefused && behind === 'same') ? 1 : 0 },
    ...(isTold ? { code, type: status === 200 ? undefined : type } : {}),
    ...(status === 200 ? {} : { shouldRetry: shouldRetry ?? null, retryAfter: retryAfter ?? null }),
  }
}

/** Lets both upstreams of a row fail until their circuits open. They open in the order of the row. */
async function openBothCircuits(one: Case): Promise<void> {
  const stage: Stage = { advance: () => undefined, received: () => Promise.resolve() }
  const account = await gateway.account()
  const failure = status(500, { connection: 'close' })(one.lane, stage)
  gateway.upstream.reply(failure)
  spare.reply(failure)
  for (let failures = 0; failures < FAILURES_BEFORE_OPEN; failures += 1) {
    const response = await send(one, account.key)
    expect([response.status, await response.text()]).toEqual([502, expect.any(String)])
  }
  expect(await gateway.metric('tollgate_open_circuit_breakers')).toBe(2)
}

function send({ lane, fault, behind }: Case, key: string): Promise<Response> {
  const { isRefused = false } = faults[fault]!
  return fetch(gateway.url + lane.path, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: modelOf({ kind: lane.kind, isRefused, behind }), ...lane.request }),
  })
}

/** Runs one request with its own account until it and all its background work have ended. */
async function play(one: Case): Promise<Seen> {
  const { lane, fault, behind } = one
  const ends = faults[fault]!
  const [, playFault] = ends[lane.upstreamSends]!
  let reply = ''
  const stage: Stage = {
    advance: ms => gateway.clock.advance(ms),
    received: (text, times) => until(`${times} of ${text}`, () => reply.split(text).length > times),
  }
  const exchanges: Exchange[] = []
  const kept =
    (answer: Reply): Reply =>
    exchange => {
      exchanges.push(exchange)
      return answer(exchange)
    }
  gateway.upstream.reply(kept(playFault(lane, stage)))
  spare.reply(kept(behind === 'same' ? playFault(lane, stage) : wholeAnswer(lane, 'spare')))
  const before = { main: gateway.upstream.requests.length, spare: spare.requests.length }
  const account = await gateway.account()

  const response = await send(one, account.key)
  const error = response.status === 200 ? undefined : await errorOf(response, lane)
  if (error === undefined) for await (const piece of textOf(response)) reply += piece

  for (const exchange of exchanges) exchange.reset()
  const charge = await settlementOf(gateway, account)
  await noTimerIsLeft()
  const errorAtEnd = lane.errorAtEnd(reply)
  return {
    status: response.status,
    looksWhole: error === undefined && lane.looksWhole(reply),
    saidBy: ['main', 'spare'].filter(word => reply.includes(word)),
    paid: charge?.cost_usd ?? '0',
    asked: {
      main: gateway.upstream.requests.length - before.main,
      spare: spare.requests.length - before.spare,
    },
    ...(errorAtEnd === undefined ? {} : { code: errorAtEnd, type: undefined }),
    ...error,
  }
}

/** The anchor is written once a second after commits. An idle connection would be kept for longer than this passes. */
async function noTimerIsLeft(): Promise<void> {
  let passedMs = 0
  await until('no timer is left of it', () => {
    if (gateway.clock.waiting === BACKGROUND_TIMERS) return true
    if (passedMs < 2000) gateway.clock.advance(100)
    passedMs += 100
    return false
  })
}

/** The error of a reply, after checking its envelope in the dialect of the route. */
async function errorOf(response: Response, { isMessages }: Lane) {
  const body = (await response.clone().json()) as { type?: string }
  const { code, type } = await refusalOf(response)
  expect(body.type).toBe(isMessages ? 'error' : undefined)
  const { headers } = response
  return { code, type, shouldRetry: headers.get('x-should-retry'), retryAfter: headers.get('retry-after') }
}

async function* textOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const piece of response.body!) yield decoder.decode(piece, { stream: true })
}
