/** A boundary with other characters, or a longer one, is not allowed in a content type. */
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/

/** The boundary that a `content-type` names; undefined if it is not `multipart/form-data` with a valid boundary. */
export function multipartBoundary(contentType: string): string | undefined {
  const [type = '', ...params] = contentType.split(';')
  if (type.trim().toLowerCase() !== 'multipart/form-data') return undefined
  for (const param of params) {
    const [, quoted, plain] = /^\s*boundary=(?:"([^"]*)"|([^\s"]*))\s*$/i.exec(param) ?? []
    const boundary = quoted ?? plain
    if (boundary !== undefined) return BOUNDARY.test(boundary) ? boundary : undefined
  }
  return undefined
}
