import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aCredit, anAccount, anAudit } from '../../../test/support/ledger-builders.ts'
import { aSqliteStore } from '../../../test/support/test-store.ts'
import { turn } from '../../../test/support/turn.ts'
import { usd } from '../../domain/money.ts'
import type { AnchorFile } from '../ports/anchor.ts'
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
  const write: typeof file.write = end => {
    writes.push(end.number)
    return file.write(end)
  }
  return {
    path,
    clock,
    failures,
    writes,
    anchored: () => (JSON.parse(readFileSync(path, 'utf8')) as { number: number }).number,
    open: async () => {
      const store = aSqliteStore(join(folder, 'tollgate.db'), clock)
      const keeper = await openAnchorKeeper({
        file: { ...file, write },
        chain: store.commitChain,
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
  test('names the last commit after a stop', async () => {
    const { open, anchored } = await usedFolder()

    const { store, keeper, close } = await open()

    expect(keeper.problem).toBeUndefined()
    expect(anchored()).toBe(store.commitChain.end()!.number)
    await close()
  })

  test('is written at most once a second', async () => {
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

  test('leaves an audit line when it is written for the first time, and no other', async () => {
    const { open } = await usedFolder()
    const { store, close } = await open()

    const lines = await store.auditLog.list({ limit: 50 })

    expect(lines.filter(({ action }) => action === 'anchor.create')).toHaveLength(1)
    await close()
  })

  test('leaves that audit line once the file is written, after the changes made meanwhile', async () => {
    const { path, clock, failures } = aFolder()
    const store = aSqliteStore(join(path, '..', 'tollgate.db'), clock)
    const file = diskAnchorFile(path)
    const disk = Promise.withResolvers<void>()
    const slow: AnchorFile = { ...file, write: end => disk.promise.then(() => file.write(end)) }
    const { commitChain: chain, auditLog } = store
    const onFailed = (error: unknown) => failures.push(error)
    const keeper = await openAnchorKeeper({ file: slow, chain, auditLog, clock, onFailed })
    await auditLog.record(anAudit({ action: 'account.grant' }))
    await auditLog.record(anAudit({ action: 'account.debit' }))

    disk.resolve()
    await keeper.stop()
    const lines = await auditLog.list({ limit: 50 })

    expect(lines.map(({ action }) => action)).toEqual(['anchor.create', 'account.debit', 'account.grant'])
    await store.close()
  })

  test('that a crash left behind is written at the start, without a new commit', async () => {
    const { path, open, anchored } = await usedFolder()
    const first = JSON.parse(readFileSync(path, 'utf8')) as { number: number }
    const killed = await open()
    const hash = killed.store.commitChain.hashOf(first.number - 1)!
    await killed.close()
    writeFileSync(path, JSON.stringify({ node: 'main', number: first.number - 1, hash }))

    const { store, keeper, close } = await open()
    await written(() => anchored() === store.commitChain.end()!.number)

    expect(keeper.problem).toBeUndefined()
    await close()
  })

  test('that a crash left without its audit line gets the line at the next start', async () => {
    const { path, clock, open } = aFolder()
    const killed = aSqliteStore(join(path, '..', 'tollgate.db'), clock)
    await anAccount(killed, { funds: usd('1') })
    await diskAnchorFile(path).write(killed.commitChain.end()!)
    await killed.close()

    const { store, keeper, close } = await open()
    const problem = keeper.problem
    await close()
    const reopened = aSqliteStore(join(path, '..', 'tollgate.db'), clock)

    expect(problem).toBeUndefined()
    expect(await reopened.auditLog.has('anchor.create')).toBe(true)
    expect(store.commitChain.end()).toEqual(reopened.commitChain.end())
    await reopened.close()
  })

  test('may be missing in a folder of an earlier version, and is written then', async () => {
    const folder = aFolder()
    const earlier = aSqliteStore(join(folder.path, '..', 'tollgate.db'))
    await anAccount(earlier, { funds: usd('1') })
    await earlier.close()

    const { keeper, store, close } = await folder.open()
    await close()

    expect(keeper.problem).toBeUndefined()
    expect(folder.anchored()).toBe(store.commitChain.end()!.number)
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
  ])('that is %s is a problem until the loss is accepted', async (_, damage, problem) => {
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
    expect(anchored()).toBe(third.store.commitChain.end()!.number)
    expect(await third.store.auditLog.has('books.accept_loss')).toBe(true)
    await third.close()
  })

  test('that cannot be written is reported, and written when it can be', async () => {
    const { open, path, anchored, failures, clock, accountId } = await usedFolder()
    const { store, close } = await open()
    mkdirSync(`${path}.new`)
    await store.ledger.credit({ ...aCredit(accountId), amount: usd('1') })
    await written(() => failures.length === 1)

    rmSync(`${path}.new`, { recursive: true })
    clock.advance(1000)
    await written(() => anchored() === store.commitChain.end()!.number)

    expect(failures).toHaveLength(1)
    await close()
  })
})

/** Waits for writes to the disk. */
async function written(isDone: () => boolean): Promise<void> {
  while (!isDone()) await turn()
}
