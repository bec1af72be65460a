import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aCredit, anAccount, anAudit } from '../../../test/support/ledger-builders.ts'
import { aSqliteStore, nodeSettings } from '../../../test/support/test-store.ts'
import { turn } from '../../../test/support/turn.ts'
import { usd } from '../../domain/money.ts'
import type { Anchor, ChainEnd } from '../../domain/ledger/anchor.ts'
import type { AnchorFile, CommitChains } from '../ports/ledger/anchor.ts'
import type { StoreNode } from '../ports/nodes/store-node.ts'
import { diskAnchorFile } from '../../stores/disk/anchor-file.ts'
import { openAnchorKeeper } from './anchor-keeper.ts'

/** A store in a folder with an anchor beside it, and what a node does at its start and stop. */
function aFolder(folder = aDataFolder()) {
  const path = join(folder, 'anchor.json')
  const clock = fakeClock()
  const failures: unknown[] = []
  /** The commits that an anchor was written for, or is being written for. */
  const writes: number[] = []
  const file = diskAnchorFile(path)
  const write: typeof file.write = anchor => {
    writes.push(anchor[0]!.number)
    return file.write(anchor)
  }
  return {
    path,
    clock,
    failures,
    writes,
    anchored: () => anchorAt(path)[0]!.number,
    open: async () => {
      const store = aSqliteStore(join(folder, 'tollgate.db'), clock)
      const keeper = await openAnchorKeeper({
        file: { ...file, write },
        chains: store.commitChains,
        auditLog: store.auditLog,
        clock,
        onFailed: error => failures.push(error),
      })
      const close = async () => {
        await keeper.stop()
        await store.close()
      }
      return { store, keeper, close }
    },
  }
}

async function usedFolder() {
  const folder = aFolder()
  const opened = await folder.open()
  const { accountId } = await anAccount(opened.store, { funds: usd('1') })
  await opened.close()
  return { ...folder, accountId }
}

