import type { Bytes } from '../../../../src/domain/bytes.ts'
import { htmlReply, type SimulatedReply } from '../simulated-reply.ts'
import type { FileBehavior } from './behaviors.ts'

const HUGE_BYTES = 2 * 1024 ** 3 + 1
const PIECE_BYTES = 64 * 1024
const DRIP_BYTES = 1000
const SECOND_MS = 1000

export type FileTerms = {
  readonly bytes: Bytes
  readonly mediaType: string
  /** Where the file is, for redirects to it. */
  readonly url: string
  /** The link was followed from the simulator's own redirect. */
  readonly isRedirected: boolean
}

/** What the link to a result gives. */
export function fileReply(
  behavior: FileBehavior,
  { bytes, mediaType, url, isRedirected }: FileTerms,
): SimulatedReply {
  const headers = { 'content-type': mediaType }
  const whole = { send: 'answer', status: 200, headers, body: bytes } as const
  switch (behavior) {
    case 'file':
      return whole
    case 'forbidden':
      return htmlReply(403)
    case 'gone':
      return htmlReply(410)
    case 'server_error':
      return htmlReply(503)
    case 'html':
      return htmlReply()
    case 'empty':
      return { ...whole, body: '' }
    case 'reset':
      return { send: 'reset' }
    case 'redirect_to_file':
      return isRedirected ? whole : redirect(`${url}?redirected`)
    case 'redirect_loop':
      return redirect(url)
    case 'redirect_to_private':
      return redirect('http://169.254.169.254/latest/meta-data/')
    case 'huge':
      return { send: 'pieces', headers, piece: new Uint8Array(PIECE_BYTES), bytes: HUGE_BYTES, pauseMs: 0 }
    case 'drip':
      return { send: 'pieces', headers, piece: new Uint8Array(1), bytes: DRIP_BYTES, pauseMs: SECOND_MS }
  }
}

function redirect(location: string): SimulatedReply {
  return { send: 'answer', status: 302, headers: { location }, body: '' }
}
