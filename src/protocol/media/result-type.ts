import type { OutputType } from '../../domain/jobs/output-types.ts'
import { mediaTypeOf } from './media-signature.ts'

/** How many of a result's first bytes decide its format. An SVG file may begin with comments. */
export const RESULT_HEAD_BYTES = 4096

/** The brands of an ISO base media file are in its first box. Real files list fewer than twenty. */
const BRANDS_BYTES_MAX = 128

/**
 * The format of a result by its first `RESULT_HEAD_BYTES` bytes, or all of a shorter one; undefined for any other
 * format. The type that a server or a data URL claims does not count.
 */
export function resultTypeOf(head: Uint8Array): OutputType | undefined {
  return mediaTypeOf(head) ?? stillTypeOf(head) ?? otherTypeOf(head)
}

/** AVIF and HEIC files begin like an MP4 file, and differ in their brands. */
function stillTypeOf(head: Uint8Array): OutputType | undefined {
  const text = latin1(head.subarray(0, BRANDS_BYTES_MAX))
  if (text.slice(4, 8) !== 'ftyp' || text.length < 12) return undefined
  const boxBytes = new DataView(head.buffer, head.byteOffset).getUint32(0)
  // The major brand, its version, and the compatible brands.
  const list = text.slice(8, 12) + text.slice(16, boxBytes)
  const brands = list.match(/[^]{4}/g) ?? []
  if (brands.some(brand => brand === 'avif' || brand === 'avis')) return 'image/avif'
  return brands.some(brand => /^he[iv][cmsx]$/.test(brand)) ? 'image/heic' : undefined
}

function otherTypeOf(head: Uint8Array): OutputType | undefined {
  const start = latin1(head.subarray(0, 64))
  if (start.startsWith('II*\0') || start.startsWith('MM\0*')) return 'image/tiff'
  if (start.startsWith('\x1a\x45\xdf\xa3') && /\x42\x82[^]{1,8}matroska/.test(start))
    return 'video/x-matroska'
  return isSvg(head) ? 'image/svg+xml' : undefined
}

/** The parts that may precede the root of an SVG file: the XML declaration, comments, and the document type. */
const PROLOG_ITEM = /^\s*(?:<\?xml[^>]*>|<!--[^]*?-->|<!doctype\s+svg[^>]*>)/i

function isSvg(head: Uint8Array): boolean {
  // The decoder removes a byte order mark.
  let text = new TextDecoder().decode(head.subarray(0, RESULT_HEAD_BYTES))
  for (let item = PROLOG_ITEM.exec(text); item !== null; item = PROLOG_ITEM.exec(text))
    text = text.slice(item[0].length)
  return /^\s*<svg[\s>/]/.test(text)
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}
