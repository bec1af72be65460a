/** Digits that may not fit in a double, or a number that JSON.stringify would write differently. */
const INEXACT = /\d{16}|\de[+-]/

/**
 * A cheap check whether parsing may have changed a number in the value that this JSON was written from. May be true in
 * vain.
 */
export function mayBeInexact(json: string): boolean {
  return INEXACT.test(json)
}

/**
 * Like JSON.parse, but keeps the digits of a number that a double would change, such as a 64-bit id, so that
 * JSON.stringify writes them again. Much slower. The text must be one that JSON.parse accepts.
 */
export function parseExactly(text: string): Readonly<Record<string, unknown>> {
  const keepDigits = (_key: string, value: unknown, { source }: { readonly source?: string }) => {
    if (typeof value !== 'number' || source === undefined) return value
    if (Number.isSafeInteger(value) || String(value) === source) return value
    return rawJson(source)
  }
  // The type library has neither the third argument of a reviver nor `rawJSON` yet.
  return JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown)
}

const { rawJSON: rawJson } = JSON as unknown as { readonly rawJSON: (text: string) => object }
