import type { MediaOutput } from '../../gateway/ports/media-provider.ts'
import { isJsonObject } from '../../protocol/json/parse-json.ts'
import { linkOutput } from '../media/outputs.ts'

/** Members that have files. The first member with a file counts, because the images beside a video are its preview. */
const FILE_MEMBERS = ['video', 'videos', 'images', 'image', 'output', 'url']

/**
 * The deepest output that models have: an object with a list of objects with links, in the member of another object.
 */
const LEVELS_MAX = 4

/** The files in an output. Each model has its own form: a link, a list of links, or an object with links. */
export function outputLinks(output: unknown, levels = LEVELS_MAX): readonly MediaOutput[] {
  if (typeof output === 'string') return [linkOutput(output) ?? []].flat()
  if (levels === 0) return []
  if (Array.isArray(output)) return output.flatMap(item => outputLinks(item, levels - 1))
  if (!isJsonObject(output)) return []
  const lists = FILE_MEMBERS.map(name => outputLinks(output[name], levels - 1))
  return lists.find(({ length }) => length > 0) ?? []
}
