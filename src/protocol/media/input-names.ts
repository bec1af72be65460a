/**
 * Names under which a request may carry images, in the order in which their values are joined (contract, image rule 7).
 */
export const imageNames = [
  'image',
  'images',
  'image_url',
  'image_urls',
  'input_image',
  'init_image',
  'ref_images',
] as const

/** Names under which a video request may carry videos, in the order in which their values are joined. */
export const videoNames = [
  'video',
  'videos',
  'video_url',
  'input_video',
  'motion_video',
  'ref_video',
  'ref_videos',
] as const

export type InputName = (typeof imageNames)[number] | (typeof videoNames)[number]
