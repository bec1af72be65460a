import { createHash } from 'node:crypto'
import type { Catalog } from '../../domain/catalog/catalog.ts'

/** A JSON body as the bytes that are sent, with the ETag that stands for exactly these bytes. */
export type PreparedJson = { readonly etag: string; readonly body: Uint8Array<ArrayBuffer> }

/** 128 bits of the hash: enough that two bodies never share an ETag, short enough for a header. */
const ETAG_LENGTH = 22

/** Renders a catalog once for each revision; what is asked for after that costs nothing. */
export function preparedOnce(render: (catalog: Catalog) => unknown): (catalog: Catalog) => PreparedJson {
  // An edit makes a new catalog, and the old one takes its bytes along when it goes.
  const bodies = new WeakMap<Catalog, PreparedJson>()
  return catalog => {
    let prepared = bodies.get(catalog)
    if (prepared === undefined) {
      prepared = prepareJson(render(catalog))
      bodies.set(catalog, prepared)
    }
    return prepared
  }
}

function prepareJson(value: unknown): PreparedJson {
  const body = new TextEncoder().encode(JSON.stringify(value))
  const hash = createHash('sha256').update(body).digest('base64url')
  return { etag: `"${hash.slice(0, ETAG_LENGTH)}"`, body }
}

/** Whether an `If-None-Match` names this ETag: the client has these bytes already. */
export function isKnown(etag: string, ifNoneMatch: string | null): boolean {
  if (ifNoneMatch === null) return false
  return ifNoneMatch.split(',').some(known => {
    const candidate = known.trim()
    return candidate === '*' || candidate.replace(/^W\//, '') === etag
  })
}
