import { fileName, type SimulatedJob } from './kling.ts'
import { htmlReply, type SimulatedReply } from './simulated-reply.ts'

const HUGE_BYTES = 2 * 1024 ** 3 + 1
const PIECE_BYTES = 64 * 1024
const DRIP_BYTES = 1000
const SECOND_MS = 1000

export type FileOptions = {
  readonly clipOf: (durationMs: number) => Uint8Array<ArrayBuffer>
  readonly filesUrl: string
  /** The link was followed from the simulator's own redirect. */
  readonly isRedirected: boolean
}

/** What the link to a job's clip gives. */
export function clipReply(
  job: SimulatedJob | undefined,
  { clipOf, filesUrl, isRedirected }: FileOptions,
): SimulatedReply {
  if (job === undefined) return htmlReply(404)
  const clip = clipOf((job.behavior.clipS ?? job.seconds) * 1000)
  const video = { 'content-type': 'video/mp4' }
  switch (job.behavior.file ?? 'clip') {
    case 'clip':
      return { send: 'answer', status: 200, headers: video, body: clip }
    case 'forbidden':
      return htmlReply(403)
    case 'gone':
      return htmlReply(410)
    case 'server_error':
      return htmlReply(503)
    case 'html':
      return htmlReply()
    case 'empty':
      return { send: 'answer', status: 200, headers: video, body: '' }
    case 'reset':
      return { send: 'reset' }
    case 'redirect_to_clip':
      if (isRedirected) return { send: 'answer', status: 200, headers: video, body: clip }
      return redirect(`${filesUrl}/${fileName(job)}.mp4?redirected`)
    case 'redirect_loop':
      return redirect(`${filesUrl}/${fileName(job)}.mp4`)
    case 'redirect_to_private':
      return redirect('http://169.254.169.254/latest/meta-data/')
    case 'huge':
      return {
        send: 'pieces',
        headers: video,
        piece: new Uint8Array(PIECE_BYTES),
        bytes: HUGE_BYTES,
        pauseMs: 0,
      }
    case 'drip':
      return {
        send: 'pieces',
        headers: video,
        piece: new Uint8Array(1),
        bytes: DRIP_BYTES,
        pauseMs: SECOND_MS,
      }
  }
}

function redirect(location: string): SimulatedReply {
  return { send: 'answer', status: 302, headers: { location }, body: '' }
}
