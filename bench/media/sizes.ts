export const MEGABYTE = 1 << 20
/** A reference image, before base64. */
export const REFERENCE_BYTES = 20 * MEGABYTE
/** The result of a video job. */
export const CLIP_BYTES = 100 * MEGABYTE
/** What the provider says that the clip lasts. The header of the file says the same. */
export const CLIP_SECONDS = 2.5
