import type { JobKind } from './job.ts'

/** The formats of results, by the kind of their job. A file of any other format is not a result. */
export const usualOutputTypes = {
  image: ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'],
  video: ['video/mp4', 'video/quicktime', 'video/webm'],
} as const satisfies Record<JobKind, readonly string[]>

/** The formats that a row can add with `output_types`. */
export const extraOutputTypes = {
  image: ['image/svg+xml', 'image/heic', 'image/tiff'],
  video: ['video/x-matroska'],
} as const satisfies Record<JobKind, readonly string[]>

export type ExtraOutputType = (typeof extraOutputTypes)[JobKind][number]
export type OutputType = (typeof usualOutputTypes)[JobKind][number] | ExtraOutputType

/** The formats that the results of a job may have. */
export function outputTypesOf(kind: JobKind, extra: readonly ExtraOutputType[] = []): readonly OutputType[] {
  return [...usualOutputTypes[kind], ...extra]
}
