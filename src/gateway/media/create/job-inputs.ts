import { isFinal, type Job, type JobInput } from '../../../domain/jobs/job.ts'
import type { InputName, MediaBody, MediaInput } from '../../../protocol/media/media-body.ts'
import type { Blobs } from '../../ports/media/blobs.ts'
import type { JobObserver } from '../observe-jobs.ts'

/** Providers name their files with ids such as UUIDs. A longer text is not an id. */
const PROVIDER_ID = /^[A-Za-z0-9_-]{8,128}$/
const LINK = /^https?:\/\/[^\s/]/i

export function isLink(text: string): boolean {
  return LINK.test(text.trim())
}

export function isProviderId(text: string): boolean {
  return PROVIDER_ID.test(text.trim())
}

/**
 * The inputs of several names, joined in the order of the names. A value that is neither a link nor bytes is left out.
 */
export function jobInputs(
  { inputs }: MediaBody,
  names: readonly InputName[],
  { takesProviderIds }: { readonly takesProviderIds: boolean },
): readonly JobInput[] {
  const values = names.flatMap(name => inputs.get(name) ?? [])
  return values.flatMap(value => jobInput(value, takesProviderIds) ?? [])
}

function jobInput(value: MediaInput, takesProviderIds: boolean): JobInput | undefined {
  if (value.kind === 'file') return { from: 'file', file: value.file }
  const text = value.text.trim()
  if (isLink(text)) return { from: 'url', url: text }
  return takesProviderIds && isProviderId(text) ? { from: 'provider_id', id: text } : undefined
}

/**
 * Removes the input files of each job that ends on this node. The sweep of files removes those whose removal failed or
 * was cut off.
 */
export function inputRemover({
  blobs,
  onFailed,
}: {
  readonly blobs: Pick<Blobs, 'remove'>
  readonly onFailed: (error: unknown) => void
}): JobObserver {
  return { changed: job => void removeInputs(job, blobs).catch(onFailed) }
}

async function removeInputs(job: Job, blobs: Pick<Blobs, 'remove'>): Promise<void> {
  if (!isFinal(job.state)) return
  for (const input of [...job.request.images, ...job.request.videos])
    if (input.from === 'file') await blobs.remove(input.file.key)
}
