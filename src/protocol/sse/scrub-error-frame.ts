import { isJsonObject } from '../json/parse-json.ts'
import { scrub, scrubTexts, type UpstreamSecrets } from '../scrub.ts'
import { readFrame } from './frame.ts'
import type { Bytes } from '../../domain/bytes.ts'

const encoder = new TextEncoder()

/**
 * An upstream's error frame without hosts, keys and organisations. It is the only kind of frame that changes even in a
 * stream that is relayed byte for byte, because the error comes from the operator's provider, not from the model.
 * Returns the same frame when there was nothing to remove.
 */
export function scrubErrorFrame(frame: Bytes, secrets: UpstreamSecrets): Bytes {
  const { name, data } = readFrame(frame)
  if (data === undefined) return frame
  const shown = scrubData(data, secrets)
  if (shown === data) return frame
  const event = name === '' ? '' : `event: ${name}\n`
  return encoder.encode(`${event}data: ${shown.replaceAll('\n', '\ndata: ')}\n\n`)
}

function scrubData(data: string, secrets: UpstreamSecrets): string {
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    return scrub(data, secrets)
  }
  const shown = JSON.stringify(scrubErrors(value, secrets))
  return shown === JSON.stringify(value) ? data : shown
}

/** Scrubs only the members about the error: a response that failed half-way also contains the model's output. */
function scrubErrors(value: unknown, secrets: UpstreamSecrets): unknown {
  if (!isJsonObject(value)) return scrubTexts(value, secrets)
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      if (key === 'response' && isJsonObject(member)) return [key, scrubErrors(member, secrets)]
      return [key, key === 'error' || key === 'message' ? scrubTexts(member, secrets) : member]
    }),
  )
}
