import { randomBytes } from 'node:crypto'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { CacheServer, SharedCache } from '../../gateway/ports/requests/shared-cache.ts'
import { CacheClient, reasonOf, type OnCacheChange } from './client.ts'
import { Connection } from './connection.ts'
import { ValkeyFlights } from './flights.ts'
import { valkeyReplays, VALUE_BYTES_MAX } from './replays.ts'
import { RefusedCommand } from './resp.ts'
import { sealedEntries } from './sealed-entry.ts'

const CHECK_MS = 10_000

/** A cache in a Valkey or Redis server. It does not connect before its first call. */
export function valkeyCache(
  parts: {
    readonly server: CacheServer
    /** 32 bytes. The nodes that share answers have the same. */
    readonly secretKey: Uint8Array
    readonly clock: Clock
    readonly onChange: OnCacheChange
  },
  { ttlMs }: { readonly ttlMs: number },
): SharedCache {
  const { server, clock, onChange } = parts
  const client = new CacheClient(server, { clock, onChange }, { valueBytesMax: VALUE_BYTES_MAX })
  let rejected = 0
  const shared = {
    client,
    clock,
    entries: sealedEntries(parts.secretKey),
    onRejected: () => {
      rejected += 1
    },
  }
  const flights = new ValkeyFlights(shared)
  return {
    replays: valkeyReplays(shared, { ttlMs }),
    flights,
    name: nameOf(server),
    get counts() {
      const { answered, failed, skipped } = client
      return { answered, failed, skipped, rejected }
    },
    get isConnected() {
      return client.isConnected
    },
    start: () => client.open(),
    problem: () => problemOf(server, clock),
    close() {
      flights.close()
      client.close()
    },
  }
}

function nameOf({ host, port, isTls, database }: CacheServer): string {
  const place = host.includes(':') ? `[${host}]` : host
  return `${isTls ? 'rediss' : 'redis'}://${place}:${port}/${database}`
}

/** Uses all commands that the gateway needs, on a value of its own. */
async function problemOf(server: CacheServer, clock: Clock): Promise<string | undefined> {
  const name = `tollgate:1:check:${randomBytes(16).toString('hex')}`
  try {
    const connection = await Connection.open(server, {
      clock,
      valueBytesMax: VALUE_BYTES_MAX,
      onLost: () => undefined,
    })
    try {
      const replies = await connection.call([
        ['SET', name, 'written by tollgate', 'NX', 'PX', String(CHECK_MS)],
        ['EVAL', "return redis.call('GET', KEYS[1])", '1', name],
        ['GET', name],
        ['DEL', name],
      ])
      const refused = replies.find(reply => reply instanceof RefusedCommand)
      if (refused !== undefined) return reasonOf(refused)
      const [, , read] = replies
      const isRead = read instanceof Uint8Array && new TextDecoder().decode(read) === 'written by tollgate'
      return isRead ? undefined : 'It returned another value than was written.'
    } finally {
      connection.close()
    }
  } catch (error) {
    return reasonOf(error)
  }
}
