import { formatId, parseId, type Id } from '../../domain/ids.ts'
import type { Job, JobKind } from '../../domain/jobs/job.ts'

const prefixOf = { image: 'img', video: 'vid' } as const

/** The id by which clients and providers know a job: `img_…` or `vid_…`. */
export function publicId({ id, kind }: Pick<Job, 'id' | 'kind'>): string {
  return formatId(prefixOf[kind], id)
}

/** Undefined for text that is no id of a job of this kind. */
export function parseJobId(kind: JobKind, text: string): Id | undefined {
  return parseId(prefixOf[kind], text)
}
