import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterEach, describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aCredit, anAccount, anAudit } from '../../../test/support/ledger-builders.ts'
import { startS3Server } from '../../../test/support/s3-server.ts'
import { aSqliteStore, nodeSettings } from '../../../test/support/test-store.ts'
import { httpClient } from '../../http1/client/http-client.ts'
import { systemClock } from '../../http1/system-clock.ts'
import { until } from '../../http1/testing/until.ts'
import { Timers } from '../../http1/timers.ts'
import { anchorObject } from '../../stores/s3/anchor-object.ts'
import { Bucket } from '../../stores/s3/bucket.ts'
import { usd } from '../../domain/money.ts'
import type { Anchor } from '../../domain/ledger/anchor.ts'
import type { CommitChains } from '../ports/ledger/anchor.ts'
import type { StoreNode } from '../ports/nodes/store-node.ts'
import { openSharedAnchor, type SharedAnchor } from './shared-anchor.ts'

const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Books with two nodes, and a bucket. */
async function setUp() {
  const clock = fakeClock()
  const storage = await startS3Server()
  const store = aSqliteStore(join(aDataFolder(), 'tollgate.db'), clock)
  const other = store.openNode(nodeSettings('other', clock))
  ends.push(
    () => storage.stop(),
    () => store.close(),
  )
  const { accountId } = await anAccount(store, { funds: usd('1') })
  const failures: unknown[] = []
  const writtenAtMs: number[] = []
  const http = httpClient(new Timers(systemClock))
  const file = () => anchorObject(new Bucket(storage.settings, { http, clock: systemClock }))
  const books = () => joined(store, other)
  let running = 0
  /** Counts a call of an anchor while it runs. */
  const during = async <Result>(call: Promise<Result>): Promise<Result> => {
    running += 1
    try {
      return await call
    } finally {
      running -= 1
    }
  }
  const open = async (node: StoreNode, chains: Partial<CommitChains> = {}): Promise<SharedAnchor> => {
    const shared = file()
    const { ends: endsOf, hashOf } = { ...books(), ...chains }
    const write = (anchor: Anchor) =>
      shared.write(anchor).then(() => void writtenAtMs.push(clock.monotonicMs()))
    const anchor = await openSharedAnchor({
      file: { ...shared, read: () => during(shared.read()), write: anchor => during(write(anchor)) },
      chains: {
        ends: () => during(endsOf()),
        hashOf: commit => during(hashOf(commit)),
        onCommit: listener => node.commitChains.onCommit(listener),
      },
      auditLog: {
        record: line => during(node.auditLog.record(line)),
        has: action => during(node.auditLog.has(action)),
      },
      leases: { take: (name, forMs) => during(node.leases.take(name, forMs)) },
      clock,
      onFailed: error => failures.push(error),
    })
    ends.push(() => anchor.stop())
    return anchor
  }
  const credit = (node: StoreNode) => node.ledger.credit({ ...aCredit(accountId), amount: usd('1') })
  /** The anchor names the ends of all chains, as time passes while no node works. */
  const isAnchored = () =>
    until('the anchor names the last commits', async () => {
      if (running > 0) return false
      clock.advance(1000)
      return isDeepStrictEqual(await file().read(), await books().ends())
    })
  return { clock, storage, store, other, file, books, open, credit, writtenAtMs, isAnchored, failures }
}

/** The chains of both nodes, as a shared database has them. */
function joined(one: StoreNode, other: StoreNode) {
  return {
    ends: async () => [...(await one.commitChains.ends()), ...(await other.commitChains.ends())],
    hashOf: async (commit: Anchor[number]) =>
      (await one.commitChains.hashOf(commit)) ?? other.commitChains.hashOf(commit),
  } as Pick<CommitChains, 'ends' | 'hashOf'>
}

describe('the anchor of several nodes', () => {
  test('the anchor of several nodes names the ends of all chains, and each node writes it in turn', async () => {
    const { store, other, open, credit, file, isAnchored } = await setUp()
    const [one, two] = [await open(store), await open(other)]

    await credit(other)
    await isAnchored()
    await credit(store)
    await isAnchored()
    await credit(other)
    await isAnchored()

    expect((await file().read())!.map(({ node }) => node)).toEqual(['main', 'other'])
    expect([one.problem, two.problem]).toEqual([undefined, undefined])
  })

  test('the anchor of several nodes is written once a second by all of them together', async () => {
    const { store, other, open, credit, writtenAtMs, isAnchored } = await setUp()
    await open(store)
    await open(other)

    for (let times = 0; times < 3; times += 1) {
      await credit(store)
      await credit(other)
      await isAnchored()
    }

    const pauses = writtenAtMs.slice(1).map((atMs, index) => atMs - writtenAtMs[index]!)
    expect(pauses.length).toBeGreaterThan(1)
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1000)
  })

  test('of two nodes that write the anchor at once, neither loses what the other wrote', async () => {
    const { store, other, open, credit, file, books, failures } = await setUp()
    const free = { take: async () => ({ renew: async () => true, release: async () => undefined }) }
    const [one, two] = [await open({ ...store, leases: free }), await open({ ...other, leases: free })]

    await Promise.all(Array.from({ length: 10 }, (_, index) => credit(index % 2 === 0 ? store : other)))
    await Promise.all([one.stop(), two.stop()])

    expect(await file().read()).toEqual(await books().ends())
    expect([failures, one.problem, two.problem]).toEqual([[], undefined, undefined])
  })

  test('the anchor of several nodes that cannot be reached at the start stops nothing, and is written later', async () => {
    const { storage, store, open, isAnchored, failures } = await setUp()
    storage.fault = () => ({ status: 403, code: 'AccessDenied' })

    const anchor = await open(store)
    const atStart = [anchor.problem, failures.length > 0]
    storage.fault = () => undefined
    await isAnchored()

    expect(atStart).toEqual([undefined, true])
  })

  test('a database that loses commits while a node runs is found before the anchor is written', async () => {
    const { clock, store, open, books, credit, file, isAnchored, failures } = await setUp()
    let lost = 0
    const behind = async () =>
      (await books().ends()).map(({ node, number, hash }) => ({ node, number: number - lost, hash }))
    const anchor = await open(store, { ends: behind })
    await isAnchored()
    const anchored = await file().read()

    lost = 3
    await credit(store)
    await until('the node sees it', () => {
      clock.advance(1000)
      return anchor.problem !== undefined
    })

    expect(anchor.problem).toContain('2 commits are lost')
    expect(failures).toContainEqual(new Error(anchor.problem))
    expect(await file().read()).toEqual(anchored)
  })

  test('the anchor of several nodes that is missing is a problem until one of them accepts the loss', async () => {
    const { clock, storage, store, other, open, isAnchored, file, books } = await setUp()
    const first = await open(store)
    await isAnchored()
    await first.stop()
    storage.objects.clear()
    const [one, two] = [await open(store), await open(other)]
    const found = [one.problem, two.problem]

    await one.acceptLoss(anAudit({ action: 'books.accept_loss', detail: 'the bucket was emptied' }))
    await until('the other node follows', () => {
      clock.advance(1000)
      return two.problem === undefined
    })

    for (const problem of found) expect(problem).toContain('it is missing, but the books have')
    expect(one.problem).toBeUndefined()
    expect(await store.auditLog.has('books.accept_loss')).toBe(true)
    await isAnchored()
    expect(await file().read()).toEqual(await books().ends())
  })
})
