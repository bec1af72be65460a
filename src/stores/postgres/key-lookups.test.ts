import type { SQL } from 'bun'
import { afterEach, describe, expect, test } from 'bun:test'
import { at, base64, make, makeKey, makeWithKey, REVOKED } from '../../../test/support/account-builders.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { NOW } from '../../../test/support/ledger-builders.ts'
import { aDatabase } from '../../../test/support/postgres/databases.ts'
import { Proxy } from '../../../test/support/postgres/proxy.ts'
import { runServer } from '../../../test/support/postgres/run-server.ts'
import { aNode } from '../../../test/support/postgres/a-node.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { turn } from '../../../test/support/turn.ts'
import type { GatewayError } from '../../domain/errors.ts'
import { KeptKeys } from '../books/access/kept-keys.ts'
import { connections } from './database/database.ts'
import { KeyLookups, watchOf } from './key-lookups.ts'
import { Poll } from './database/poll.ts'

const server = await runServer()
/** The locks that something in this database waits for. */
const WAITING = `
  SELECT FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** A node, and the look-ups of another one, which polls when a test says so. */
async function setUp() {
  const url = await aDatabase(server!)
  const clock = fakeClock()
  const node = await aNode(url, 'node', clock)
  const { connect, openReads } = connections({ url })
  const reads = openReads()
  const begun = { count: 0 }
  const connectToRead = () => countBegins(connect(), begun)
  const kept = new KeptKeys()
  const poll = new Poll({ connect, clock, watches: [watchOf(kept)] })
  const other = new KeyLookups({ connect: connectToRead, clock, kept, poll })
  ends.push(
    () => node.close(),
    () => reads.close(),
    () => poll.close(),
    () => other.close(),
  )
  await poll.once()
  return { clock, node, reads, poll, other, begun }
}

function countBegins(sql: SQL, begun: { count: number }): SQL {
  const begin = sql.begin.bind(sql) as (...args: readonly unknown[]) => Promise<unknown>
  return Object.assign(sql, {
    begin(...args: readonly unknown[]) {
      begun.count += 1
      return begin(...args)
    },
  })
}

const anUnknownHash = () => base64(crypto.getRandomValues(new Uint8Array(32)))

describe.skipIf(server === undefined)('keys on many nodes', () => {
  test('a key in use needs no database until a poll sees that another node revoked it', async () => {
    const { clock, node, poll, other, begun } = await setUp()
    const { apiKey, hash } = await makeWithKey(node)
    await poll.once()
    const before = [await other.find(hash), await other.find(hash)]
    const readsOfTwo = begun.count
    await node.apiKeys.update(apiKey.publicId, REVOKED, at(NOW))
    const unseen = await other.find(hash)

    clock.advance(500)
    await poll.once()
    const after = await other.find(hash)

    expect([...before, unseen].map(found => found?.apiKey)).toEqual([apiKey, apiKey, apiKey])
    expect(readsOfTwo).toBe(1)
    expect(after).toBeUndefined()
  })

  test('keys are read for each request if no poll succeeded for a second', async () => {
    const { clock, node, reads, other, begun } = await setUp()
    const { apiKey, hash } = await makeWithKey(node)
    await other.find(hash)
    clock.advance(999)
    await other.find(hash)
    const readsBefore = begun.count

    clock.advance(1)
    const known = await other.find(hash)
    await reads`UPDATE api_keys SET revoked_at_ms = 1 WHERE id = ${apiKey.id}`
    const revoked = await other.find(hash)

    expect(readsBefore).toBe(1)
    expect(known?.apiKey).toEqual(apiKey)
    expect(revoked).toBeUndefined()
    expect(begun.count).toBe(3)
  })

  test('a key that was read before a change, and arrives after it, is not kept', async () => {
    const { node, reads, poll, other } = await setUp()
    const { apiKey, hash } = await makeWithKey(node)

    const early = await reads.begin(async locking => {
      await locking`LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE`
      // Reads the key, and waits for its account.
      const found = other.find(hash)
      while ((await reads.unsafe(WAITING)).length === 0);
      await node.apiKeys.update(apiKey.publicId, REVOKED, at(NOW))
      await poll.once()
      return { found }
    })

    expect((await early.found)?.apiKey).toEqual(apiKey)
    expect(await other.find(hash)).toBeUndefined()
  })

  test('the unknown keys of one turn are looked up together', async () => {
    const { other, begun } = await setUp()

    const found = await Promise.all(Array.from({ length: 300 }, () => other.find(anUnknownHash())))

    expect(new Set(found)).toEqual(new Set([undefined]))
    expect(begun.count).toBe(1)
  })

  test('a node that opens has a connection for look-ups before its first request', async () => {
    const { connect } = connections({ url: await aDatabase(server!) })
    let connected = 0
    const counted = () => {
      connected += 1
      return connect()
    }
    const clock = fakeClock()
    const lookups = new KeyLookups({
      connect: counted,
      clock,
      kept: new KeptKeys(),
      poll: { isFresh: true },
    })
    ends.push(() => lookups.close())

    await lookups.open()
    const before = connected
    await lookups.find(anUnknownHash())

    expect([before, connected]).toEqual([1, 1])
  })

  test('several known and unknown keys of one turn each get their own answer', async () => {
    const { node, other } = await setUp()
    const account = await make(node.accounts, 'ada')
    const hashes = Array.from({ length: 5 }, () => crypto.getRandomValues(new Uint8Array(32)))
    const keys = await Promise.all(hashes.map(hash => makeKey(node, account, hash)))

    const asked = hashes.flatMap(hash => [base64(hash), anUnknownHash(), base64(hash)])
    const found = await Promise.all(asked.map(hash => other.find(hash)))

    const expected = keys.flatMap(apiKey => [{ account, apiKey }, undefined, { account, apiKey }])
    expect(found).toEqual(expected)
  })

  test('a change of keys removes the traces of changes that are older than an hour', async () => {
    const { node, reads, poll, other } = await setUp()
    const { apiKey, hash } = await makeWithKey(node)
    await reads`INSERT INTO access_changes (at) SELECT clock_timestamp() - make_interval(mins => age)
      FROM unnest(array[61, 90, 59]) AS age`
    await poll.once()
    await other.find(hash)

    await node.apiKeys.update(apiKey.publicId, REVOKED, at(NOW))
    await poll.once()

    const [left] = await reads<{ count: bigint }[]>`SELECT count(*) FROM access_changes`
    expect(left?.count).toBe(2n)
    expect(await other.find(hash)).toBeUndefined()
  })
})

describe.skipIf(server === undefined)('two nodes that poll', () => {
  test('a node forgets a key half a second after another node revoked it', async () => {
    const url = await aDatabase(server!)
    const clock = fakeClock()
    const [node, other] = [await aNode(url, 'node', clock), await aNode(url, 'other', clock)]
    ends.push(() => Promise.all([node.close(), other.close()]))
    const { apiKey, hash } = await makeWithKey(node)
    await other.apiKeys.authenticate(hash)
    await node.apiKeys.update(apiKey.publicId, REVOKED, at(NOW))
    const before = await other.apiKeys.authenticate(hash)

    clock.advance(500)

    // Nothing but a poll can change the answer: the clock stands still.
    while ((await other.apiKeys.authenticate(hash)) !== undefined) await turn()
    expect(before?.apiKey).toEqual(apiKey)
  })
})

describe.skipIf(server === undefined)('a node whose network is held', () => {
  test('keys in use are accepted for less than a second, then refused with 503 until the network is back', async () => {
    const url = await aDatabase(server!)
    const clock = fakeClock()
    const proxy = Proxy.to(url)
    const [node, other] = [await aNode(url, 'node', clock), await aNode(proxy.url(url), 'other', clock)]
    ends.push(
      () => proxy.stop(),
      () => Promise.all([node.close(), other.close()]),
    )
    const { apiKey, hash } = await makeWithKey(node)
    const known = await other.apiKeys.authenticate(hash)

    proxy.answers = 'held'
    clock.advance(400)
    const soon = await other.apiKeys.authenticate(hash)
    await node.apiKeys.update(apiKey.publicId, REVOKED, at(NOW))
    clock.advance(600)
    const refusal = rejection(other.apiKeys.authenticate(hash))
    while (clock.waitingFor(2000) === 0) await turn()
    clock.advance(2000)
    const error = await refusal
    proxy.heal()
    const healed = await other.apiKeys.authenticate(hash)

    expect([known, soon].map(found => found?.apiKey)).toEqual([apiKey, apiKey])
    expect(error).toMatchObject({ code: 'unavailable', extras: { retryAfter: '1' } })
    expect(healed).toBeUndefined()
  })

  test('while the database refuses connections, one look-up in a second gives the cause', async () => {
    const clock = fakeClock()
    const { connect } = connections({ url: 'postgres://nobody@127.0.0.1:1/none' })
    const lookups = new KeyLookups({ connect, clock, kept: new KeptKeys(), poll: { isFresh: false } })
    ends.push(() => lookups.close())
    const causes = async () => {
      const errors = await Promise.all([1, 2, 3].map(() => rejection(lookups.find(anUnknownHash()))))
      return errors.map(error => (error as GatewayError).extras.cause !== undefined)
    }

    const first = await causes()
    clock.advance(999)
    const soon = await causes()
    clock.advance(1)
    const later = await causes()

    expect(first).toEqual([true, false, false])
    expect(soon).toEqual([false, false, false])
    expect(later).toEqual([true, false, false])
  })

  test('a closed node has stopped its polls', async () => {
    const clock = fakeClock()
    const node = await aNode(await aDatabase(server!), 'node', clock)
    const polling = clock.waitingFor(500)

    await node.close()

    expect([polling, clock.waiting]).toEqual([1, 0])
  })
})
