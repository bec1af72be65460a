import { anchorOf, anchorText } from '../../domain/ledger/anchor.ts'
import { AnchorReplacedError, NotAnAnchorError, type AnchorFile } from '../../gateway/ports/ledger/anchor.ts'
import { CONDITION_FAILED, NO_OBJECT, type Bucket, type Expected } from './bucket.ts'

const OBJECT = 'anchor.json'

/**
 * The answers of storages if an object to replace does not exist. Some give the answer to a condition that fails.
 */
const REPLACED: readonly Expected[] = [NO_OBJECT, ...CONDITION_FAILED]

/**
 * The anchor of all nodes, as an object of a bucket. A write has the condition that the object is the one that this
 * process knows, so the write of a slow node never replaces a later one.
 */
export function anchorObject(bucket: Bucket): AnchorFile {
  const path = `${bucket.name}/${OBJECT}`
  /** Of the object that was read or written last. Undefined if there was none. */
  let etag: string | undefined
  return {
    path,
    async read() {
      const found = await bucket.call({ method: 'GET', object: OBJECT }, [NO_OBJECT])
      etag = found.status === NO_OBJECT.status ? undefined : found.etag
      if (etag === undefined) return undefined
      const anchor = anchorOf(found.text)
      if (anchor === undefined) throw new NotAnAnchorError(`${path} is not an anchor`)
      return anchor
    },
    async write(anchor) {
      const condition = etag === undefined ? { 'if-none-match': '*' } : { 'if-match': `"${etag}"` }
      const body = new TextEncoder().encode(anchorText(anchor))
      const headers = { ...condition, 'content-type': 'application/json' }
      const written = await bucket.call({ method: 'PUT', object: OBJECT, headers, body }, REPLACED)
      if (REPLACED.some(({ status }) => status === written.status))
        throw new AnchorReplacedError(`Another node replaced ${path}.`)
      etag = written.etag
    },
  }
}
