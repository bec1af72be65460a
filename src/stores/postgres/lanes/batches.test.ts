import { SQL } from 'bun'
import { afterEach, describe, expect, test } from 'bun:test'
import { aCharge, anId } from '../../../../test/support/ledger-builders.ts'
import { anAccountIn, problemsOf } from '../../../../test/support/postgres/books.ts'
import { aDatabase } from '../../../../test/support/postgres/databases.ts'
import { Proxy } from '../../../../test/support/postgres/proxy.ts'
import { runServer } from '../../../../test/support/postgres/run-server.ts'
import { PostgresServer } from '../../../../test/support/postgres/server.ts'
import { until } from '../../../http1/testing/until.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import { usd, ZERO, type NanoUsd } from '../../../domain/money.ts'
import type { Hold } from '../../../gateway/ports/ledger/ledger.ts'
import { Batches } from './batches.ts'
import { ANSWER_TIMEOUT_MS } from './lane-writer.ts'
import { createStepRunner } from './step-runner.ts'
import { BOOKS } from './post.ts'
import { connections } from '../database/database.ts'
import { Tariffs } from '../ledger/tariffs.ts'
import { TextHolds } from '../ledger/text-holds.ts'

const server = await runServer()
const ends: (() => unknown)[] = []

/** A node, whose connection for batches goes through a proxy. */
async function openNode(url: string, onFreed?: (accountId: number) => void, refusalsMax?: number) {
  const proxy = Proxy.to(url)
  const { openReads, connect } = connections({ url: proxy.url(url) })
  const reads = openReads()
  const batches = await Batches.open({
    connect,
    label: 'node',
    version: '1',
    ...(onFreed && { onFreed }),
    ...(refusalsMax !== undefined && { refusalsMax }),
    onClosed: () => tariffs.forget(),
  })
  const tariffs = new Tariffs(createStepRunner({ batches, reads }))
  ends.push(
    () => reads.close(),
    () => batches.close(),
    () => proxy.stop(),
  )
  const holds = new TextHolds({ batches, reads, tariffs })
  return { proxy, batches, holds }
}

/** A database with an account, and two nodes over it. */
async function setUp({
  funds = usd('5'),
  on = server!,
  refusalsMax,
}: { readonly funds?: NanoUsd; readonly on?: PostgresServer; readonly refusalsMax?: number } = {}) {
  const url = await aDatabase(on)
  const { openReads } = connections({ url })
  const reads = openReads()
  ends.push(() => reads.close())
  const [one, other] = [await openNode(url, undefined, refusalsMax), await openNode(url)]
  const accountId = await anAccountIn(reads, funds)
  const aHold = (amount: NanoUsd): Hold => ({ id: anId(), accountId, kind: 'text', amount })
  const balance = async () => {
    const [row] = await reads<{ available: bigint; reserved: bigint }[]>`
      SELECT available, reserved FROM balances WHERE account_id = ${accountId}`
    return { ...row! }
  }
  const charges = async () =>
    (await reads<{ id_key: bigint; cost: bigint }[]>`SELECT id_key, cost FROM charges ORDER BY id_key`).length
  const problems = async () => {
    await Promise.all([one.batches.close(), other.batches.close()])
    return problemsOf(reads)
  }
  return { url, reads, one, other, accountId, aHold, balance, charges, problems }
}

/** Has the database refuse charges with a code, all of them or the first ones. */
async function failCharges(sql: SQL, code: string, { times = Number.MAX_SAFE_INTEGER } = {}) {
  // A sequence also counts the tries that were undone.
  await sql.unsafe(`
    CREATE SEQUENCE tries;
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF nextval('tries') <= ${times} THEN RAISE EXCEPTION 'Not now' USING ERRCODE = '${code}'; END IF;
      RETURN new;
    END $$;
    CREATE TRIGGER fail BEFORE INSERT ON charges FOR EACH ROW EXECUTE FUNCTION fail()`)
  return {
    tries: async () => {
      const [row] = await sql<{ tries: bigint }[]>`SELECT last_value AS tries FROM tries`
      return Number(row!.tries)
    },
    // Without a lock on the table, which would meet those of the batch that is tried.
    mend: () => sql`SELECT setval('tries', ${BigInt(times)})`,
  }
}

/** Has the database leave a part out of the answers to batches. */
async function answerWithout(sql: SQL, part: number) {
  const types =
    'lane_place_v1, bigint[], text_charge_v1[], bigint, bigint, text_hold_v1[], text_hold_v1[], bigint'
  await sql.unsafe(`
    ALTER FUNCTION post_v2 RENAME TO post_all_v2;
    CREATE FUNCTION post_v2(${types})
      RETURNS TABLE (part integer, subject bigint, v0 bigint, v1 bigint, v2 bigint, v3 bigint, v4 bigint, state text)
      LANGUAGE sql AS 'SELECT * FROM post_all_v2($1, $2, $3, $4, $5, $6, $7, $8) WHERE part <> ${part}'`)
}

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

