import type { MediaResult } from '../../gateway/ports/media-provider.ts'
import { isJsonObject } from '../../protocol/json/parse-json.ts'
import { millisecondsOf } from '../media/clip-duration.ts'
import { linkOutput } from '../media/outputs.ts'

type Members = Readonly<Record<string, unknown>>

/** Members that have files. The first member with a file counts, because the images beside a video are its preview. */
const FILE_MEMBERS = ['video', 'videos', 'images', 'image']

/**
 * The files in the output of a model. Each model has its own form of output. Models of images and videos have their
 * files in one of these members, as a file or as a list of files.
 */
export function readOutputs(output: Members): MediaResult {
  const lists = FILE_MEMBERS.map(name => filesIn(output[name]))
  const files = lists.find(({ length }) => length > 0) ?? []
  const durationMs = millisecondsOf(files[0]?.['duration']) ?? millisecondsOf(output['duration'])
  return {
    outputs: files.flatMap(({ url }) => linkOutput(url) ?? []),
    isCounted: true,
    ...(durationMs === undefined ? {} : { durationMs }),
  }
}

function filesIn(value: unknown): readonly Members[] {
  const files = (Array.isArray(value) ? value : [value]).flatMap((file): readonly Members[] =>
    typeof file === 'string' ? [{ url: file }] : isJsonObject(file) ? [file] : [],
  )
  return files.filter(({ url }) => typeof url === 'string' && url !== '')
}
