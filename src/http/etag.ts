/** Whether `If-None-Match` contains this ETag, so that the client has the body already. */
export function isKnown(etag: string, ifNoneMatch: string | null): boolean {
  if (ifNoneMatch === null) return false
  return ifNoneMatch.split(',').some(known => {
    const candidate = known.trim()
    return candidate === '*' || candidate.replace(/^W\//, '') === etag
  })
}
