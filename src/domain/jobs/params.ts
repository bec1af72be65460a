/** Named values that go to a media provider, such as `aspect_ratio: "16:9"`. */
export type Params = Readonly<Record<string, string | number | boolean>>

/** The size of an image or a clip, in pixels. */
export type Size = { readonly width: number; readonly height: number }

/** The size that a text such as `1536x1024` or `1536:1024` names. Undefined for another text. */
export function readSize(text: string): Size | undefined {
  const [, width, height] = /^([1-9]\d{0,4})[x:]([1-9]\d{0,4})$/.exec(text) ?? []
  return width === undefined ? undefined : { width: Number(width), height: Number(height) }
}
