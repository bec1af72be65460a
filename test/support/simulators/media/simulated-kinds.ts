import { veo } from '../../../../src/providers/veo/veo.ts'
import type { SimulatedKind } from './simulated-media.ts'
import { veoDialect } from './veo.ts'

/** The adapters that have a simulator, for the conformance suite and the simulation. */
export const simulatedKinds = {
  veo: {
    kind: 'veo',
    path: '/v1beta',
    dialect: veoDialect,
    provider: veo,
    reportsDuration: false,
    sendsBytes: true,
  },
} as const satisfies Readonly<Record<string, SimulatedKind>>
export type SimulatedKindName = keyof typeof simulatedKinds
