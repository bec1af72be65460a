import type { MediaOutput } from '../../gateway/ports/media-provider.ts'

/**
 * The output for a link. Some servers send the file itself as a data URL instead of a link. Undefined for any other
 * value.
 */
export function linkOutput(url: unknown): MediaOutput | undefined {
  if (typeof url !== 'string' || url === '') return undefined
  const [, base64] = /^data:[^,]{0,100};base64,(.*)$/is.exec(url) ?? []
  return base64 === undefined ? { from: 'url', url } : base64Output(base64)
}

/** Undefined for text that is not base64, and for an empty file. */
export function base64Output(base64: unknown): MediaOutput | undefined {
  if (typeof base64 !== 'string' || base64 === '') return undefined
  try {
    const bytes = Uint8Array.fromBase64(base64)
    return bytes.length === 0 ? undefined : { from: 'bytes', bytes }
  } catch {
    return undefined
  }
}
