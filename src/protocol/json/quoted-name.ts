/** More names than any catalog has. */
const NAMES_MAX = 4096

const known = new Map<string, string>()

/** The JSON of a model's name out of the catalog. Made once: each request and each reply is given one. */
export function quotedName(name: string): string {
  const found = known.get(name)
  if (found !== undefined) return found
  if (known.size >= NAMES_MAX) known.clear()
  const quoted = JSON.stringify(name)
  known.set(name, quoted)
  return quoted
}
