import { IMAGE_MODEL } from './start-media.ts'

/**
 * An image request with this many references of this size, as pieces. One reference is in memory, however many there
 * are.
 */
export function referencesBody(
  references: number,
  bytes: number,
  model: string = IMAGE_MODEL,
): readonly (Buffer | string)[] {
  const file = new Uint8Array(bytes)
  crypto.getRandomValues(file.subarray(0, 65_536))
  // The signature of a PNG.
  file.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const base64 = Buffer.from(Buffer.from(file.buffer).toString('base64'))
  const values = Array.from({ length: references }, (_, index) => [
    `${index === 0 ? '' : ','}"data:image/png;base64,`,
    base64,
    '"',
  ])
  return [`{"model":"${model}","prompt":"bench","image":[`, ...values.flat(), ']}']
}
