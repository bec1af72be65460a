import { afterEach, describe } from 'bun:test'
import type { PostgresNode } from '../../../src/stores/postgres/node.ts'
import { fakeClock } from '../fake-clock.ts'
import type { StoreKind, TestStore } from '../test-store.ts'
import { aNode } from './a-node.ts'
import { ReusedDatabases } from './databases.ts'
import { nodeProcess, remoteNode } from './remote-node.ts'
import { runServer } from './run-server.ts'

/** Of the nodes that a test opened again. An older one is closed, because a server takes only so many connections. */
const REOPENED_MAX = 3

const server = await runServer()
/** Shared by the files of one process, which run one after the other. A file gives them back after each test. */
export const databases = new ReusedDatabases(server!)

/**
 * Runs suites against the PostgreSQL store, with two nodes in two processes, whose clocks are 20 minutes apart. Skips
 * them if there is no server.
 */
export function conformsOnPostgres(...suites: readonly ((kind: StoreKind) => void)[]): void {
  describe.skipIf(server === undefined)('on PostgreSQL', () => {
    const ends: (() => Promise<void>)[] = []
    afterEach(async () => {
      for (const end of ends.splice(0)) await end()
      await databases.giveBack()
    })
    for (const suite of suites)
      suite({ textHolds: 'durable', setBackMs: 30_000, open: options => open(ends, options) })
  })
}

async function open(
  ends: (() => Promise<void>)[],
  { clock = fakeClock(), dropHintsOf = [] }: Parameters<StoreKind['open']>[0] = {},
): ReturnType<StoreKind['open']> {
  const database = await databases.take()
  const handle = (name: 'store' | 'other', node: TestStore & { close(): Promise<void> }): TestStore => {
    ends.push(() => node.close())
    return dropHintsOf.includes(name)
      ? { ...node, ledger: { ...node.ledger, onFreed: () => undefined } }
      : node
  }
  const { url, connections } = database
  const openStore = () => aNode(url, 'store', clock, { machine: 'slow', connections })
  const store = handle('store', await openStore())
  const other = await remoteNode(nodeProcess(), { url, name: 'other', machine: 'fast', clock })
  const reopened: PostgresNode[] = []
  const reopen = async () => {
    const node = await openStore()
    reopened.push(node)
    if (reopened.length > REOPENED_MAX) await reopened.shift()!.close()
    return handle('store', node)
  }
  return { store, other: handle('other', other), reopen }
}
