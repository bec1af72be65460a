import type { Clock } from '../../../src/gateway/ports/clock.ts'
import { connections } from '../../../src/stores/postgres/database/database.ts'
import { openNode, type NodeSettings } from '../../../src/stores/postgres/node.ts'
import { fakeClock } from '../fake-clock.ts'

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
