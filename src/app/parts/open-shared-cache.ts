import type { Config } from '../../config/config.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { SharedCache } from '../../gateway/ports/requests/shared-cache.ts'
import { valkeyCache } from '../../stores/valkey/shared-cache.ts'
import type { Log } from '../../telemetry/log.ts'
import type { DataFolder } from '../data-folder.ts'

/**
 * Opens the cache of kept answers in a Valkey or Redis server, if there is one. Does not connect. If the folder has no
 * secret key yet, the new one is not written for the cache: a key that no edit of the catalog has used would be refused
 * at the next start. Until then, answers are not found after a restart.
 */
export function openSharedCache(
  { redis, replayTtlMs, secretKey }: Config,
  folder: Pick<DataFolder, 'secretKey'>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): SharedCache | undefined {
  if (redis === undefined || replayTtlMs === 0) return undefined
  const onChange = {
    lost: (reason: string) =>
      log.warn('the shared cache does not answer, so answers are kept in memory only', { reason }),
    back: () => log.info('the shared cache answers again', {}),
  }
  return valkeyCache(
    { server: redis, secretKey: secretKey ?? folder.secretKey().bytes, clock, onChange },
    { ttlMs: replayTtlMs },
  )
}
