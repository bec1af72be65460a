import type { OutputType } from '../../domain/jobs/output-types.ts'

/** The formats that inputs and results may have. */
export type MediaType =
  | 'image/png'
  | 'image/jpeg'
  | 'image/gif'
  | 'image/webp'
  | 'video/mp4'
  | 'video/quicktime'
  | 'video/webm'

/** How many of a file's first bytes decide its format. */
export const SIGNATURE_BYTES = 64

/**
 * Brands of ISO base media files that are not videos: still images, sequences of images, and sound. All other brands
 * count as MP4, because every camera and encoder has its own.
 */
const OTHER_BRANDS = /^(?:avi[fs]|he[iv][cmsx]|mi[af][f1]|msf1|jp[2xm] |crx |M4[AB] |M4P )$/

/**
 * The format of a file by its first `SIGNATURE_BYTES` bytes, or all of a shorter one; undefined for any other format.
 */
export function mediaTypeOf(bytes: Uint8Array): MediaType | undefined {
  const text = String.fromCharCode(...bytes.subarray(0, SIGNATURE_BYTES))
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (/^GIF8[79]a/.test(text)) return 'image/gif'
  if (/^RIFF[^]{4}WEBP/.test(text)) return 'image/webp'
  if (text.startsWith('\x1a\x45\xdf\xa3')) return isWebm(text) ? 'video/webm' : undefined
  return typeByBrand(text)
}

export function isImage(type: MediaType): boolean {
  return type.startsWith('image/')
}

/** Matroska files begin in the same way, and differ in the type that the header names. */
function isWebm(text: string): boolean {
  return /\x42\x82[^]{1,8}webm/.test(text)
}

/** Of an ISO base media file, whose first box names its brand. */
function typeByBrand(text: string): MediaType | undefined {
  if (text.slice(4, 8) !== 'ftyp' || text.length < 12) return undefined
  const brand = text.slice(8, 12)
  if (brand === 'qt  ') return 'video/quicktime'
  return OTHER_BRANDS.test(brand) ? undefined : 'video/mp4'
}

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
