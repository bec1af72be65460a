import { afterEach, describe } from 'bun:test'
import type { Clock } from '../../../src/gateway/ports/clock.ts'
import { connections } from '../../../src/stores/postgres/database/database.ts'
import { openNode, type NodeSettings } from '../../../src/stores/postgres/node.ts'
import { fakeClock } from '../fake-clock.ts'
import type { StoreKind, TestStore } from '../test-store.ts'
import { ReusedDatabases } from './databases.ts'
import { runServer } from './run-server.ts'

const server = await runServer()

/** Runs suites against the PostgreSQL store. Skips them if there is no server. */
export function conformsOnPostgres(...suites: readonly ((kind: StoreKind) => void)[]): void {
  describe.skipIf(server === undefined)('on PostgreSQL', () => {
    const databases = new ReusedDatabases(server!)
    const ends: (() => Promise<void>)[] = []
    afterEach(async () => {
      for (const end of ends.splice(0)) await end()
      await databases.giveBack()
    })
    for (const suite of suites)
      suite({ textHolds: 'durable', setBackMs: 30_000, open: options => open(databases, ends, options) })
  })
}

async function open(
  databases: ReusedDatabases,
  ends: (() => Promise<void>)[],
  { clock = fakeClock(), dropHintsOf = [] }: Parameters<StoreKind['open']>[0] = {},
): ReturnType<StoreKind['open']> {
  const url = await databases.take()
  const start = async (name: 'store' | 'other') => {
    const store: TestStore & { close(): Promise<void> } = await aNode(url, name, clock)
    ends.push(() => store.close())
    return dropHintsOf.includes(name)
      ? { ...store, ledger: { ...store.ledger, onFreed: () => undefined } }
      : store
  }
  const [store, other] = [await start('store'), await start('other')]
  return { store, other, reopen: () => start('store') }
}

/** A node over a database. */
export function aNode(
  url: string,
  name: string,
  clock: Clock = fakeClock(),
  {
    secretKey = new Uint8Array(32),
    ...settings
  }: Partial<Pick<NodeSettings, 'secretKey' | 'migration' | 'onProblem'>> = {},
) {
  const random64 = () => crypto.getRandomValues(new BigInt64Array(1))[0]!
  const nowMs = () => clock.now()
  return openNode({
    name,
    version: '1',
    connections: connections({ url }),
    clock,
    nowMs,
    random64,
    secretKey,
    ...settings,
  })
}
