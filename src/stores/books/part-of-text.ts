/** The SQL of a text that contains another, with `!` as the character that escapes. */
export const CONTAINS = "LIKE ? ESCAPE '!'"

/** The pattern of `CONTAINS`: `%` and `_` of the searched text mean themselves. */
export function partOfText(search: string): string {
  return `%${search.replaceAll(/[!%_]/g, '!$&')}%`
}

/**
 * The SQL of a name that contains a text in upper or lower case, with the values of `namePatterns`. SQLite converts
 * only ASCII to lower case, so a name is also compared as it is.
 */
export const NAME_CONTAINS = `(lower(name) ${CONTAINS} OR name ${CONTAINS})`

export function namePatterns(search: string): readonly [string, string] {
  const part = partOfText(search)
  return [part.toLowerCase(), part]
}
