import { fal } from '../../../../src/providers/fal/fal.ts'
import { geminigen } from '../../../../src/providers/geminigen/geminigen.ts'
import { geminiImages } from '../../../../src/providers/gemini-images/gemini-images.ts'
import { kling } from '../../../../src/providers/kling/kling.ts'
import { minimax } from '../../../../src/providers/minimax/minimax.ts'
import { replicate } from '../../../../src/providers/replicate/replicate.ts'
import { runway } from '../../../../src/providers/runway/runway.ts'
import { seedance } from '../../../../src/providers/seedance/seedance.ts'
import { veo } from '../../../../src/providers/veo/veo.ts'
import { falDialect } from './fal.ts'
import { geminigenDialect } from './geminigen.ts'
import { geminiImagesDialect } from './gemini-images.ts'
import type { Asked } from './dialect.ts'
import { klingDialect } from './kling.ts'
import { minimaxV1Dialect, minimaxV2Dialect } from './minimax.ts'
import { replicateDialect } from './replicate.ts'
import { runwayDialect } from './runway.ts'
import { seedanceDialect } from './seedance.ts'
import type { SimulatedKind } from './simulated-media.ts'
import { veoDialect } from './veo.ts'

/** The adapters that have a simulator, for the conformance suite and the simulation. */
export const simulatedKinds = {
  fal: {
    kind: 'fal',
    path: '',
    dialect: falDialect,
    provider: fal,
    model: { image: 'acme/any/text-to-image', video: 'acme/any/text-to-video' },
    upstreamIdOf: id => `acme/any/requests/${id}`,
  },
  geminiImages: {
    kind: 'gemini-images',
    path: '/v1beta',
    dialect: geminiImagesDialect,
    provider: geminiImages,
    makes: 'image',
    sendsBytes: true,
    sendsLinks: false,
  },
  replicate: {
    kind: 'replicate',
    path: '/v1',
    dialect: replicateDialect,
    provider: replicate,
    reportsDuration: false,
  },
  runway: { kind: 'runway', path: '', dialect: runwayDialect, provider: runway, reportsDuration: false },
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
  seedance: {
    kind: 'seedance',
    path: '/api/v3',
    dialect: seedanceDialect,
    provider: seedance,
    outputsMax: 1,
  },
  geminigen: {
    kind: 'geminigen',
    path: '',
    dialect: geminigenDialect,
    provider: geminigen,
    model: { image: 'nano-banana-pro', video: 'veo-3.1-fast' },
    reportsDuration: false,
  },
  kling: {
    kind: 'kling',
    path: '',
    dialect: klingDialect(),
    provider: kling,
    recovers: true,
    key: 'access,secret',
    upstreamIdOf: (id: string, { extra }: Asked) => `${String(extra?.['kind'])}/${id}`,
  },
} as const satisfies Readonly<Record<string, SimulatedKind>>
export type SimulatedKindName = keyof typeof simulatedKinds
