/** Digits that a double may not hold, or a number that JSON.stringify would spell in another way. */
const INEXACT = /\d{16}|\de[+-]/

/** True where JSON text may be of a value that held numbers which parsing changed. Cheap; errs on the side of true. */
export function mayBeInexact(json: string): boolean {
  return INEXACT.test(json)
}

/**
 * As JSON.parse, but a number that a double would change, such as a 64-bit id, is kept as its digits, for
 * JSON.stringify to write again. Much slower. The text must already have been accepted by JSON.parse.
 */
export function parseExactly(text: string): Readonly<Record<string, unknown>> {
  const keepDigits = (_key: string, value: unknown, { source }: { readonly source?: string }) => {
    if (typeof value !== 'number' || source === undefined) return value
    if (Number.isSafeInteger(value) || String(value) === source) return value
    return rawJson(source)
  }
  // The type library does not know the third argument of a reviver, nor `rawJSON`, yet.
  return JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown)
}

const { rawJSON: rawJson } = JSON as unknown as { readonly rawJSON: (text: string) => object }
