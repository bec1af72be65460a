import type { SubmitCall } from '../../gateway/ports/media-provider.ts'
import { hasReferences, linkOf } from './inputs.ts'
import type { MemberValue } from './json-parts.ts'

/** The prompt and the inputs in one list, each input with its role: the format of MiniMax v2 and Seedance. */
export function contentList(
  call: Pick<SubmitCall, 'prompt' | 'images' | 'videos' | 'params'>,
): readonly MemberValue[] {
  const frames = hasReferences(call) ? [] : ['first_frame', 'last_frame']
  return [
    { type: 'text', text: call.prompt },
    ...call.images.map((image, place) => ({
      type: 'image_url',
      image_url: { url: linkOf(image) },
      role: frames[place] ?? 'reference_image',
    })),
    ...call.videos.map(video => ({
      type: 'video_url',
      video_url: { url: linkOf(video) },
      role: 'reference_video',
    })),
  ]
}
