import type { Hashes } from '../../books/rows/commit-rows.ts'

/** The hash functions of Bun. */
export const bunHashes: Hashes = {
  crc32: bytes => Bun.hash.crc32(bytes),
  newSha256: () => new Bun.SHA256(),
}

/** The SHA-256 of a text, in hexadecimal digits. */
export function sha256Of(text: string): string {
  return Bun.SHA256.hash(text, 'hex')
}
