import type { BodyPart, InputBytes } from './joined-body.ts'

/**
 * A value of a member. Bytes are sent as a string in base64, and the bytes of `dataUrl` as a data URL with their media
 * type. Members that are undefined are left out.
 */
export type MemberValue =
  | string
  | number
  | boolean
  | InputBytes
  | { readonly dataUrl: InputBytes }
  | readonly MemberValue[]
  | Members
export type Members = { readonly [name: string]: MemberValue | undefined }

/** The text of a JSON object as parts of a body. */
export function jsonParts(members: Members): readonly BodyPart[] {
  const written = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [[`${JSON.stringify(name)}:`, ...valueParts(value)]],
  )
  return ['{', ...separated(written), '}']
}

function valueParts(value: MemberValue): readonly BodyPart[] {
  if (typeof value !== 'object') return [JSON.stringify(value)]
  if (isList(value)) return ['[', ...separated(value.map(valueParts)), ']']
  if (isBytes(value)) return ['"', { base64: value }, '"']
  if (isDataUrl(value)) {
    const { dataUrl } = value
    return [`"data:${dataUrl.mediaType};base64,`, { base64: dataUrl }, '"']
  }
  return jsonParts(value)
}

function separated(items: readonly (readonly BodyPart[])[]): readonly BodyPart[] {
  return items.flatMap((item, place) => (place === 0 ? item : [',', ...item]))
}

function isList(value: object): value is readonly MemberValue[] {
  return Array.isArray(value)
}

function isBytes(value: object): value is InputBytes {
  return 'open' in value && typeof value.open === 'function'
}

function isDataUrl(value: object): value is { readonly dataUrl: InputBytes } {
  return 'dataUrl' in value && typeof value.dataUrl === 'object'
}
