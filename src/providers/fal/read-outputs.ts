import type { MediaOutput, MediaResult } from '../../gateway/ports/media-provider.ts'
import { isJsonObject } from '../../protocol/json/parse-json.ts'

type Members = Readonly<Record<string, unknown>>

/**
 * The files in the output of a model. Each model has its own form of output. Those for images and videos have their
 * files in one of these members, as a file or as a list of files.
 */
export function readOutputs(output: Members): MediaResult {
  const files = ['images', 'image', 'videos', 'video'].flatMap(name => filesIn(output[name]))
  const durationMs = millisecondsOf(files[0]?.['duration']) ?? millisecondsOf(output['duration'])
  return {
    outputs: files.flatMap(file => fileOutput(file) ?? []),
    isCounted: true,
    ...(durationMs === undefined ? {} : { durationMs }),
  }
}

function filesIn(value: unknown): readonly Members[] {
  return (Array.isArray(value) ? value : [value]).flatMap(file =>
    typeof file === 'string' ? [{ url: file }] : isJsonObject(file) ? [file] : [],
  )
}

function fileOutput({ url }: Members): MediaOutput | undefined {
  if (typeof url !== 'string' || url === '') return undefined
  const [, base64] = /^data:[^,]{0,100};base64,(.*)$/is.exec(url) ?? []
  if (base64 === undefined) return { from: 'url', url }
  try {
    return { from: 'bytes', bytes: Uint8Array.fromBase64(base64) }
  } catch {
    return undefined
  }
}

/** Undefined for what is not the length of a clip in seconds. */
function millisecondsOf(seconds: unknown): number | undefined {
  const milliseconds = typeof seconds === 'number' ? Math.round(seconds * 1000) : 0
  return Number.isSafeInteger(milliseconds) && milliseconds > 0 ? milliseconds : undefined
}
