import type { Options } from '../options.ts'
import { measureBacklog, type BacklogCost } from './measure-backlog.ts'
import { measureJobs, type JobSample } from './measure-jobs.ts'
import { measureReconciler, type ReconcilerCost } from './measure-reconciler.ts'
import { measureTransfers, type TransferSample } from './measure-transfers.ts'
import type { MediaServers } from './start-media.ts'

export type MediaFigures = {
  readonly jobs: readonly JobSample[]
  readonly transfers: readonly TransferSample[]
  readonly backlog: BacklogCost
  readonly reconciler: ReconcilerCost
}

/** The costs of image and video jobs. The jobs that stay open come last, so that they do not weigh on the others. */
export async function measureMedia(
  servers: MediaServers,
  { rounds, requests, connections }: Pick<Options, 'rounds' | 'requests' | 'connections'>,
  logProgress: (line: string) => void,
): Promise<MediaFigures> {
  const jobs = await measureJobs(servers, { rounds, requests, connections }, logProgress)
  const transfers = await measureTransfers(servers, rounds, logProgress)
  const backlog = await measureBacklog(servers, logProgress)
  return { jobs, transfers, backlog, reconciler: await measureReconciler(servers, logProgress) }
}
