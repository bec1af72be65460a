/** A longer name is unlikely to be a typing error, and the cost of a comparison is the square of its length. */
const LENGTH_MAX = 64

/** The known name that is nearest to `name`; undefined when none is close. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  return nearestFew(name, known, 1)[0]
}

/** The known names that are close to `name`, nearest first, at most `max`. */
export function nearestFew(name: string, known: readonly string[], max: number): readonly string[] {
  if (name.length > LENGTH_MAX) return []
  const wanted = comparable(name)
  const distanceMax = Math.max(2, Math.floor(wanted.length / 3))
  return known
    .filter(candidate => candidate.length <= LENGTH_MAX)
    .map(candidate => ({ candidate, distance: distanceBetween(wanted, comparable(candidate)) }))
    .filter(({ distance }) => distance <= distanceMax)
    .sort((left, right) => left.distance - right.distance)
    .slice(0, max)
    .map(({ candidate }) => candidate)
}

/** Makes `maxTokens`, `max-tokens` and `max_tokens` equal. */
function comparable(name: string): string {
  return name.toLowerCase().replaceAll(/[-_. ]/g, '')
}

/** A name that only omits letters, such as `url` for `base_url`, is close at any length. */
function distanceBetween(wanted: string, known: string): number {
  const distance = editDistance(wanted, known)
  return wanted.length > 2 && isWithin(wanted, known) ? Math.min(distance, 2) : distance
}

/** Whether `whole` contains all of the letters, in their order. */
function isWithin(letters: string, whole: string): boolean {
  let matched = 0
  for (const letter of whole) if (letter === letters[matched]) matched += 1
  return matched === letters.length
}

/** The number of letters to add, remove or change. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= right.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1)
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[right.length] ?? 0
}
