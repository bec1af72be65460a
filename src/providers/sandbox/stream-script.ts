import type { Bytes } from '../../domain/bytes.ts'
import type { CallerSignal } from '../../gateway/ports/caller-signal.ts'
import { pause, type Clock } from '../../gateway/ports/clock.ts'
import type { StreamEnd, UpstreamStream } from '../../gateway/ports/providers/text-provider.ts'
import { sandboxError, type SandboxOptions } from './wire.ts'

/** How a scripted stream ends after its last piece. */
type ScriptedEnd = 'ended' | 'broken' | 'silent'

type StreamScript = {
  readonly pieces: Iterator<Bytes>
  readonly end: ScriptedEnd
  readonly paceMs: number
}

const encoder = new TextEncoder()

/** A whole stream of one route, and the frame in which the route reports an error. */
export type WholeStream = {
  readonly frames: () => Iterable<string>
  readonly errorFrame: (error: Readonly<Record<string, unknown>>) => string
}

/** The script of a stream, with the faults that its request asks for. */
export function streamScript(whole: WholeStream, options: SandboxOptions, paceMs: number): StreamScript {
  const { frames, end } = withFaults(whole, options)
  const bytes = options.chunk_bytes
  return {
    pieces: bytes === undefined ? encoded(frames) : splitAgain(encoded(frames), bytes),
    end,
    paceMs: options.pace_ms ?? paceMs,
  }
}

type Faulty = { readonly frames: Iterable<string>; readonly end: ScriptedEnd }

function withFaults({ frames: whole, errorFrame }: WholeStream, options: SandboxOptions): Faulty {
  const { body, fail, break_after, silent_after, error_frame_after } = options
  if (body !== undefined) return { frames: [body], end: 'ended' }
  if (fail === 'cut') return { frames: cutInHalf([...whole()]), end: 'broken' }
  if (fail === 'broken_json') return { frames: [...first(whole(), 2), BROKEN_FRAME], end: 'ended' }
  if (break_after !== undefined) return { frames: first(whole(), break_after), end: 'broken' }
  if (silent_after !== undefined) return { frames: first(whole(), silent_after), end: 'silent' }
  if (error_frame_after !== undefined) {
    return {
      frames: [...first(whole(), error_frame_after), errorFrame(sandboxError(options))],
      end: 'ended',
    }
  }
  return { frames: whole(), end: 'ended' }
}

const BROKEN_FRAME = 'data: {"id":"chatcmpl-sandbox","choices":[{"ind\n\n'

/** Half of the frames, and half of the next frame. */
function cutInHalf(frames: readonly string[]): readonly string[] {
  const whole = Math.floor(frames.length / 2)
  const last = frames[whole] ?? ''
  return [...frames.slice(0, whole), last.slice(0, Math.floor(last.length / 2))]
}

function* first(frames: Iterable<string>, count: number): Generator<string> {
  let left = count
  for (const frame of frames) {
    if (left <= 0) return
    left -= 1
    yield frame
  }
}

function* encoded(frames: Iterable<string>): Generator<Bytes> {
  for (const frame of frames) {
    if (frame !== '') yield encoder.encode(frame)
  }
}

/** The same bytes in pieces of `size`; the last one may be shorter. */
function* splitAgain(pieces: Iterable<Bytes>, size: number): Generator<Bytes> {
  let filling = new Uint8Array(size)
  let filled = 0
  for (const piece of pieces) {
    for (let offset = 0; offset < piece.length;) {
      const taken = piece.subarray(offset, offset + size - filled)
      filling.set(taken, filled)
      filled += taken.length
      offset += taken.length
      if (filled === size) {
        yield filling
        filling = new Uint8Array(size)
        filled = 0
      }
    }
  }
  if (filled > 0) yield filling.slice(0, filled)
}

type Limits = { readonly idleTimeoutMs: number; readonly signal: CallerSignal | undefined }

/** Plays a script: the first piece at once, the others at its pace, and each only when it is read. */
export function scriptedStream(
  script: StreamScript,
  clock: Clock,
  { idleTimeoutMs, signal }: Limits,
): UpstreamStream {
  const controller = new AbortController()
  const onAbort = () => controller.abort()
  signal?.addEventListener('abort', onAbort)
  let end: StreamEnd | undefined
  let isFirst = true

  const finish = (how: StreamEnd): StreamEnd => {
    signal?.removeEventListener('abort', onAbort)
    end ??= how
    return end
  }
  /** Waits. Resolves with the end of the stream if it ended during the wait. */
  const wait = async (delayMs: number): Promise<StreamEnd | undefined> => {
    const isOver = await pause(clock, Math.min(delayMs, idleTimeoutMs), controller.signal)
    if (!isOver) return finish({ end: 'aborted' })
    return delayMs < idleTimeoutMs ? undefined : finish({ end: 'idle' })
  }
  const atEnd = async (): Promise<StreamEnd> => {
    if (script.end === 'silent') return (await wait(Infinity)) ?? finish({ end: 'idle' })
    return finish(script.end === 'broken' ? { end: 'broken', reason: 'ECONNRESET' } : { end: 'ended' })
  }

  const next = async (): Promise<Bytes | StreamEnd> => {
    if (end !== undefined) return end
    if (controller.signal.aborted) return finish({ end: 'aborted' })
    const piece = script.pieces.next()
    if (piece.done === true) return atEnd()
    const isPaced = !isFirst && script.paceMs > 0
    isFirst = false
    return (isPaced ? await wait(script.paceMs) : undefined) ?? piece.value
  }

  return {
    get end() {
      return end
    },
    async read() {
      const piece = await next()
      return piece instanceof Uint8Array ? piece : undefined
    },
    cancel() {
      if (end !== undefined) return
      controller.abort()
      finish({ end: 'aborted' })
    },
  }
}
