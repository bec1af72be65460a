import type { Config } from '../../config/config.ts'
import { ownBlobs } from '../../gateway/media/files/own-blobs.ts'
import { splitBlobs } from '../../gateway/media/files/split-blobs.ts'
import type { Blobs, ResultStore } from '../../gateway/ports/media/blobs.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { HttpClient } from '../../http1/client/http-client.ts'
import { openDiskBlobs } from '../../stores/disk/blobs.ts'
import { S3Blobs } from '../../stores/s3/blobs.ts'
import { Bucket } from '../../stores/s3/bucket.ts'
import { checkBucket } from '../../stores/s3/check-bucket.ts'

/** The files of jobs, and the store of their results if that is on another machine. */
export type JobFiles = { readonly blobs: Blobs; readonly resultStore: ResultStore | undefined }

/** Opens the files of jobs: all in the folder, or the results in a bucket. Does not reach for the bucket. */
export async function openJobFiles(
  config: Config,
  { folder, http, clock }: { readonly folder: string; readonly http: HttpClient; readonly clock: Clock },
): Promise<JobFiles> {
  const disk = await openDiskBlobs({ folder })
  const bucket = openBucket(config, { http, clock })
  if (bucket === undefined)
    return { blobs: config.database === undefined ? disk : ownBlobs(disk), resultStore: undefined }
  return {
    blobs: splitBlobs({ disk, results: new S3Blobs(bucket) }),
    resultStore: { name: bucket.name, check: () => checkBucket(bucket) },
  }
}

/**
 * The bucket of the settings, if there is one. Does not reach for it. `clock` is that of this machine: the server
 * compares the time of each signature with its own.
 */
export function openBucket(
  config: Config,
  ports: { readonly http: HttpClient; readonly clock: Clock },
): Bucket | undefined {
  const { s3Bucket, s3AccessKeyId, s3SecretAccessKey } = config
  if (s3Bucket === undefined || s3AccessKeyId === undefined || s3SecretAccessKey === undefined)
    return undefined
  return new Bucket(
    {
      bucket: s3Bucket,
      region: config.s3Region,
      endpoint: config.s3Endpoint,
      accessKeyId: s3AccessKeyId,
      secretAccessKey: s3SecretAccessKey,
      isPathStyle: config.isS3PathStyle ?? config.s3Endpoint !== undefined,
      prefix: config.s3Prefix,
    },
    ports,
  )
}

/**
 * Tries the store of results before the gateway serves. Throws an Error for the operator if it is public or refuses the
 * gateway. A store that cannot be reached now stops nothing: requests for text do not need it, and jobs wait.
 */
export async function tryResultStore(
  { resultStore }: Pick<JobFiles, 'resultStore'>,
  onUnavailable: (detail: string) => void,
): Promise<void> {
  const checked = await resultStore?.check()
  if (checked?.outcome === 'unavailable') onUnavailable(checked.detail)
  if (checked?.outcome === 'public' || checked?.outcome === 'refused')
    throw new Error(`${checked.detail} See docs/operating/s3.md, and correct the bucket or TOLLGATE_S3_*.`)
}
