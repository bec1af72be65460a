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
