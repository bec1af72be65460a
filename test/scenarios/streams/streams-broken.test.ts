import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chunk, closeDelimited, EVENT_STREAM, sse } from '../../support/upstream-replies.ts'
import type { Exchange, Reply } from '../../support/upstream.ts'
import { startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'
import { openedStream, restOf, settledStream, settlementOf, type Settlement } from './settled-stream.ts'
import {
  BROKE_OFF,
  COST_OF_HEL,
  costed,
  delta,
  DONE,
  ERROR,
  FINISH,
  HEL,
  LO,
  madeUsage,
  renamed,
  ROLE,
  STOPPED_SENDING,
  TEN_IN_FIVE_OUT,
  usage,
  withoutHeartbeats,
} from '../../support/stream-frames.ts'
import { until } from '../../support/until.ts'

const IDLE_MS = 60_000

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway()
})
afterAll(() => gateway.stop())

const half = HEL + LO.slice(0, 40)
const cutInCharacter = new TextEncoder().encode(HEL + delta({ content: '漢' })).slice(0, -60)
const usageSoFar = delta({ content: 'Hel' }, 0, { usage: TEN_IN_FIVE_OUT })
const inputSoFar = delta({ role: 'assistant', content: '' }, 0, {
  usage: { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 },
})
const estimated: Settlement = { cost_usd: COST_OF_HEL, source: 'estimated', is_clamped: false }
const reported: Settlement = { cost_usd: '0.00007', source: 'reported', is_clamped: false }

type Row = {
  readonly reply: Reply
  /** The frames before the error. */
  readonly relayed: string
  /** The frames with include_usage. */
  readonly shown?: string
  /** If the upstream sent the error itself, the relayed frames contain it. */
  readonly isErrorRelayed?: boolean
  readonly charge: Settlement | null
}

const rows: Readonly<Record<string, Row>> = {
  'whose body ends too early': { reply: sse([ROLE + HEL]), relayed: ROLE + HEL, charge: estimated },
  'whose body ends too early within a frame': { reply: sse([half]), relayed: HEL, charge: estimated },
  'without a length, whose connection closes too early': {
    reply: closeDelimited(ROLE + HEL, EVENT_STREAM),
    relayed: ROLE + HEL,
    charge: estimated,
  },
  'with an error in a frame': {
    reply: sse([HEL + ERROR]),
    relayed: HEL + ERROR,
    isErrorRelayed: true,
    charge: estimated,
  },
  'with an error in a frame and [DONE] after it': {
    reply: sse([HEL + ERROR + DONE]),
    relayed: HEL + ERROR,
    isErrorRelayed: true,
    charge: estimated,
  },
  'after a chunk with the usage': {
    reply: sse([usageSoFar]),
    relayed: usageSoFar,
    charge: reported,
  },
  'after its usage frame': {
    reply: sse([HEL + usage()]),
    relayed: HEL + usage(),
    shown: costed(HEL + usage(), '0.00007'),
    charge: reported,
  },
  'with one of two choices unfinished and no [DONE]': {
    reply: sse([HEL + delta({ content: 'Hi' }, 1)]),
    relayed: HEL + delta({ content: 'Hi' }, 1),
    charge: { ...estimated, cost_usd: '0.00003' },
  },
  'before any output': { reply: sse([ROLE]), relayed: ROLE, charge: null },
  'before any output, after a usage without output': {
    reply: sse([inputSoFar]),
    relayed: inputSoFar,
    charge: null,
  },
  'after a heartbeat': { reply: sse([': ping\n\n']), relayed: ': ping\n\n', charge: null },
}

describe.each(Object.entries(rows))('a stream that broke, %s', (_, row) => {
  const { reply, relayed, isErrorRelayed = false, charge } = row
  const ending = isErrorRelayed ? '' : BROKE_OFF

  test('a stream that broke is forwarded up to the break, with an error and without [DONE], and is charged for that', async () => {
    const stream = await settledStream(gateway, reply)

    expect(stream).toMatchObject({ status: 200, body: relayed + ending, charge })
  })

  test('a stream that broke has no cost in its frames with include_usage', async () => {
    const stream = await settledStream(gateway, reply, { includeUsage: true })

    expect(stream).toMatchObject({ status: 200, body: (row.shown ?? renamed(relayed)) + ending, charge })
  })
})

