import type { BodyPart, InputBytes } from './joined-body.ts'

/** A value of a member: bytes go as a string in base64. */
export type MemberValue = string | number | boolean | InputBytes | readonly MemberValue[]

/** The text of a JSON object as parts of a body. Members that are undefined are left out. */
export function jsonParts(members: Readonly<Record<string, MemberValue | undefined>>): readonly BodyPart[] {
  const written = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [[`${JSON.stringify(name)}:`, ...valueParts(value)]],
  )
  return ['{', ...separated(written), '}']
}

function valueParts(value: MemberValue): readonly BodyPart[] {
  if (typeof value !== 'object') return [JSON.stringify(value)]
  if ('open' in value) return ['"', { base64: value }, '"']
  return ['[', ...separated(value.map(valueParts)), ']']
}

function separated(items: readonly (readonly BodyPart[])[]): readonly BodyPart[] {
  return items.flatMap((item, place) => (place === 0 ? item : [',', ...item]))
}
