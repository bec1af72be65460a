/** Characters of methods and of field names. */
export const TOKEN = 1
/** Characters of field values: Latin-1 without control characters, except tab. */
export const VALUE = 2
/** Characters of request targets. The standard allows only ASCII, but some clients send other characters. */
export const TARGET = 4

/** Characters of host names and IPv4 addresses. */
export const HOST_NAME = 8

const classes = classTable()

/** The position after the characters of a class that begin at `at`. */
export function endOf(charClass: number, bytes: Uint8Array, at: number): number {
  const { length } = bytes
  let position = at
  while (position < length && ((classes[bytes[position] ?? 0] ?? 0) & charClass) !== 0) position += 1
  return position
}

function classTable(): Uint8Array {
  const table = new Uint8Array(256)
  for (let char = 0; char < table.length; char += 1) {
    const text = String.fromCharCode(char)
    table[char] =
      (/[!#$%&'*+.^_`|~0-9A-Za-z-]/.test(text) ? TOKEN : 0) |
      (/[\t -~\u0080-\u00ff]/.test(text) ? VALUE : 0) |
      (/[!-~\u0080-\u00ff]/.test(text) ? TARGET : 0) |
      (/[0-9A-Za-z.-]/.test(text) ? HOST_NAME : 0)
  }
  return table
}
