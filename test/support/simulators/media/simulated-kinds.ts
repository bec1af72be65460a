import { minimax } from '../../../../src/providers/minimax/minimax.ts'
import { veo } from '../../../../src/providers/veo/veo.ts'
import { minimaxV1Dialect, minimaxV2Dialect } from './minimax.ts'
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
  minimaxV1: {
    kind: 'minimax',
    path: '',
    dialect: minimaxV1Dialect,
    provider: minimax,
    model: 'MiniMax-Hailuo-2.3',
    reportsDuration: false,
    outputsMax: 1,
    upstreamIdOf: (id: string) => `v1/${id}`,
  },
  minimaxV2: {
    kind: 'minimax',
    path: '',
    dialect: minimaxV2Dialect,
    provider: minimax,
    model: 'MiniMax-H3',
    outputsMax: 1,
    upstreamIdOf: (id: string) => `v2/${id}`,
  },
} as const satisfies Readonly<Record<string, SimulatedKind>>
export type SimulatedKindName = keyof typeof simulatedKinds
