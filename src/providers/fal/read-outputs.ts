import type { MediaResult } from '../../gateway/ports/media-provider.ts'
import { isJsonObject } from '../../protocol/json/parse-json.ts'
import { millisecondsOf } from '../media/clip-duration.ts'
import { linkOutput } from '../media/outputs.ts'

type Members = Readonly<Record<string, unknown>>

/**
 * The files in the output of a model. Each model has its own form of output. Those for images and videos have their
 * files in one of these members, as a file or as a list of files.
 */
export function readOutputs(output: Members): MediaResult {
  const files = ['images', 'image', 'videos', 'video'].flatMap(name => filesIn(output[name]))
  const durationMs = millisecondsOf(files[0]?.['duration']) ?? millisecondsOf(output['duration'])
  return {
    outputs: files.flatMap(({ url }) => linkOutput(url) ?? []),
    isCounted: true,
    ...(durationMs === undefined ? {} : { durationMs }),
  }
}

function filesIn(value: unknown): readonly Members[] {
  return (Array.isArray(value) ? value : [value]).flatMap(file =>
    typeof file === 'string' ? [{ url: file }] : isJsonObject(file) ? [file] : [],
  )
}