describe.skipIf(server === undefined)('batches in PostgreSQL', () => {
  test('a hold reserves its amount in PostgreSQL, and its charge takes the cost and frees the rest', async () => {
    const { one, aHold, balance, problems } = await setUp()
    const hold = aHold(usd('3'))

    const placed = await one.holds.place(hold)
    const held = await balance()
    const captured = await one.holds.capture(hold, aCharge(1))

    expect(placed).toMatchObject({ outcome: 'held', hold })
    expect(held).toEqual({ available: usd('5'), reserved: usd('3') })
    expect(captured).toEqual({ cost: usd('1'), shortfall: ZERO })
    expect(await balance()).toEqual({ available: usd('4'), reserved: ZERO })
    expect(await problems()).toEqual([])
  })

  test('a hold above the free money is refused in PostgreSQL with the money of the account', async () => {
    const { one, aHold, balance } = await setUp()
    await one.holds.place(aHold(usd('3')))

    const outcome = await one.holds.place(aHold(usd('2.000000001')))

    const money = { available: usd('2'), held: usd('3'), heldText: usd('3') }
    expect(outcome).toEqual({ outcome: 'refused', ...money })
    expect(await balance()).toEqual({ available: usd('5'), reserved: usd('3') })
  })

  test('of the holds in one batch, those that fit are placed in their order', async () => {
    const { one, aHold } = await setUp()

    const outcomes = await Promise.all(
      ['4', '2', '1', '0'].map(amount => one.holds.place(aHold(usd(amount)))),
    )

    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['held', 'refused', 'held', 'held'])
  })

  test('of 200 requests on two nodes on a balance for 10, exactly 10 are charged, and the books are right', async () => {
    const { one, other, aHold, balance, charges, problems } = await setUp({ funds: usd('10') })
    const request = async (index: number) => {
      const { holds } = [one, other][index % 2]!
      const outcome = await holds.place(aHold(usd('1')))
      if (outcome.outcome === 'held') await holds.capture(outcome.hold, aCharge(1))
      return outcome.outcome
    }

    const outcomes = await Promise.all(Array.from({ length: 200 }, (_, index) => request(index)))

    expect(outcomes.filter(outcome => outcome === 'held')).toHaveLength(10)
    expect(await charges()).toBe(10)
    expect(await balance()).toEqual({ available: ZERO, reserved: ZERO })
    expect(await problems()).toEqual([])
  })

  test('a hold that both nodes charge in PostgreSQL is charged once, and both get the same outcome', async () => {
    const { one, other, aHold, charges, problems } = await setUp()
    const hold = aHold(usd('1'))
    await one.holds.place(hold)

    const captured = await Promise.all(
      [one, other].map(({ holds }) => holds.capture(hold, aCharge(1, { tokens: 2 }))),
    )

    const both = { cost: usd('2'), shortfall: usd('1') }
    expect(captured).toEqual([both, both])
    expect(await charges()).toBe(1)
    expect(await problems()).toEqual([])
  })

  test('several charges of an account in one batch follow each other in its chains', async () => {
    const { one, aHold, balance, problems } = await setUp()
    const holds = Array.from({ length: 5 }, () => aHold(usd('1')))
    await Promise.all(holds.map(hold => one.holds.place(hold)))

    await Promise.all(
      holds.map((hold, index) => one.holds.capture(hold, aCharge(1, { tokens: index % 2 === 0 ? 1 : 0 }))),
    )

    expect(await balance()).toEqual({ available: usd('2'), reserved: ZERO })
    expect(await problems()).toEqual([])
  })

  test('texts with quotes, commas and backslashes are stored in PostgreSQL as they are', async () => {
    const { one, aHold, reads, problems } = await setUp()
    const hold = aHold(usd('1'))
    const model = String.raw`a"b\c,(d){e}'f'` + '\n\u00e9\u{1f600}'
    await one.holds.place(hold)

    await one.holds.capture(hold, aCharge(1, { model, userId: '', provider: 'null' }))

    const [row] = await reads<object[]>`SELECT model, user_id, provider, tags FROM charges`
    expect({ ...row }).toEqual({ model, user_id: '', provider: 'null', tags: null })
    expect(await problems()).toEqual([])
  })

  test('a part that the database refuses fails alone, and the rest of its batch is written', async () => {
    const { one, aHold, charges, problems } = await setUp()
    const holds = [aHold(usd('1')), aHold(usd('1')), aHold(usd('1'))]
    await Promise.all(holds.map(hold => one.holds.place(hold)))
    // PostgreSQL has no character of this number.
    const models = ['a', 'b\u0000', 'c']

    const outcomes = await Promise.allSettled(
      holds.map((hold, index) => one.holds.capture(hold, aCharge(1, { model: models[index]! }))),
    )

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(outcomes[1]).toMatchObject({ reason: { code: 'unavailable' } })
    expect(await charges()).toBe(2)
    expect(await problems()).toEqual([])
  })
})

