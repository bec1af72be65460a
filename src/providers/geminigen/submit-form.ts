import type { MediaInput, SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import { extensionOf, type FormField } from '../media/request-bodies.ts'
import { hasReferences, otherParams } from '../media/inputs.ts'

/** A route of the API for one family of models, and the fields of its form. */
type SubmitForm = { readonly path: string; readonly fields: readonly FormField[] }

/** Never sent from a row's parameters: the adapter sets them itself, or they would change the job. */
const OWN_FIELDS = new Set([
  'prompt',
  'model',
  'duration',
  'number_of_images',
  'ref_images',
  'ref_videos',
  'file_urls',
  'files',
  'ref_history',
  'mode_image',
  'scenes',
])

const VIDEO_FAMILY = /^(veo|sora|grok|seedance|kling|meta)(?:\/(.+)|(?=[\d._-]|$))/
/** These families can continue an earlier job. */
const EXTENDABLE = new Set(['veo', 'grok', 'seedance', 'kling'])
/** These families have models that take input videos, to edit them, to copy their motion, or as references. */
const TAKES_VIDEOS = new Set(['seedance', 'kling'])
/** These models of `kling` change a clip instead of continuing it. */
const CHANGES_CLIP = /^kling(?:\/|-).*(?:edit|lipsync|motion)/
/** These families take input images in `ref_images`. */
const TAKES_REF_IMAGES = new Set(['veo', 'seedance', 'kling'])
const ONE_SOURCE = 'The model continues an earlier job or takes videos, not both.'
const IMAGE_FAMILY = /^(?:imagen\/)?(gpt-image-2|grok)/

/** Whether a model changes the clip of an earlier job. All others continue the job. */
export function changesClip(model: string): boolean {
  return CHANGES_CLIP.test(model)
}

/** The form of a submission, or why it cannot be sent. A refusal is for the client, and a problem for the operator. */
export function submitForm(
  call: SubmitCall,
): SubmitForm | { readonly refusal: string } | { readonly problem: string } {
  return call.kind === 'image' ? imageForm(call) : videoForm(call)
}

function imageForm(call: SubmitCall): SubmitForm {
  const [, family] = IMAGE_FAMILY.exec(call.model) ?? []
  const path = family === undefined ? '/generate_image' : `/imagen/${family}`
  const model = call.model.replace(/^imagen\//, '')
  return {
    path,
    fields: [...commonFields(call, model), ...uploads(call.images, { file: 'files', link: 'file_urls' })],
  }
}

/** The model of a row is `veo-3.1-fast`, or with its family in front: `veo/veo-3.1-fast`. */
function videoForm(
  call: SubmitCall,
): SubmitForm | { readonly refusal: string } | { readonly problem: string } {
  const [, family, named] = VIDEO_FAMILY.exec(call.model) ?? []
  if (family === undefined) return { problem: `the model "${call.model}" belongs to no family of the API` }
  const isExtension = call.refUpstreamId !== undefined
  if (isExtension && !EXTENDABLE.has(family)) return { refusal: 'The model cannot continue an earlier job.' }
  if (call.videos.length > 0 && (isExtension || !TAKES_VIDEOS.has(family)))
    return { refusal: isExtension ? ONE_SOURCE : 'The model does not accept videos.' }
  return {
    path: `/${isExtension ? 'video-extend' : 'video-gen'}/${family}`,
    fields: [
      ...commonFields({ ...call, params: familyParams(call, family) }, named ?? call.model),
      ...(call.durationMs === undefined ? [] : [textField('duration', call.durationMs / 1000)]),
      ...(isExtension ? [textField('ref_history', call.refUpstreamId)] : []),
      ...imageFields(call, family),
      ...uploads(call.videos, { file: 'ref_videos', link: 'ref_videos' }),
      ...sceneFields(call),
    ],
  }
}

function commonFields(call: Pick<SubmitCall, 'prompt' | 'params'>, model: string): readonly FormField[] {
  const others = Object.entries(otherParams(call, OWN_FIELDS))
  return [
    textField('prompt', call.prompt),
    textField('model', model),
    ...others.map(([name, value]) => textField(name, value)),
  ]
}

const orientations: Readonly<Record<string, string>> = {
  '16:9': 'landscape',
  '9:16': 'portrait',
  '1:1': 'square',
}

/** `meta` has an orientation instead of an aspect ratio. */
function familyParams({ params }: SubmitCall, family: string): SubmitCall['params'] {
  const { aspect_ratio: ratio, ...others } = params
  const orientation = orientations[String(ratio)]
  return family !== 'meta' || orientation === undefined ? params : { orientation, ...others }
}

/** Tells `veo` that the images are frames. Otherwise it uses them as references. */
function imageFields(call: SubmitCall, family: string): readonly FormField[] {
  const { images } = call
  if (!TAKES_REF_IMAGES.has(family)) return uploads(images, { file: 'files', link: 'file_urls' })
  const isFrame = family === 'veo' && images.length > 0 && !hasReferences(call)
  const mode = isFrame ? [textField('mode_image', 'frame')] : []
  return [...mode, ...uploads(images, { file: 'ref_images', link: 'ref_images' })]
}

/** The scenes of a storyboard as the client wrote them: a text, or else JSON. */
function sceneFields({ scenes }: SubmitCall): readonly FormField[] {
  if (scenes === undefined) return []
  return [textField('scenes', typeof scenes === 'string' ? scenes : JSON.stringify(scenes))]
}

function uploads(
  inputs: readonly MediaInput[],
  names: { readonly file: string; readonly link: string },
): readonly FormField[] {
  return inputs.map((input, place): FormField => {
    if (input.from !== 'bytes') return textField(names.link, input.from === 'url' ? input.url : input.id)
    return { name: names.file, file: input, fileName: `input-${place}.${extensionOf(input.mediaType)}` }
  })
}

function textField(name: string, value: unknown): FormField {
  return { name, text: String(value) }
}
