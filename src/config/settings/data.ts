import type { DatabaseServer } from '../../gateway/ports/nodes/database-server.ts'
import type { CacheServer } from '../../gateway/ports/requests/shared-cache.ts'
import { bucketName, databaseAddress, objectPrefix, redisAddress, regionName } from '../forms/servers.ts'
import { headerSecret, secretKey, shownName } from '../forms/texts.ts'
import { filePath, onOff } from '../forms/values.ts'
import { webAddress } from '../forms/web.ts'
import type { SettingsOf } from './setting.ts'

/** Where the books, the answers and the results are kept. */
export type DataConfig = {
  /** As given: absolute, or relative to the working directory. */
  readonly dataDir: string
  /** Undefined for `anchor.json` in the data folder. */
  readonly anchorFile: string | undefined
  /** Undefined for SQLite in the data folder. */
  readonly database: DatabaseServer | undefined
  /** For the role that owns the tables. Undefined if that is the one of `database`. */
  readonly databaseOwner: DatabaseServer | undefined
  /** 32 bytes. Set if and only if `database` is. */
  readonly secretKey: Uint8Array | undefined
  /** Undefined for the host name. */
  readonly nodeName: string | undefined
  /** Undefined: answers are kept in memory only. */
  readonly redis: CacheServer | undefined
  /** Undefined for results in the data folder. */
  readonly s3Bucket: string | undefined
  readonly s3Region: string
  /** Undefined for AWS. */
  readonly s3Endpoint: string | undefined
  readonly s3AccessKeyId: string | undefined
  readonly s3SecretAccessKey: string | undefined
  /** Undefined for what suits the endpoint. */
  readonly isS3PathStyle: boolean | undefined
  readonly s3Prefix: string | undefined
}

export const dataSettings: SettingsOf<DataConfig> = {
  dataDir: {
    name: 'TOLLGATE_DATA_DIR',
    default: './data',
    meaning: 'The folder of the database and the keys. It is created if it does not exist.',
    ...filePath,
  },
  anchorFile: {
    name: 'TOLLGATE_ANCHOR_FILE',
    default: null,
    meaning:
      'The file that names the last commit of the database, preferably on another disk. Unset: `anchor.json` in ' +
      'the data folder.',
    ...filePath,
  },
  database: {
    name: 'TOLLGATE_DATABASE_URL',
    default: null,
    meaning:
      'A PostgreSQL database with the books, which several gateways can share: ' +
      '`postgres://tollgate:PASSWORD@db.example.com:5432/tollgate?sslmode=verify-full`. Unset: SQLite in the data folder.',
    isSecret: true,
    ...databaseAddress,
  },
  databaseOwner: {
    name: 'TOLLGATE_DATABASE_OWNER_URL',
    default: null,
    meaning:
      'The same database for the role that owns its tables, and makes or changes them when a gateway starts. Unset: ' +
      'the role of `TOLLGATE_DATABASE_URL` does that.',
    isSecret: true,
    ...databaseAddress,
  },
  secretKey: {
    name: 'TOLLGATE_SECRET_KEY',
    default: null,
    meaning:
      'The key that encrypts the keys of providers in a PostgreSQL database: 32 random bytes in base64, such as from ' +
      '`openssl rand -base64 32`. All gateways of a database have the same. Without a database, it is in `secret.key`.',
    isSecret: true,
    ...secretKey,
  },
  nodeName: {
    name: 'TOLLGATE_NODE_NAME',
    default: null,
    meaning:
      'The name of this gateway in `tollgate nodes`, with a PostgreSQL database. Unset: the host name.',
    ...shownName,
  },
  redis: {
    name: 'TOLLGATE_REDIS_URL',
    default: null,
    meaning:
      'A Valkey or Redis server that keeps answers for replays, for several gateways and over restarts: ' +
      '`redis://user:password@cache.example.com:6379/0`, or `rediss://` with TLS. Unset: answers are kept in memory only.',
    isSecret: true,
    ...redisAddress,
  },
  s3Bucket: {
    name: 'TOLLGATE_S3_BUCKET',
    default: null,
    meaning:
      'The bucket of an S3 storage for the results of image and video jobs. It must not be public. Unset: results are ' +
      'files in the data folder.',
    ...bucketName,
  },
  s3Region: {
    name: 'TOLLGATE_S3_REGION',
    default: 'us-east-1',
    meaning: 'The region of the bucket. Storages without regions accept the default.',
    ...regionName,
  },
  s3Endpoint: {
    name: 'TOLLGATE_S3_ENDPOINT',
    default: null,
    meaning: 'The address of the storage, without the bucket. Unset: AWS, in the region.',
    ...webAddress,
  },
  s3AccessKeyId: {
    name: 'TOLLGATE_S3_ACCESS_KEY_ID',
    default: null,
    meaning:
      'The id of the access key. It needs rights to read, write, list and delete. Required with a bucket.',
    isSecret: true,
    ...headerSecret,
  },
  s3SecretAccessKey: {
    name: 'TOLLGATE_S3_SECRET_ACCESS_KEY',
    default: null,
    meaning: 'The secret of the access key. Required with a bucket.',
    isSecret: true,
    ...headerSecret,
  },
  isS3PathStyle: {
    name: 'TOLLGATE_S3_PATH_STYLE',
    default: null,
    meaning:
      '`on` writes the bucket into the path of URLs, `off` into their host. Unset: `on` with ' +
      '`TOLLGATE_S3_ENDPOINT`, `off` for AWS.',
    ...onOff,
  },
  s3Prefix: {
    name: 'TOLLGATE_S3_PREFIX',
    default: null,
    meaning: 'The beginning of the names of all objects, for a bucket with other content. Unset: none.',
    ...objectPrefix,
  },
}
