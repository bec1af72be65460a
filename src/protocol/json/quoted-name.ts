/** More names than any catalog has. */
const NAMES_MAX = 4096

const known = new Map<string, string>()

/** The JSON of a model's name from the catalog. It is cached, because every request and every reply needs one. */
export function quotedName(name: string): string {
  const found = known.get(name)
  if (found !== undefined) return found
  if (known.size >= NAMES_MAX) known.clear()
  const quoted = JSON.stringify(name)
  known.set(name, quoted)
  return quoted
}
