/** Whether `If-None-Match` contains this ETag, which means that the client already has the body. */
export function isKnown(etag: string, ifNoneMatch: string | null): boolean {
  if (ifNoneMatch === null) return false
  return ifNoneMatch.split(',').some(known => {
    const candidate = known.trim()
    return candidate === '*' || candidate.replace(/^W\//, '') === etag
  })
}
