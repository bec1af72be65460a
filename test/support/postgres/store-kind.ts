import { afterEach, describe } from 'bun:test'
import type { Clock } from '../../../src/gateway/ports/clock.ts'
import { connections } from '../../../src/stores/postgres/database/database.ts'
import { openNode, type NodeSettings } from '../../../src/stores/postgres/node.ts'
import { fakeClock } from '../fake-clock.ts'
import type { StoreKind, TestStore } from '../test-store.ts'
import { ReusedDatabases } from './databases.ts'
import { runServer } from './run-server.ts'

const server = await runServer()
/** Shared by the files of one process, which run one after the other. A file gives them back after each test. */
export const databases = new ReusedDatabases(server!)

/**
 * Runs suites against the PostgreSQL store, with two nodes whose clocks are 20 minutes apart. Skips them if there is no
 * server.
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
  const start = async (name: 'store' | 'other') => {
    const machine = name === 'store' ? 'slow' : 'fast'
    const store: TestStore & { close(): Promise<void> } = await aNode(database.url, name, clock, {
      machine,
      connections: database.connections,
    })
    ends.push(() => store.close())
    return dropHintsOf.includes(name)
      ? { ...store, ledger: { ...store.ledger, onFreed: () => undefined } }
      : store
  }
  const [store, other] = [await start('store'), await start('other')]
  return { store, other, reopen: () => start('store') }
}

/** How far the clocks of machines are ahead of that of their database. */
const machineOffsets = { slow: -600_000, fast: 600_000 } as const
export type Machine = keyof typeof machineOffsets

/** The clock of a machine that is ten minutes off. */
export function clockOf(machine: Machine, clock: Clock): Clock {
  return {
    now: () => clock.now() + machineOffsets[machine],
    monotonicMs: () => clock.monotonicMs(),
    after: (delayMs, then) => clock.after(delayMs, then),
  }
}

/** A node over a database. `clock` is that of the database. The clock of its machine is set to another time. */
export function aNode(
  url: string,
  name: string,
  clock: Clock = fakeClock(),
  {
    secretKey = new Uint8Array(32),
    machine = 'slow',
    ...settings
  }: Partial<Pick<NodeSettings, 'secretKey' | 'migration' | 'onProblem' | 'connections'>> & {
    readonly machine?: Machine
  } = {},
) {
  const random64 = () => crypto.getRandomValues(new BigInt64Array(1))[0]!
  const nowMs = () => clock.now()
  return openNode({
    name,
    version: '1',
    connections: connections({ url }),
    clock: clockOf(machine, clock),
    nowMs,
    random64,
    secretKey,
    ...settings,
  })
}
