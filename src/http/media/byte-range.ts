import type { BlobRange } from '../../gateway/ports/blobs.ts'

/** The part of a file that a `Range` header asks for. */
export type AskedRange =
  /** No range, or one that is ignored: another unit, several ranges, or text that is not a range. */
  | { readonly kind: 'whole' }
  | ({ readonly kind: 'part' } & BlobRange)
  /** The file has no byte in the range. */
  | { readonly kind: 'unsatisfiable' }

const WHOLE: AskedRange = { kind: 'whole' }
const SINGLE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i

/**
 * Reads a `Range` header for a file with this number of bytes. Only single ranges are supported; a server may ignore
 * any other.
 */
export function readRange(header: string | null, bytes: number): AskedRange {
  const [, first = '', last = ''] = SINGLE.exec(header ?? '') ?? []
  if (first === '' && last === '') return WHOLE
  if (first === '') return part(Math.max(0, bytes - Number(last)), bytes)
  const start = Number(first)
  if (last !== '' && Number(last) < start) return WHOLE
  return part(start, last === '' ? bytes : Math.min(bytes, Number(last) + 1))
}

function part(start: number, end: number): AskedRange {
  return start < end ? { kind: 'part', start, end } : { kind: 'unsatisfiable' }
}
