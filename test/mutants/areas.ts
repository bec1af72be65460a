import { jobMutants } from './areas/jobs.ts'
import type { Mutant } from './mutant.ts'

/** The mutants by what they break. `npm run mutants -- --area NAME` runs those of one area. */
export const areas = {
  jobs: jobMutants,
} as const satisfies Readonly<Record<string, readonly Mutant[]>>

export type Area = keyof typeof areas