describe('the anchor', () => {
  test('the anchor names the last commit after a stop', async () => {
    const { open, anchored } = await usedFolder()

    const { store, keeper, close } = await open()

    expect(keeper.problem).toBeUndefined()
    expect(anchored()).toBe((await lastOf(store)).number)
    await close()
  })

  test('the anchor is written at most once a second', async () => {
    const { open, anchored, writes, clock, accountId } = await usedFolder()
    const { store, close } = await open()
    const before = anchored()
    writes.length = 0
    const credit = () => store.ledger.credit({ ...aCredit(accountId), amount: usd('1') })

    await credit()
    await written(() => anchored() === before + 1)
    await credit()
    await credit()
    // The first write has ended when the second one waits for its time.
    await written(() => clock.waiting > 0)
    clock.advance(999)
    const early = [...writes]
    clock.advance(1)
    await written(() => anchored() === before + 3)

    expect(early).toEqual([before + 1])
    expect(writes).toEqual([before + 1, before + 3])
    await close()
  })

  test('the anchor names the last commit of each node, and finds commits that a second node lost', async () => {
    const { path, clock } = aFolder()
    const store = aSqliteStore(join(path, '..', 'tollgate.db'), clock)
    const other = store.openNode(nodeSettings('other', clock))
    const chains = joined(store.commitChains, other.commitChains)
    const ports = { file: diskAnchorFile(path), chains, auditLog: store.auditLog, clock, onFailed: fail }
    const { accountId } = await anAccount(store, { funds: usd('1') })
    await other.ledger.credit({ ...aCredit(accountId), amount: usd('1') })
    const keeper = await openAnchorKeeper(ports)
    await keeper.stop()
    const written = anchorAt(path)

    await ports.file.write(written.map(end => (end.node === 'other' ? { ...end, number: 2 } : end)))
    const reopened = await openAnchorKeeper(ports)

    expect(written).toEqual(await chains.ends())
    expect(written.map(({ node }) => node)).toEqual(['main', 'other'])
    expect(reopened.problem).toContain('commit 2 of node "other", but the books end at commit 1')
    await reopened.stop()
    await store.close()
  })

  test('the anchor leaves an audit line when it is written for the first time, and no other', async () => {
    const { open } = await usedFolder()
    const { store, close } = await open()

    const lines = await store.auditLog.list({ limit: 50 })

    expect(lines.filter(({ action }) => action === 'anchor.create')).toHaveLength(1)
    await close()
  })

  test('the anchor leaves that audit line once the file is written, after the changes made meanwhile', async () => {
    const { path, clock, failures } = aFolder()
    const store = aSqliteStore(join(path, '..', 'tollgate.db'), clock)
    const file = diskAnchorFile(path)
    const disk = Promise.withResolvers<void>()
    const slow: AnchorFile = { ...file, write: end => disk.promise.then(() => file.write(end)) }
    const { commitChains: chains, auditLog } = store
    const onFailed = (error: unknown) => failures.push(error)
    const keeper = await openAnchorKeeper({ file: slow, chains, auditLog, clock, onFailed })
    await auditLog.record(anAudit({ action: 'account.grant' }))
    await auditLog.record(anAudit({ action: 'account.debit' }))

    disk.resolve()
    await keeper.stop()
    const lines = await auditLog.list({ limit: 50 })

    expect(lines.map(({ action }) => action)).toEqual(['anchor.create', 'account.debit', 'account.grant'])
    await store.close()
  })

  test('the anchor that a crash left behind is written at the start, without a new commit', async () => {
    const { path, open, anchored } = await usedFolder()
    const before = { node: 'main', number: anchorAt(path)[0]!.number - 1 }
    const killed = await open()
    const hash = (await killed.store.commitChains.hashOf(before))!
    await killed.close()
    writeFileSync(path, JSON.stringify({ chains: [{ ...before, hash }] }))

    const { store, keeper, close } = await open()
    await written(async () => anchored() === (await lastOf(store)).number)

    expect(keeper.problem).toBeUndefined()
    await close()
  })

  test('the anchor that a crash left without its audit line gets the line at the next start', async () => {
    const { path, clock, open } = aFolder()
    const killed = aSqliteStore(join(path, '..', 'tollgate.db'), clock)
    await anAccount(killed, { funds: usd('1') })
    await diskAnchorFile(path).write(await killed.commitChains.ends())
    await killed.close()

    const { store, keeper, close } = await open()
    const problem = keeper.problem
    await close()
    const reopened = aSqliteStore(join(path, '..', 'tollgate.db'), clock)

    expect(problem).toBeUndefined()
    expect(await reopened.auditLog.has('anchor.create')).toBe(true)
    expect(await store.commitChains.ends()).toEqual(await reopened.commitChains.ends())
    await reopened.close()
  })

  test('the anchor may be missing in a folder of an earlier version, and is written then', async () => {
    const folder = aFolder()
    const earlier = aSqliteStore(join(folder.path, '..', 'tollgate.db'))
    await anAccount(earlier, { funds: usd('1') })
    await earlier.close()

    const { keeper, store, close } = await folder.open()
    await close()

    expect(keeper.problem).toBeUndefined()
    expect(folder.anchored()).toBe((await lastOf(store)).number)
  })

  test.each<[string, (path: string) => void, string]>([
    ['missing', path => rmSync(path), 'it is missing, but the books have'],
    ['unreadable', path => writeFileSync(path, 'x'), 'it cannot be read'],
    [
      'ahead of the books',
      path => writeFileSync(path, '{"node":"main","number":99,"hash":"aa"}'),
      'commits are lost',
    ],
    [
      'of other books',
      path => writeFileSync(path, '{"node":"main","number":1,"hash":"aa"}'),
      'they were replaced or rewritten',
    ],
  ])('the anchor that is %s is a problem until the loss is accepted', async (_, damage, problem) => {
    const { open, path, anchored, accountId } = await usedFolder()
    damage(path)
    const first = await open()
    await first.store.ledger.credit({ ...aCredit(accountId), amount: usd('1') })
    const found = first.keeper.problem
    await first.close()
    const second = await open()
    const stillFound = second.keeper.problem

    await second.keeper.acceptLoss(anAudit({ action: 'books.accept_loss', detail: 'the disk failed' }))
    const accepted = second.keeper.problem
    await second.close()
    const third = await open()

    expect(found).toContain(problem)
    expect(stillFound).toContain(problem)
    expect(accepted).toBeUndefined()
    expect(third.keeper.problem).toBeUndefined()
    expect(anchored()).toBe((await lastOf(third.store)).number)
    expect(await third.store.auditLog.has('books.accept_loss')).toBe(true)
    await third.close()
  })

  test('the anchor that cannot be written is reported, and written when it can be', async () => {
    const { open, path, anchored, failures, clock, accountId } = await usedFolder()
    const { store, close } = await open()
    mkdirSync(`${path}.new`)
    await store.ledger.credit({ ...aCredit(accountId), amount: usd('1') })
    await written(() => failures.length === 1)

    rmSync(`${path}.new`, { recursive: true })
    clock.advance(1000)
    await written(async () => anchored() === (await lastOf(store)).number)

    expect(failures).toHaveLength(1)
    await close()
  })
})

function fail(error: unknown): never {
  throw error
}

/** Waits for writes to the disk. */
async function written(isDone: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isDone())) await turn()
}

function anchorAt(path: string): Anchor {
  return (JSON.parse(readFileSync(path, 'utf8')) as { chains: Anchor }).chains
}

async function lastOf({ commitChains }: Pick<StoreNode, 'commitChains'>): Promise<ChainEnd> {
  return (await commitChains.ends())[0]!
}

/** The chains of two nodes as those of one store. */
function joined(left: CommitChains, right: CommitChains): CommitChains {
  return {
    ends: async () => [...(await left.ends()), ...(await right.ends())],
    hashOf: async commit => (await left.hashOf(commit)) ?? right.hashOf(commit),
    onCommit(listener) {
      left.onCommit(listener)
      right.onCommit(listener)
    },
  }
}
