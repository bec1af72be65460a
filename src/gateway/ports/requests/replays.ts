import type { Bytes } from '../../../domain/bytes.ts'
import type { Id } from '../../../domain/ids.ts'

/** The request that an answer was made for, and that paid for it. */
export type FirstRequest = {
  readonly id: Id
  /** The end user that it names. Identical requests name the same one. */
  readonly userId?: string
}

/** The answer to a request, kept for identical requests. */
export type KeptAnswer = {
  readonly first: FirstRequest
  readonly contentType: string
  /** The catalog name of the model that answered. */
  readonly model: string
  /** Text, or the bytes of a stream. */
  readonly body: string | Bytes
}

/** Identifies identical requests. */
export type Fingerprint = {
  readonly apiKeyId: number
  /** The public id of the API key. Unlike the other one, no key of other books has it. */
  readonly apiKey: string
  /** One of a few names. */
  readonly route: string
  /** SHA-256 of the body in base64. */
  readonly digest: string
  /** The `fingerprintKey` of the others. */
  readonly key: string
}

/** The parts of a fingerprint that tell requests to one gateway apart. */
export type LocalFingerprint = Pick<Fingerprint, 'apiKeyId' | 'route' | 'digest'>

export function fingerprintOf(parts: Omit<Fingerprint, 'key'>): Fingerprint {
  return { ...parts, key: fingerprintKey(parts) }
}

/** The same text for the same fingerprint, as the key of a map in this process. */
export function fingerprintKey({ apiKeyId, route, digest }: LocalFingerprint): string {
  return `${apiKeyId} ${route} ${digest}`
}

/**
 * Recent answers by the fingerprint of their request. It is a cache: if it is full or down, it keeps and finds nothing,
 * which costs another call of the model and is never an error. No method rejects, and each resolves within
 * milliseconds.
 */
export interface Replays {
  /** The kept answer; undefined if there is none or its time is over. */
  find(fingerprint: Fingerprint): Promise<KeptAnswer | undefined>

  /**
   * Keeps an answer for the time that the cache was opened with, from now. Keeping another answer replaces it and
   * starts its time again. The body is copied before this returns.
   */
  keep(fingerprint: Fingerprint, answer: KeptAnswer): Promise<void>
}

/** The memory that kept answers and the copies of running streams share. */
export interface ReplayBudget {
  /** Takes this many bytes, or takes nothing and returns false. */
  take(bytes: number): boolean
  /** Gives bytes back. */
  give(bytes: number): void
  /** The number of bytes taken. */
  readonly taken: number
}
