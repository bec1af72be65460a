import { accessMutants } from './areas/access.ts'
import { adminTokenMutants } from './areas/admin-tokens.ts'
import { backupMutants } from './areas/backups.ts'
import { bodyMutants } from './areas/bodies.ts'
import { anchorMutants } from './areas/anchor.ts'
import { consoleMutants } from './areas/console.ts'
import { failoverMutants } from './areas/failover.ts'
import { jobMutants } from './areas/jobs.ts'
import { keyMutants } from './areas/keys.ts'
import { limitMutants } from './areas/limits.ts'
import { mailMutants } from './areas/mail.ts'
import { moneyMutants } from './areas/money.ts'
import { nodeMutants } from './areas/nodes.ts'
import { postgresMutants } from './areas/postgres.ts'
import { priceListMutants } from './areas/price-lists.ts'
import { reconcilerMutants } from './areas/reconciler.ts'
import { replayMutants } from './areas/replays.ts'
import { requestMutants } from './areas/requests.ts'
import { resultMutants } from './areas/results.ts'
import { sharedCacheMutants } from './areas/shared-cache.ts'
import { streamMutants } from './areas/streams.ts'
import { usageMutants } from './areas/usage.ts'
import { verifyMutants } from './areas/verify.ts'
import { webhookMutants } from './areas/webhooks.ts'
import type { Mutant } from './mutant.ts'

/** The mutants by what they break. `npm run mutants -- --area NAME` runs those of one area. */
export const areas = {
  money: moneyMutants,
  limits: limitMutants,
  postgres: postgresMutants,
  nodes: nodeMutants,
  'price-lists': priceListMutants,
  access: accessMutants,
  keys: keyMutants,
  'admin-tokens': adminTokenMutants,
  usage: usageMutants,
  requests: requestMutants,
  jobs: jobMutants,
  reconciler: reconcilerMutants,
  results: resultMutants,
  'shared-cache': sharedCacheMutants,
  replays: replayMutants,
  failover: failoverMutants,
  streams: streamMutants,
  verify: verifyMutants,
  anchor: anchorMutants,
  bodies: bodyMutants,
  backups: backupMutants,
  webhooks: webhookMutants,
  mail: mailMutants,
  console: consoleMutants,
} as const satisfies Readonly<Record<string, readonly Mutant[]>>

export type Area = keyof typeof areas