const breaks = {
  'cut between two frames': [HEL, exchange => exchange.end()],
  'cut within a frame': [half, exchange => exchange.end()],
  'cut within a character': [cutInCharacter, exchange => exchange.end()],
  'reset between two frames': [HEL, exchange => exchange.reset()],
  'reset within a frame': [half, exchange => exchange.reset()],
  'with broken framing': [HEL, exchange => void exchange.write('not a length\r\n')],
  'cut after its role': [ROLE, exchange => exchange.end()],
  'reset after its role': [ROLE, exchange => exchange.reset()],
} as const satisfies Record<string, readonly [string | Uint8Array, (exchange: Exchange) => void]>

describe.each(Object.entries(breaks))('a connection that is %s', (_, [sent, breakIt]) => {
  test.each([false, true])(
    'a connection that is cut ends the stream with an error, with include_usage %p',
    async includeUsage => {
      const { account, exchange, reader, first } = await openedStream(gateway, sent, { includeUsage })

      breakIt(exchange)
      const body = first + (await restOf(reader))

      const relayed = sent === ROLE ? ROLE : HEL
      expect(body).toBe((includeUsage ? renamed(relayed) : relayed) + BROKE_OFF)
      expect(await settlementOf(gateway, account)).toEqual(sent === ROLE ? null : estimated)
    },
  )
})

test.each([false, true])(
  'a connection that breaks after every choice has finished is not an error, with include_usage %p',
  async includeUsage => {
    const sent = HEL + FINISH
    const { account, exchange, reader, first } = await openedStream(gateway, sent, { includeUsage })

    exchange.reset()
    const body = first + (await restOf(reader))

    expect(body).toBe(includeUsage ? renamed(sent) + madeUsage(5, 1, COST_OF_HEL) + DONE : sent)
    expect(await settlementOf(gateway, account)).toEqual(estimated)
  },
)

test.each([false, true])(
  'an error of the upstream before any output is free, with include_usage %p',
  async includeUsage => {
    const { account, exchange, reader, first } = await openedStream(gateway, ROLE, { includeUsage })

    await exchange.write(chunk(ERROR + DONE))
    const body = first + (await restOf(reader))

    expect(body).toBe((includeUsage ? renamed(ROLE) : ROLE) + ERROR)
    expect(await settlementOf(gateway, account)).toBeNull()
  },
)

test.each([
  ['after output', HEL, false],
  ['after output, with include_usage', HEL, true],
  ['after only its role', ROLE, false],
  ['within a frame', half, false],
])(
  'a stream that goes silent %s ends with an error, and the upstream call is aborted',
  async (_, sent, includeUsage) => {
    const { account, exchange, reader, first } = await openedStream(gateway, sent, { includeUsage })
    let rest: string | undefined
    void restOf(reader).then(text => (rest = text))

    await until('the silence is over', () => {
      gateway.clock.advance(IDLE_MS)
      return rest !== undefined
    })

    const relayed = sent === half ? HEL : sent
    expect(first + withoutHeartbeats(rest!)).toBe(
      (includeUsage ? renamed(relayed) : relayed) + STOPPED_SENDING,
    )
    expect(await settlementOf(gateway, account)).toEqual(sent === ROLE ? null : estimated)
    await exchange.closed
  },
)

test('a slow stream that is not silent continues', async () => {
  const { exchange, reader, first } = await openedStream(gateway, ROLE)
  let body = first

  for (const part of [HEL, LO]) {
    const next = reader.read()
    gateway.clock.advance(IDLE_MS - 1)
    await exchange.write(chunk(part))
    body += new TextDecoder().decode((await next).value)
  }
  await exchange.write(chunk(DONE))
  body += await restOf(reader)

  expect(body).toBe(ROLE + HEL + LO + DONE)
})
