import { randomBytes } from 'node:crypto'
import { BlobsUnavailableError, type BlobStoreCheck } from '../../gateway/ports/media/blobs.ts'
import { failureOf, NO_OBJECT, type Bucket, type BucketRequest } from './bucket.ts'

const CONTENT = new TextEncoder().encode(
  'Written by tollgate to check this bucket. It must not be readable without a key.',
)

/**
 * Writes, reads, lists and deletes a small object, and tries to read it like a stranger. Only that shows whether the
 * bucket is public: rights come from policies, access lists and settings of the account, and storages describe them in
 * different ways or not at all.
 */
export async function checkBucket(bucket: Bucket): Promise<BlobStoreCheck> {
  const object = `check/${randomBytes(16).toString('hex')}`
  try {
    await bucket.call({ method: 'PUT', object, body: CONTENT })
    try {
      return await checkReads(bucket, object)
    } finally {
      await bucket.call({ method: 'DELETE', object }, [NO_OBJECT])
    }
  } catch (error) {
    if (!(error instanceof BlobsUnavailableError)) throw error
    return { outcome: error.isRefusal ? 'refused' : 'unavailable', detail: error.message }
  }
}

async function checkReads(bucket: Bucket, object: string): Promise<BlobStoreCheck> {
  const { text } = await bucket.call({ method: 'GET', object })
  if (text !== new TextDecoder().decode(CONTENT))
    return { outcome: 'refused', detail: `${bucket.name} returns other bytes than were written.` }
  const listing = { method: 'GET', object: '', query: { 'list-type': '2', 'max-keys': '1' } } as const
  await bucket.call(listing)
  if (await isOpenToAll({ method: 'GET', object }, bucket))
    return {
      outcome: 'public',
      detail: `${bucket.name} is public: everybody can read its objects. Block public access to the bucket.`,
    }
  if (await isOpenToAll(listing, bucket))
    return {
      outcome: 'public',
      detail: `${bucket.name} is public: everybody can list its objects. Block public access to the bucket.`,
    }
  return {
    outcome: 'sound',
    detail: `${bucket.name} can be written, read, listed and cleared, with the keys only.`,
  }
}

/** Whether a request without a signature succeeds. Any refusal or failure counts as closed. */
async function isOpenToAll(request: BucketRequest, bucket: Bucket): Promise<boolean> {
  try {
    await bucket.call({ ...request, isAnonymous: true })
    return true
  } catch (error) {
    if (error instanceof BlobsUnavailableError || failureOf(error) !== undefined) return false
    throw error
  }
}
