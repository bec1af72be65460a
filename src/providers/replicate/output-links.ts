import type { MediaOutput } from '../../gateway/ports/media-provider.ts'
import { isJsonObject } from '../../protocol/json/parse-json.ts'
import { linkOutput } from '../media/outputs.ts'

/** Members of an object that have files. */
const FILE_MEMBERS = ['images', 'image', 'videos', 'video', 'output', 'url']

/** The files in an output: each model has a form of its own, a link, a list of links, or an object that has some. */
export function outputLinks(output: unknown): readonly MediaOutput[] {
  if (typeof output === 'string') return [linkOutput(output) ?? []].flat()
  if (Array.isArray(output)) return output.flatMap(outputLinks)
  return isJsonObject(output) ? FILE_MEMBERS.flatMap(name => outputLinks(output[name])) : []
}
