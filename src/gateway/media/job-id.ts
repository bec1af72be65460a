import { formatId, parseId, type Id } from '../../domain/ids.ts'
import { jobIdPrefix, type Job, type JobKind } from '../../domain/jobs/job.ts'

/** The id by which clients and providers know a job: `img_…` or `vid_…`. */
export function publicId({ id, kind }: Pick<Job, 'id' | 'kind'>): string {
  return formatId(jobIdPrefix[kind], id)
}

/** The whole id as text, to key maps by jobs of both kinds. */
export function jobKey(id: Id): string {
  return formatId('op', id)
}

/** Undefined for text that is not an id of a job of this kind. */
export function parseJobId(kind: JobKind, text: string): Id | undefined {
  return parseId(jobIdPrefix[kind], text)
}
