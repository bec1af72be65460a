import type { IncomingRequest } from './incoming-request.ts'

/**
 * The API key in the headers of a request: the first of `Authorization: Bearer`, `x-api-key` and `api-key` that has
 * one. Undefined if none has.
 */
export function presentedKey(request: Pick<IncomingRequest, 'header'>): string | undefined {
  const key =
    bearerKey(request.header('authorization')) || request.header('x-api-key') || request.header('api-key')
  return key === null || key === '' ? undefined : key
}

/** The key of an `Authorization: Bearer` header; null for any other scheme. */
export function bearerKey(header: string | null): string | null {
  if (header === null || !(header.startsWith('Bearer ') || /^bearer /i.test(header))) return null
  return header.slice(7).trim()
}
