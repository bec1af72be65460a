import { createHash } from 'node:crypto'
import type { MediaOutput } from '../../../src/gateway/ports/providers/media-provider.ts'
import type { World } from '../world.ts'
import type { EndedJob } from './ended-jobs.ts'

/** The results of completed jobs are stored as their providers made them, and there is no other file. */
export function checkBlobs(world: World, ended: ReadonlyMap<string, EndedJob>): void {
  const { disk } = world
  const live = new Set(disk.live.keys())
  for (const [id, { job }] of ended) {
    const made = outputsOf(id, world)
    for (const [index, { key, sha256, bytes }] of job.outputs.entries()) {
      const place = job.archivedAtMs === null ? disk.live : disk.archive
      const content = place.get(key)?.bytes
      live.delete(key)
      if (content === undefined) {
        world.violated(`the result ${key} of ${id} is not stored`)
        continue
      }
      const isRecorded =
        content.length === bytes && createHash('sha256').update(content).digest('hex') === sha256
      const output = made[index]
      if (!isRecorded || output === undefined || !Bun.deepEquals(content, world.files.bytesOf(output)))
        world.violated(`the result ${key} of ${id} is not what the provider made`)
    }
  }
  for (const key of live) world.violated(`the file ${key} is left, and no job needs it`)
}

function outputsOf(jobId: string, { upstreams }: World): readonly MediaOutput[] {
  const jobs = [...upstreams.values()].flatMap(({ ledger }) => ledger.jobs)
  return jobs.find(job => job.jobId === jobId)?.result.outputs ?? []
}