describe.skipIf(server === undefined)('a batch in PostgreSQL that is not answered', () => {
  async function setUpWithHold(options: Parameters<typeof setUp>[0] = {}) {
    const opened = await setUp(options)
    const hold = opened.aHold(usd('2'))
    await opened.one.holds.place(hold)
    // The tariff is written now, so that the charge is the next batch.
    const free = opened.aHold(ZERO)
    await opened.one.holds.place(free)
    await opened.one.holds.capture(free, aCharge(1, { tokens: 0 }))
    return { ...opened, hold }
  }

  test('a charge that was committed, but not answered, is charged once, and its caller gets the outcome', async () => {
    const { one, hold, balance, charges, problems } = await setUpWithHold()
    one.proxy.answers = 'lost'
    const capture = one.holds.capture(hold, aCharge(1))
    while ((await charges()) < 2) await Promise.resolve()

    one.proxy.cut()
    one.proxy.heal()

    expect(await capture).toEqual({ cost: usd('1'), shortfall: ZERO })
    expect(await charges()).toBe(2)
    expect(await balance()).toEqual({ available: usd('4'), reserved: ZERO })
    expect(await problems()).toEqual([])
  })

  test('a charge that did not reach the database is written when it answers again', async () => {
    const { one, hold, charges, problems } = await setUpWithHold()
    one.proxy.requests = 'lost'
    const capture = one.holds.capture(hold, aCharge(1))
    await new Promise(resolve => setImmediate(resolve))

    one.proxy.cut()
    one.proxy.heal()

    expect(await capture).toEqual({ cost: usd('1'), shortfall: ZERO })
    expect(await charges()).toBe(2)
    expect(await problems()).toEqual([])
  })

  test('a charge whose answer cannot be read is charged once, and its caller gets the outcome', async () => {
    const { one, reads, hold, charges, problems } = await setUpWithHold()
    await answerWithout(reads, BOOKS)

    const captured = await one.holds.capture(hold, aCharge(1))

    expect(captured).toEqual({ cost: usd('1'), shortfall: ZERO })
    expect(await charges()).toBe(2)
    expect(await problems()).toEqual([])
  })

  test('row ids are not given again after an answer that could not be read', async () => {
    const { one, other, reads, aHold, hold, charges, problems } = await setUpWithHold()
    await answerWithout(reads, BOOKS)
    await one.holds.capture(hold, aCharge(1))
    const next = aHold(usd('1'))
    await one.holds.place(next)

    await one.holds.capture(next, aCharge(1))
    await other.holds.place(aHold(ZERO))

    expect(await charges()).toBe(3)
    expect(await problems()).toEqual([])
  })

  test('a charge that cannot be a row is refused at once, and the rest of its batch is written', async () => {
    const { one, aHold, accountId, charges, problems } = await setUpWithHold()
    const [good, bad] = [aHold(ZERO), aHold(ZERO)]
    await Promise.all([good, bad].map(hold => one.holds.place(hold)))
    const before = await charges()

    const outcomes = await Promise.allSettled([
      one.batches.charge({ hold: { ...good, accountId }, charge: aCharge(1), tariffId: null }),
      one.batches.charge({ hold: bad, charge: { ...aCharge(1), usage: undefined } as never, tariffId: null }),
    ])

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(await charges()).toBe(before + 1)
    expect(await problems()).toEqual([])
  })

  test('parts of a refused batch whose answers cannot be read are written once, and the bad one fails alone', async () => {
    const { one, reads, aHold, charges, problems } = await setUpWithHold()
    const holds = [aHold(usd('1')), aHold(usd('1')), aHold(usd('1'))]
    await Promise.all(holds.map(placed => one.holds.place(placed)))
    const before = await charges()
    await answerWithout(reads, BOOKS)

    const outcomes = await Promise.allSettled(
      holds.map((placed, index) =>
        one.holds.capture(placed, aCharge(1, { model: ['a', 'b\u0000', 'c'][index]! })),
      ),
    )

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await charges()).toBe(before + 2)
    expect(await problems()).toEqual([])
  })

  test('a lane goes on after the last row id that is stored, whatever the node remembers', async () => {
    const { one, reads, hold, problems } = await setUpWithHold()
    await until(
      'the lane is sealed',
      async () => (await reads`SELECT FROM lanes WHERE sealed_id < last_id`).length === 0,
    )
    const [lane] = await reads<{ last_id: bigint }[]>`
      UPDATE lanes SET last_id = last_id + 100 WHERE number = ${one.batches.lane} RETURNING last_id`

    await one.holds.capture(hold, aCharge(1))

    const [charge] = await reads<{ id: bigint }[]>`SELECT max(id) AS id FROM charges`
    expect(charge!.id).toBeGreaterThan(lane!.last_id)
    expect(await problems()).toEqual([])
  })

  test('a charge waits while the disk of the server is full, and new holds are refused until it is written', async () => {
    const { reads, one, aHold, hold, charges, problems } = await setUpWithHold()
    const { tries, mend } = await failCharges(reads, '53100')
    const before = await charges()
    let isWritten = false
    const capture = one.holds.capture(hold, aCharge(1)).finally(() => (isWritten = true))
    await until('the node knows', () => !one.batches.isWritable)
    const refused = await rejection(one.holds.place(aHold(usd('1'))))
    const seen = new Set<boolean>()

    await until('it was tried again', async () => seen.add(one.batches.isWritable) && (await tries()) > 2)
    await mend()
    await until('it is written', () => (isWritten ? true : seen.add(one.batches.isWritable) && false))

    expect([...seen]).toEqual([false])
    expect(one.batches.isWritable).toBe(true)
    expect(refused).toMatchObject({ code: 'unavailable' })
    expect(await capture).toEqual({ cost: usd('1'), shortfall: ZERO })
    expect(await charges()).toBe(before + 1)
    expect(await problems()).toEqual([])
  })

  test.each([
    ['a missing right', '42501'],
    ['a missing column', '42703'],
    ['a damaged index', 'XX002'],
    ['a trigger', 'P0001'],
  ])(
    'while %s makes the database refuse every charge, charges wait and new holds are refused',
    async (_, code) => {
      const { reads, one, aHold, hold, charges, problems } = await setUpWithHold()
      const before = await charges()
      const { tries, mend } = await failCharges(reads, code)
      const capture = one.holds.capture(hold, aCharge(1))
      await until('it was tried again', async () => (await tries()) > 1)

      const refused = await rejection(one.holds.place(aHold(ZERO)))
      const isWritable = one.batches.isWritable
      await mend()

      expect(refused).toMatchObject({ code: 'unavailable' })
      expect(isWritable).toBe(false)
      expect(await capture).toEqual({ cost: usd('1'), shortfall: ZERO })
      expect(one.batches.isWritable).toBe(true)
      expect(await charges()).toBe(before + 1)
      expect(await problems()).toEqual([])
    },
  )

  test('if the database refuses three charges in a row as unfit, the next one waits, and new holds are refused', async () => {
    const { reads, one, aHold, charges, problems } = await setUpWithHold()
    const before = await charges()
    const holds = Array.from({ length: 5 }, () => aHold(ZERO))
    await Promise.all(holds.map(placed => one.holds.place(placed)))
    const [first, second, third, waiting, released] = holds as [Hold, Hold, Hold, Hold, Hold]
    const { tries, mend } = await failCharges(reads, '23514')

    const refused = []
    for (const each of [first, second, third])
      refused.push(await rejection(one.holds.capture(each, aCharge(1))))
    const wasWritable = one.batches.isWritable
    const capture = one.holds.capture(waiting, aCharge(1))
    await until('the node knows', () => !one.batches.isWritable)
    const tried = await tries()
    // Writes of other kinds prove nothing.
    await one.holds.release(released)
    await until('it was tried again', async () => (await tries()) > tried)
    const place = await rejection(one.holds.place(aHold(ZERO)))
    await mend()

    for (const error of [...refused, place]) expect(error).toMatchObject({ code: 'unavailable' })
    expect(wasWritable).toBe(true)
    expect(await capture).toEqual({ cost: usd('1'), shortfall: usd('1') })
    expect(one.batches.isWritable).toBe(true)
    expect(await charges()).toBe(before + 1)
    expect(await problems()).toEqual([])
  })

  test('an unfit charge that was tried for long is refused, and new holds are placed', async () => {
    const { one, aHold, charges, problems } = await setUpWithHold({ refusalsMax: 2 })
    const before = await charges()
    const holds = Array.from({ length: 4 }, () => aHold(ZERO))
    await Promise.all(holds.map(placed => one.holds.place(placed)))
    const unfit = (hold: Hold) => rejection(one.holds.capture(hold, aCharge(1, { model: 'b\u0000' })))

    const refused = []
    for (const hold of holds) refused.push(await unfit(hold))
    await until('the node sells again', () => one.batches.isWritable)
    const placed = await one.holds.place(aHold(ZERO))

    for (const error of refused) expect(error).toMatchObject({ code: 'unavailable' })
    expect(placed.outcome).toBe('held')
    expect(await charges()).toBe(before)
    expect(await problems()).toEqual([])
  })

  test('an unfit charge that waited is refused alone when another one is written', async () => {
    const { one, aHold, charges, problems } = await setUpWithHold()
    const before = await charges()
    const holds = Array.from({ length: 5 }, () => aHold(ZERO))
    await Promise.all(holds.map(placed => one.holds.place(placed)))
    const [good, ...bad] = holds as [Hold, ...Hold[]]
    const unfit = (hold: Hold) => rejection(one.holds.capture(hold, aCharge(1, { model: 'b\u0000' })))
    for (const hold of bad.slice(1)) await unfit(hold)
    const waiting = unfit(bad[0]!)
    await until('the node knows', () => !one.batches.isWritable)

    const captured = await one.holds.capture(good, aCharge(1))

    expect(captured).toEqual({ cost: usd('1'), shortfall: usd('1') })
    expect(await waiting).toMatchObject({ code: 'unavailable' })
    expect(one.batches.isWritable).toBe(true)
    expect(await charges()).toBe(before + 1)
    expect(await problems()).toEqual([])
  })

  test.each([
    ['a missing right', '42501'],
    ['a damaged index', 'XX002'],
  ])('a step that is refused for %s fails alone, and charges and new holds go on', async (_, code) => {
    const { one, aHold, hold } = await setUpWithHold()
    const refuse = (canWait: boolean) =>
      rejection(
        one.batches.run(({ sql }) => sql.unsafe(`DO $$ BEGIN RAISE 'No' USING ERRCODE = '${code}'; END $$`), {
          canWait,
        }),
      )

    const refused = await Promise.all([refuse(true), refuse(false)])
    const captured = await one.holds.capture(hold, aCharge(1))

    for (const error of refused) expect(error).toMatchObject({ errno: code })
    expect(captured).toEqual({ cost: usd('1'), shortfall: ZERO })
    expect(one.batches.isWritable).toBe(true)
    expect((await one.holds.place(aHold(ZERO))).outcome).toBe('held')
  })

  test.each([
    ['waited for another one that waited for it', '40P01'],
    ['changed a row at the same time as another one', '40001'],
    ['did not get a lock in time', '55P03'],
  ])('a charge whose batch %s is written by the next attempt', async (_, code) => {
    const { reads, one, hold, charges, problems } = await setUpWithHold()
    const before = await charges()
    const { tries } = await failCharges(reads, code, { times: 1 })

    const captured = await one.holds.capture(hold, aCharge(1))

    expect(captured).toEqual({ cost: usd('1'), shortfall: ZERO })
    expect(await tries()).toBe(2)
    expect(await charges()).toBe(before + 1)
    expect(await problems()).toEqual([])
  })

  test('a charge that other transactions always overtake waits, and is written when they end', async () => {
    const { reads, one, aHold, hold, problems } = await setUpWithHold()
    const { tries, mend } = await failCharges(reads, '40P01')
    const capture = one.holds.capture(hold, aCharge(1))
    await until('it was tried often', async () => (await tries()) > 3)

    const refused = await rejection(one.holds.place(aHold(ZERO)))
    await mend()

    expect(refused).toMatchObject({ code: 'unavailable' })
    expect(await capture).toEqual({ cost: usd('1'), shortfall: ZERO })
    expect(await problems()).toEqual([])
  })

  test('a charge of a month without a partition waits, new holds are refused, and it is written with the partition', async () => {
    const { reads, one, other, aHold, hold, charges, problems } = await setUpWithHold()
    const before = await charges()
    const later = { ...aHold(usd('1')), id: { key: BigInt(Date.UTC(2100, 0, 15)) << 16n, tail: 1n } }
    await one.holds.place(later)
    const capture = one.holds.capture(later, aCharge(1))
    await until('the node knows', () => !one.batches.isWritable)

    const waiting = one.holds.capture(hold, aCharge(1))
    const refused = await rejection(one.holds.place(aHold(ZERO)))
    const placed = await other.holds.place(aHold(ZERO))
    const written = await charges()
    for (const table of ['charges', 'operations'])
      await reads.unsafe(`CREATE TABLE ${table}_2100_01 PARTITION OF ${table}
        FOR VALUES FROM (${BigInt(Date.UTC(2100, 0, 1)) << 16n}) TO (${BigInt(Date.UTC(2100, 1, 1)) << 16n})`)

    expect(refused).toMatchObject({ code: 'unavailable' })
    expect(placed.outcome).toBe('held')
    expect(written).toBe(before)
    const cost = { cost: usd('1'), shortfall: ZERO }
    expect(await Promise.all([capture, waiting])).toEqual([cost, cost])
    expect(one.batches.isWritable).toBe(true)
    expect(await charges()).toBe(before + 2)
    expect(await problems()).toEqual([])
  })

  test('if the network holds all bytes, holds are refused, charges wait, and another node goes on', async () => {
    const { one, other, aHold, hold, balance, problems } = await setUpWithHold()
    one.proxy.requests = 'held'
    one.proxy.answers = 'held'
    const capture = one.holds.capture(hold, aCharge(1))

    // While the network holds them.
    const [refused, placed] = await Promise.all([
      rejection(one.holds.place(aHold(usd('1')))),
      other.holds.place(aHold(usd('1'))),
    ])
    const atOnce = await rejection(one.holds.place(aHold(usd('1'))))
    one.proxy.heal()

    expect([refused, atOnce]).toMatchObject([{ code: 'unavailable' }, { code: 'unavailable' }])
    expect(ANSWER_TIMEOUT_MS).toBeLessThan(3000)
    expect(placed.outcome).toBe('held')
    expect(await capture).toEqual({ cost: usd('1'), shortfall: ZERO })
    expect(await balance()).toEqual({ available: usd('4'), reserved: usd('1') })
    expect(await problems()).toEqual([])
  })

  test('a hold that was placed but not answered is ended, because its request was refused', async () => {
    const { one, aHold, hold, balance, reads } = await setUpWithHold()
    await one.holds.release(hold)
    one.proxy.answers = 'lost'
    const refused = rejection(one.holds.place(aHold(usd('1'))))
    while ((await balance()).reserved === 0n) await Promise.resolve()

    one.proxy.cut()
    one.proxy.heal()

    expect(await refused).toMatchObject({ code: 'unavailable' })
    await one.holds.release(hold)
    expect(await balance()).toEqual({ available: usd('5'), reserved: ZERO })
    expect(await reads`SELECT * FROM text_holds`).toHaveLength(0)
  })

  test('a node whose lane was taken writes its charge on another lane, once', async () => {
    const { url, one, hold, reads, charges, problems } = await setUpWithHold()
    const before = one.batches.lane
    // The node is silent after it sealed its lane.
    const take = () =>
      reads`UPDATE lanes SET seen_at_ms = 0 WHERE number = ${before} AND sealed_id = last_id RETURNING number`
    while ((await take()).length === 0) await Promise.resolve()
    const third = await openNode(url)

    const captured = await one.holds.capture(hold, aCharge(1))

    expect(captured).toEqual({ cost: usd('1'), shortfall: ZERO })
    expect(third.batches.lane).toBe(before)
    expect(one.batches.lane).not.toBe(before)
    await third.batches.close()
    expect(await charges()).toBe(2)
    expect(await problems()).toEqual([])
  })

  test('a database that lost batches after a failover stops paid work, and names the batches', async () => {
    const { one, hold, aHold, reads } = await setUpWithHold()
    const [lane] = await reads<{ batch: bigint }[]>`
      UPDATE lanes SET batch = batch - 2 WHERE number = ${one.batches.lane} RETURNING batch`

    const error = await rejection(one.holds.capture(hold, aCharge(1)))
    const later = await rejection(one.holds.place(aHold(ZERO)))

    expect(error).toMatchObject({ code: 'books_inconsistent' })
    expect(later).toMatchObject({ code: 'books_inconsistent' })
    const missing = `the batches ${lane!.batch + 1n} to ${lane!.batch + 2n} of epoch 1 of lane ${one.batches.lane}`
    expect(String((error as Error).cause)).toContain(missing)
  })

  test('a charge after a failover that lost the tariff which another node wrote names a new row of it', async () => {
    const { url, one, other, reads, aHold, hold } = await setUpWithHold()
    const free = aHold(ZERO)
    await other.holds.place(free)
    await other.holds.capture(free, aCharge(1, { tokens: 0 }))
    const sql = new SQL({ url, max: 1 })
    await sql`SET session_replication_role = replica`
    await sql`DELETE FROM tariffs`
    await sql.close()
    other.proxy.cut()
    await until('the node is connected again', async () => {
      const placed = await other.holds.place(aHold(ZERO)).catch(() => undefined)
      return placed?.outcome === 'held'
    })

    await other.holds.capture(hold, aCharge(1))

    const rows = await reads<object[]>`
      SELECT cost FROM charges JOIN tariffs ON tariffs.id = tariff_id WHERE cost > 0`
    expect(rows).toHaveLength(1)
    expect(one.batches.isWritable).toBe(true)
  })

  test.each([
    ['an earlier epoch of its lane', 'UPDATE lanes SET epoch = epoch - 1'],
    ['no such lane', 'UPDATE lanes SET number = number + 100'],
  ])(
    'a database that has %s after a failover stops paid work and names what it lost',
    async (_, failover) => {
      const { url, one, hold } = await setUpWithHold()
      const sql = new SQL({ url, max: 1 })
      await sql.unsafe(failover)
      await sql.close()

      const error = await rejection(one.holds.capture(hold, aCharge(1)))

      expect(error).toMatchObject({ code: 'books_inconsistent' })
      expect(one.batches.lost).toMatch(/^The database lost the batches 1 to \d+ of epoch 1 of lane \d+,/)
    },
  )

  test('a step that is not answered is refused, and one that can wait is written after the network heals', async () => {
    const { one } = await setUpWithHold()
    const lanes = async ({ sql }: { readonly sql: SQL }) => {
      const rows = await sql<object[]>`SELECT number FROM lanes`
      return rows.length
    }
    one.proxy.requests = 'held'
    one.proxy.answers = 'held'
    const waiting = one.batches.run(lanes, { canWait: true })

    const refused = await rejection(one.batches.run(lanes))
    one.proxy.heal()

    expect(refused).toMatchObject({ code: 'unavailable' })
    expect(await waiting).toBe(2)
  })

  test('a step that was committed after its caller was refused still does what follows its commit', async () => {
    const { one, reads } = await setUpWithHold()
    const hidden = async ({ sql }: { readonly sql: SQL }) => {
      await sql`INSERT INTO access_changes DEFAULT VALUES`
      one.proxy.answers = 'lost'
      return 'written'
    }
    const heard: string[] = []

    const refused = await rejection(
      one.batches.run(hidden, { canWait: false, committed: result => heard.push(result) }),
    )
    const before = [...heard]
    one.proxy.heal()
    await until('the node knows', () => heard.length > 0)

    expect(refused).toMatchObject({ code: 'unavailable' })
    expect([before, heard]).toEqual([[], ['written']])
    expect(await reads`SELECT * FROM access_changes`).toHaveLength(1)
  })

  test('a step that can wait, and whose connection is always lost, fails in the end, and other work goes on', async () => {
    const { one, hold } = await setUpWithHold()
    let runs = 0
    const lost = async ({ sql }: { readonly sql: SQL }) => {
      runs += 1
      await sql`SELECT pg_terminate_backend(pg_backend_pid())`
    }

    const failing = rejection(one.batches.run(lost, { canWait: true }))
    const captured = await one.holds.capture(hold, aCharge(1))

    expect(await failing).toMatchObject({ code: 'unavailable' })
    expect(runs).toBe(5)
    expect(captured).toEqual({ cost: usd('1'), shortfall: ZERO })
  })

  test('a step waits for a turn that another node has for long, and the requests of its node go on', async () => {
    const { url, one, aHold } = await setUpWithHold()
    const holder = new SQL({ url, max: 1 })
    ends.push(() => holder.close())
    const turn = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const holding = holder.begin(async sql => {
      await sql`SELECT pg_advisory_xact_lock(1953459044, 3)`
      held.resolve()
      await turn.promise
    })
    await held.promise
    const tried = { count: 0 }
    const step = one.batches.run(async ({ sql }) => {
      tried.count += 1
      await sql`SELECT pg_advisory_xact_lock(1953459044, 3)`
      return 'done'
    })
    const outcomes = new Set<string>()

    // They take longer than a database may take to answer.
    while (tried.count < 15) outcomes.add((await one.holds.place(aHold(ZERO))).outcome)
    turn.resolve()
    await holding

    expect([...outcomes]).toEqual(['held'])
    expect(await step).toBe('done')
  })

  test('a listener that throws neither refuses a charge nor stops the node', async () => {
    const { url, accountId, aHold } = await setUp()
    const node = await openNode(url, freed => {
      throw new Error(`No listener for account ${freed}`)
    })
    const holds = [aHold(usd('1')), aHold(usd('1'))]

    const captured = []
    for (const hold of holds) {
      await node.holds.place({ ...hold, accountId })
      captured.push(await node.holds.capture(hold, aCharge(1)))
    }

    const cost = { cost: usd('1'), shortfall: ZERO }
    expect(captured).toEqual([cost, cost])
  })

  test('a node that is cut off inside a step soon loses its locks, and other nodes use its account', async () => {
    const { one, other, aHold, hold } = await setUpWithHold()
    const locked = Promise.withResolvers<void>()
    const cutOff = one.batches.run(async ({ sql }) => {
      await sql`SELECT FROM balances WHERE account_id = ${hold.accountId} FOR NO KEY UPDATE`
      one.proxy.requests = 'held'
      locked.resolve()
      await sql`SELECT 1`
    })
    const refused = rejection(cutOff)
    await locked.promise

    const placed = await other.holds.place(aHold(usd('1')))
    one.proxy.heal()

    expect(placed.outcome).toBe('held')
    expect(await refused).toMatchObject({ code: 'unavailable' })
  })

  test('the database ends the statements and the pauses of a frozen step in less than a second together', async () => {
    const { one } = await setUpWithHold()

    const limitMs = await one.batches.run(async ({ sql }) => {
      const rows = await sql<
        { name: string; ms: bigint }[]
      >`SELECT name, setting::bigint AS ms FROM pg_settings
        WHERE name IN ('lock_timeout', 'idle_in_transaction_session_timeout') ORDER BY name`
      return Object.fromEntries(rows.map(({ name, ms }) => [name, Number(ms)]))
    })

    // The rest of the second is for the work of a request that waited.
    expect(limitMs).toEqual({ idle_in_transaction_session_timeout: 500, lock_timeout: 250 })
  })

  /** Reads until the database has ended the transactions of nodes that were too slow. */
  const endedIdle = (reads: SQL) =>
    until('the database ended the transaction', async () => {
      const idle = await reads<object[]>`SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'idle in transaction'`
      return idle.length === 0
    })

  test('a step whose node was slow is undone and done again, and the node refuses nothing', async () => {
    const { one, aHold, reads } = await setUpWithHold()
    let runs = 0
    const step = one.batches.run(async ({ sql }) => {
      runs += 1
      // This process may stand still during the second run.
      if (runs > 1) await sql`SELECT set_config('idle_in_transaction_session_timeout', '0', true)`
      await sql`SELECT 1`
      if (runs === 1) await endedIdle(reads)
      await sql`SELECT 1`
      return runs
    })

    const [run, placed] = await Promise.all([step, one.holds.place(aHold(usd('1')))])

    expect(run).toBe(2)
    expect(placed.outcome).toBe('held')
  })

  test('a step that is too slow each time is refused, and the node goes on', async () => {
    const { one, aHold, reads } = await setUpWithHold()
    let runs = 0

    const refused = await rejection(
      one.batches.run(async ({ sql }) => {
        runs += 1
        await sql`SELECT 1`
        await endedIdle(reads)
        await sql`SELECT 1`
      }),
    )
    const placed = await one.holds.place(aHold(usd('1')))

    expect(refused).toMatchObject({ code: 'unavailable' })
    expect(runs).toBe(3)
    expect(placed.outcome).toBe('held')
  })

  test('after crashes of the database under load, each acknowledged charge exists once', async () => {
    const own = await PostgresServer.start(server!.major, 'memory')
    const { one, other, aHold, reads, problems } = await setUp({ funds: usd('1000'), on: own })
    const acknowledged: bigint[] = []
    const ending = new AbortController()
    const client = async (index: number) => {
      const { holds } = [one, other][index % 2]!
      while (!ending.signal.aborted) {
        const hold = aHold(usd('0.01'))
        const placed = await holds.place(hold).catch(() => undefined)
        if (placed?.outcome !== 'held') await new Promise(resolve => setImmediate(resolve))
        else {
          await holds.capture(hold, aCharge(1, { cost: usd('0.001') }))
          acknowledged.push(hold.id.key)
        }
      }
    }
    const clients = Array.from({ length: 16 }, (_, index) => client(index))

    for (let crashes = 1; crashes <= 2; crashes += 1) {
      const enough = acknowledged.length + 100
      while (acknowledged.length < enough) await new Promise(resolve => setImmediate(resolve))
      await own.crash()
      await own.restart()
    }
    ending.abort()
    await Promise.all(clients)

    const rows = await reads<{ id_key: bigint }[]>`SELECT id_key FROM charges`
    expect(rows).toHaveLength(acknowledged.length)
    expect(new Set(rows.map(({ id_key: key }) => key))).toEqual(new Set(acknowledged))
    expect(await problems()).toEqual([])
    await own.crash()
  })
})
