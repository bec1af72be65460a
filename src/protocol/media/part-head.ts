import { invalidForm } from './invalid-form.ts'

export type PartHead = {
  readonly name: string
  /** It has a file name, which may be empty. */
  readonly isFile: boolean
}

const utf8 = new TextDecoder()

/** Reads the header lines of a part, without the empty line behind them. */
export function readPartHead(bytes: Uint8Array): PartHead {
  for (const line of utf8.decode(bytes).split('\r\n')) {
    const [, value] = /^content-disposition:(.*)$/is.exec(line) ?? []
    if (value !== undefined) return dispositionOf(value)
  }
  throw invalidForm('a part has no content-disposition header')
}

function dispositionOf(value: string): PartHead {
  if (!/^\s*form-data\s*(?:;|$)/i.test(value)) throw invalidForm('a part is not form-data')
  let name: string | undefined
  let isFile = false
  for (const [, key = '', quoted, plain] of value.matchAll(
    /;\s*([^=;\s]+)=(?:"((?:[^"\\]|\\.)*)"|([^;"\s]*))/g,
  )) {
    const param = key.toLowerCase()
    // Browsers write a quote as %22, and other clients with a backslash.
    if (param === 'name') name ??= quoted?.replaceAll(/\\(.)/g, '$1').replaceAll('%22', '"') ?? plain
    if (param === 'filename' || param === 'filename*') isFile = true
  }
  if (name === undefined || name === '') throw invalidForm('a part has no name')
  return { name, isFile }
}
