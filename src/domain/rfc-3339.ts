const RFC_3339 =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

/** The time of a text in RFC 3339, in milliseconds since 1970. Undefined for any other text, and for earlier times. */
export function parseTime(text: string): number | undefined {
  const date = RFC_3339.exec(text)?.[1]
  const atMs = Date.parse(text.toUpperCase())
  if (date === undefined || !(atMs >= 0)) return undefined
  // Some dates that do not exist, such as 30 February, are read as one of the next month.
  return new Date(Date.parse(`${date}T00:00:00Z`)).toISOString().startsWith(date) ? atMs : undefined
}
