import { createHash } from 'node:crypto'
import type { Catalog } from '../../domain/catalog/catalog.ts'

/** A JSON body as bytes, with its ETag. */
export type PreparedJson = { readonly etag: string; readonly body: Uint8Array<ArrayBuffer> }

/** 128 bits of the hash: short, and enough to make collisions impossible in practice. */
const ETAG_LENGTH = 22

/** Renders a catalog once per revision, and returns the same body for later requests. */
export function preparedOnce(render: (catalog: Catalog) => unknown): (catalog: Catalog) => PreparedJson {
  // An edit creates a new catalog. The bytes of the old one are collected with it.
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
