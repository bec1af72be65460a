import { hostname } from 'node:os'
import { GatewayError } from '../../domain/errors.ts'
import type { Anchoring } from '../../gateway/admin/operating/verify-books.ts'
import { openSharedAnchor } from '../../gateway/books/shared-anchor.ts'
import { SharedChecks } from '../../gateway/books/shared-checks.ts'
import type { DatabaseServer } from '../../gateway/ports/nodes/database-server.ts'
import { anchorObject } from '../../stores/s3/anchor-object.ts'
import { openPostgresStore, type PostgresStore } from '../../stores/postgres/store.ts'
import { openBucket } from '../parts/open-job-files.ts'
import { version } from '../version.ts'
import { guardOf } from './guard-of.ts'
import type { Node, NodeParts } from './node.ts'
import { randomInBulk } from './random-in-bulk.ts'

/** Opens a node in the PostgreSQL database. Its books have an anchor if there is a bucket, which all nodes share. */
export async function openPostgresNode(
  parts: NodeParts,
  keys: { readonly database: DatabaseServer; readonly secretKey: Uint8Array },
): Promise<Node> {
  const { config, isOffline, onStoreProblem } = parts
  const name = config.nodeName ?? hostname()
  const store = await openPostgresStore({
    ...keys,
    databaseOwner: config.databaseOwner,
    name: isOffline ? `${name} (command)` : name,
    version,
    clock: parts.clock,
    random64: randomInBulk(),
    onProblem: onStoreProblem,
  })
  const { isWritable, refusal, nodes, clock, clockOffsetMs, problem, warning, upkeep } = store
  const { anchor, anchorFailures, stop } = await sharedAnchorOf(store, parts).catch(
    async (error: unknown) => {
      await store.close()
      throw error
    },
  )
  const guarded = guardOf(store.node, { anchor, isWritable, buildRefusal: refusal })
  const { leases } = store.node
  return {
    ...store.node,
    ...guarded,
    sharedChecks: new SharedChecks({ checks: store.bookChecks, leases, guard: guarded.guard, clock }),
    nodes,
    clock,
    clockOffsetMs,
    problem,
    warning,
    upkeep,
    anchor,
    anchorFailures,
    async close() {
      await stop()
      await store.close()
    },
  }
}

/** The anchor in the bucket of the settings. */
async function sharedAnchorOf(
  { node, clock }: PostgresStore,
  { config, http, clock: ownClock, onAnchorFailed }: NodeParts,
): Promise<Pick<Node, 'anchor' | 'anchorFailures'> & { readonly stop: () => Promise<void> }> {
  const bucket = openBucket(config, { http, clock: ownClock })
  if (bucket === undefined)
    return { anchor: NO_ANCHOR, anchorFailures: () => 0, stop: () => Promise.resolve() }
  let anchorFailures = 0
  const anchor = await openSharedAnchor({
    file: anchorObject(bucket),
    chains: node.commitChains,
    auditLog: node.auditLog,
    leases: node.leases,
    clock,
    onFailed(error) {
      anchorFailures += 1
      onAnchorFailed(error)
    },
  })
  return { anchor, anchorFailures: () => anchorFailures, stop: () => anchor.stop() }
}

const NO_ANCHOR: Anchoring = {
  problem: undefined,
  acceptLoss: () =>
    Promise.reject(
      new GatewayError(
        'invalid_field',
        'Books in PostgreSQL have no anchor without TOLLGATE_S3_BUCKET, so no loss can be accepted.',
        {
          param: 'accept_loss',
        },
      ),
    ),
}
