import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { RedisClient } from 'bun'
import { flightsConform } from '../../../test/conformance/flights.ts'
import { aFingerprint, anAnswer, replaysConform } from '../../../test/conformance/replays.ts'
import { redisProgram, RedisServer } from '../../../test/support/redis-server.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { redisAddress } from '../../config/forms/servers.ts'
import { systemClock } from '../../http1/system-clock.ts'
import { until } from '../../http1/testing/until.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { SharedCache } from '../../gateway/ports/requests/shared-cache.ts'
import { VALUE_BYTES_MAX } from './replays.ts'
import { valkeyCache } from './shared-cache.ts'

const program = await redisProgram()
/** The time limit of a connection that is being opened. */
const CONNECT_MS = 2000
const SECRET_KEY = new Uint8Array(32).fill(7)

describe.skipIf(program === undefined)('a Valkey or Redis server', () => {
  let server: RedisServer
  let stranger: RedisClient
  const opened: SharedCache[] = []
  /** What the caches logged. */
  const logged: string[] = []

  beforeAll(async () => {
    server = await RedisServer.start(program!)
    stranger = await server.stranger()
  })
  afterAll(async () => {
    stranger.close()
    await server.kill()
  })
  beforeEach(() => stranger.send('FLUSHALL', []))
  afterEach(() => {
    for (const cache of opened.splice(0)) cache.close()
    logged.length = 0
  })

  /** The cache of one node, connected. */
  async function aNode({
    clock = fakeClock(),
    ttlMs = 60_000,
    secretKey = SECRET_KEY,
    url = server.url,
  }: {
    readonly clock?: Clock
    readonly ttlMs?: number
    readonly secretKey?: Uint8Array
    readonly url?: string
  } = {}): Promise<SharedCache> {
    const onChange = {
      lost: (reason: string) => void logged.push(reason),
      back: () => void logged.push('back'),
    }
    const cache = valkeyCache({ server: redisAddress.parse(url)!, secretKey, clock, onChange }, { ttlMs })
    opened.push(cache)
    await cache.start()
    return cache
  }

  const keys = async () => (await stranger.send('KEYS', ['*'])) as string[]

  describe('replays of one node', () => {
    replaysConform(async ({ ttlMs }) => {
      const clock = fakeClock()
      const { replays } = await aNode({ clock, ttlMs })
      return { replays, advance: ms => clock.advance(ms) }
    })
  })

  describe('replays of two nodes, of which one keeps and one finds', () => {
    replaysConform(async ({ ttlMs }) => {
      const clock = fakeClock()
      const [keeper, finder] = [await aNode({ clock, ttlMs }), await aNode({ clock, ttlMs })]
      return {
        replays: {
          keep: (...kept) => keeper.replays.keep(...kept),
          find: asked => finder.replays.find(asked),
        },
        advance: ms => clock.advance(ms),
      }
    })
  })

  flightsConform(async () => {
    const clock = fakeClock()
    const nodes = [await aNode({ clock }), await aNode({ clock })] as const
    return {
      nodes: [nodes[0].flights, nodes[1].flights],
      advance: async ms => {
        for (let leftMs = ms; leftMs > 0; leftMs -= 50) {
          clock.advance(50)
          // A renewal that fell due is answered before this, and so within its time.
          for (const { replays } of nodes) await replays.find(aFingerprint('something else'))
        }
      },
      die: () => nodes[0].close(),
    }
  })

  describe('what the server stores', () => {
    test('every key has the prefix of the gateway, says nothing about the request, and expires', async () => {
      const { replays, flights } = await aNode({ ttlMs: 60_000 })
      const asked = aFingerprint('a')
      await replays.keep(asked, anAnswer())
      await flights.begin(asked)

      const stored = await keys()
      const times = await Promise.all(stored.map(key => stranger.pttl(key)))

      expect(stored.toSorted()).toEqual([
        expect.stringMatching(/^tollgate:1:answer:[\w-]{43}$/),
        expect.stringMatching(/^tollgate:1:flight:[\w-]{43}$/),
      ])
      expect(stored.join(' ')).not.toContain(asked.digest)
      for (const time of times) expect(time).toBeWithin(1, 60_001)
    })

    test('an answer and its model cannot be read without the secret key', async () => {
      const { replays } = await aNode()
      await replays.keep(aFingerprint('a'), anAnswer('a confidential answer'))

      const [key = ''] = await keys()
      const stored = Buffer.from((await stranger.getBuffer(key))!).toString('latin1')

      expect(stored).not.toContain('confidential')
      expect(stored).not.toContain('gpt-x')
    })

    test('gateways with another secret key, or with other books, share nothing', async () => {
      const ours = await aNode()
      const otherKey = await aNode({ secretKey: new Uint8Array(32).fill(8) })
      await ours.replays.keep(aFingerprint('a'), anAnswer())
      await ours.flights.begin(aFingerprint('a'))

      // The first key of other books has the same number and another public id.
      const otherBooks = aFingerprint('a', { apiKey: 'key_of_other_books' })

      expect(await otherKey.replays.find(aFingerprint('a'))).toBeUndefined()
      expect(await otherKey.flights.begin(aFingerprint('a'))).toBeDefined()
      expect(await ours.replays.find(otherBooks)).toBeUndefined()
      expect(await ours.flights.begin(otherBooks)).toBeDefined()
      expect(otherKey.counts.rejected + ours.counts.rejected).toBe(0)
    })

    test('an answer that is too large is not sent to the server', async () => {
      const { replays } = await aNode()

      await replays.keep(aFingerprint('a'), anAnswer(new Uint8Array(VALUE_BYTES_MAX)))
      await replays.keep(aFingerprint('b'), anAnswer(new Uint8Array(256 * 1024)))

      expect(await keys()).toHaveLength(1)
      expect(await replays.find(aFingerprint('b'))).toEqual(anAnswer(new Uint8Array(256 * 1024)))
    })
  })

  describe('a stranger who can write into the server', () => {
    /** Two answers of one customer, and the keys of both. */
    async function twoAnswers() {
      const node = await aNode()
      await node.replays.keep(aFingerprint('a'), anAnswer('the answer to a'))
      const [first = ''] = await keys()
      await node.replays.keep(aFingerprint('b'), anAnswer('the answer to b'))
      const second = (await keys()).find(key => key !== first)!
      return { node, first, second }
    }

    test.each<[string, (key: string) => Promise<unknown>]>([
      ['text', key => stranger.set(key, 'an answer')],
      ['nothing', key => stranger.set(key, '')],
      ['28 bytes', key => stranger.set(key, new Uint8Array(28))],
      ['a value of megabytes', key => stranger.set(key, new Uint8Array(5_000_000))],
      ['a list', key => stranger.del(key).then(() => stranger.send('RPUSH', [key, 'an answer']))],
      [
        'a changed byte',
        async key => {
          const value = (await stranger.getBuffer(key))!
          value[20]! ^= 1
          await stranger.set(key, value)
        },
      ],
    ])('who writes %s causes a miss, which is counted', async (_, write) => {
      const { node, first } = await twoAnswers()
      await write(first)

      expect(await node.replays.find(aFingerprint('a'))).toBeUndefined()
      expect(await node.replays.find(aFingerprint('b'))).toEqual(anAnswer('the answer to b'))
      expect(node.counts).toMatchObject({ rejected: 1, failed: 0 })
      expect(node.isConnected).toBe(true)
    })

    test('who swaps two values causes two misses, which are counted', async () => {
      const { node, first, second } = await twoAnswers()
      const values = [(await stranger.getBuffer(first))!, (await stranger.getBuffer(second))!] as const
      await stranger.set(first, values[1])
      await stranger.set(second, values[0])

      expect(await node.replays.find(aFingerprint('a'))).toBeUndefined()
      expect(await node.replays.find(aFingerprint('b'))).toBeUndefined()
      expect(node.counts.rejected).toBe(2)
    })

    test('who keeps a value beyond its time revives no answer', async () => {
      const clock = fakeClock()
      const { replays } = await aNode({ clock })
      await replays.keep(aFingerprint('a'), anAnswer())
      const [key = ''] = await keys()
      await stranger.persist(key)

      clock.advance(60_000)

      expect(await replays.find(aFingerprint('a'))).toBeUndefined()
    })

    test('who writes a flight makes no request wait, and neither does a flight that was copied', async () => {
      const clock = fakeClock()
      const [one, two] = [await aNode({ clock }), await aNode({ clock })]
      await one.flights.begin(aFingerprint('a'))
      const [key = ''] = await keys()
      const copy = (await stranger.getBuffer(key))!

      await stranger.set(key, 'running')
      const forged = await two.flights.begin(aFingerprint('a'))
      await stranger.set(key, copy)
      const fresh = await two.flights.begin(aFingerprint('a'))
      clock.advance(5000)
      const copied = await two.flights.begin(aFingerprint('a'))

      expect([forged, fresh, copied].map(flight => flight !== undefined)).toEqual([true, false, true])
      expect(two.counts.rejected).toBe(1)
    })
  })

  describe('a server that fails', () => {
    const missed = async (node: SharedCache) =>
      expect(await node.replays.find(aFingerprint('a'))).toBeUndefined()

    test('a server that is frozen costs a tenth of a second once, and is used again when it answers', async () => {
      const clock = fakeClock()
      const node = await aNode({ clock })
      await node.replays.keep(aFingerprint('a'), anAnswer())
      server.freeze()
      const asked = [node.replays.find(aFingerprint('a')), node.replays.find(aFingerprint('b'))]
      clock.advance(90)
      clock.advance(10)
      const found = await Promise.all(asked)
      const later = await node.flights.begin(aFingerprint('a'))
      server.thaw()
      clock.advance(4999)
      await missed(node)
      const offFor5s = { skipped: node.counts.skipped, opening: clock.waitingFor(CONNECT_MS) }
      clock.advance(1)
      await missed(node)
      await until('it is connected', () => node.isConnected)

      expect(found).toEqual([undefined, undefined])
      expect(later).toBeDefined()
      expect(offFor5s).toEqual({ skipped: 2, opening: 0 })
      expect(node.counts).toMatchObject({ failed: 2, skipped: 3 })
      expect(await node.replays.find(aFingerprint('a'))).toEqual(anAnswer())
      expect(logged).toEqual(['The server did not answer within 100 ms.', 'back'])
    })

    test('a server that is frozen under load gets a bounded number of bytes, and other calls are not sent', async () => {
      const node = await aNode()
      const large = anAnswer(new Uint8Array(256 * 1024))
      const calls = 70

      server.freeze()
      const keeping = Array.from({ length: calls }, (_, index) =>
        node.replays.keep(aFingerprint(`${index}`), large),
      )
      await until('a call is not sent', () => node.counts.skipped > 0)
      server.thaw()
      await Promise.all(keeping)

      expect(node.counts).toMatchObject({ answered: 63, skipped: 7, failed: 0 })
      expect(node.isConnected).toBe(true)
    })

    test('a server that is killed and started again is used again', async () => {
      const clock = fakeClock()
      const node = await aNode({ clock })
      await server.kill()
      await until('the loss is logged', () => logged.length > 0)
      await missed(node)
      await server.restart()
      stranger = await server.stranger()
      clock.advance(5000)
      await missed(node)
      await until('it is connected', () => node.isConnected)
      await node.replays.keep(aFingerprint('a'), anAnswer())

      expect(await node.replays.find(aFingerprint('a'))).toEqual(anAnswer())
      expect(logged).toEqual([expect.any(String), 'back'])
    })

    test('an idle connection that the server closes is opened again before the next call', async () => {
      const node = await aNode()
      await node.replays.keep(aFingerprint('a'), anAnswer())

      const accepted = async () =>
        /total_connections_received:(\d+)/.exec((await stranger.send('INFO', ['stats'])) as string)![1]
      const before = await accepted()
      await stranger.send('CLIENT', ['KILL', 'TYPE', 'normal', 'SKIPME', 'yes'])
      await until('there is another connection', async () => (await accepted()) !== before)
      await until('it is logged in', () => node.isConnected)

      expect(await node.replays.find(aFingerprint('a'))).toEqual(anAnswer())
      expect(logged).toEqual([])
    })

    test('a server that is flushed has forgotten the answers and the flights, and nothing fails', async () => {
      const [node, other] = [await aNode(), await aNode()]
      await node.replays.keep(aFingerprint('a'), anAnswer())
      await node.flights.begin(aFingerprint('a'))
      await stranger.send('FLUSHALL', [])

      expect(await node.replays.find(aFingerprint('a'))).toBeUndefined()
      expect(await other.flights.begin(aFingerprint('a'))).toBeDefined()
      expect(node.counts).toMatchObject({ failed: 0, rejected: 0 })
    })

    test('a node whose flight was flushed does not end the flight that another node began since', async () => {
      const [node, other] = [await aNode(), await aNode()]
      const flight = await node.flights.begin(aFingerprint('a'))
      await stranger.send('FLUSHALL', [])
      await other.flights.begin(aFingerprint('a'))

      await flight!.land('kept')

      expect(await node.flights.begin(aFingerprint('a'))).toBeUndefined()
    })

    test('a server without memory for more values is still read', async () => {
      const node = await aNode()
      await node.replays.keep(aFingerprint('a'), anAnswer())
      await stranger.send('CONFIG', ['SET', 'maxmemory', '1'])

      await node.replays.keep(aFingerprint('b'), anAnswer())
      const found = await node.replays.find(aFingerprint('a'))
      await stranger.send('CONFIG', ['SET', 'maxmemory', '0'])

      expect(found).toEqual(anAnswer())
      expect(await node.replays.find(aFingerprint('b'))).toBeUndefined()
    })

    test('a server that became a read-only replica is off for five seconds', async () => {
      const clock = fakeClock()
      const node = await aNode({ clock })
      await stranger.send('REPLICAOF', ['127.0.0.1', '1'])
      await node.replays.keep(aFingerprint('a'), anAnswer())
      await stranger.send('REPLICAOF', ['NO', 'ONE'])

      expect(node.isConnected).toBe(false)
      expect(logged).toEqual([expect.stringMatching(/^It refused: READONLY/)])
    })
  })

  describe('the check of doctor', () => {
    test('a server that can be used has no problem, and keeps nothing of the check', async () => {
      const node = await aNode({ clock: systemClock })

      expect(await node.problem()).toBeUndefined()
      expect(await keys()).toEqual([])
      expect(node.name).toBe(`redis://127.0.0.1:${server.port}/1`)
    })

    test.each<[string, () => string, string]>([
      ['another password', () => `redis://:wrong@127.0.0.1:${server.port}`, 'It refused: WRONGPASS'],
      ['no password', () => `redis://127.0.0.1:${server.port}`, 'It refused: NOAUTH'],
      ['a database that does not exist', () => server.url.replace(/1$/, '99'), 'It refused: ERR DB index'],
      ['a port without a server', () => 'redis://127.0.0.1:1', 'ECONNREFUSED'],
    ])('with %s, it says so without the password', async (_, url, reason) => {
      const node = await aNode({ clock: systemClock, url: url() })

      const problem = await node.problem()

      expect(problem).toContain(reason)
      expect(problem).not.toContain(server.password)
      expect(node.isConnected).toBe(false)
    })
  })
})
