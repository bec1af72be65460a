import { wrongField } from './body.ts'
import { readPage, refuseUnknown, type PageQuery } from '../list-query.ts'

/** Like `readPage`. Throws for an unknown parameter, instead of ignoring it. `others` names further known ones. */
export function readAdminPage(query: URLSearchParams, others: readonly string[] = []): PageQuery {
  refuseUnknown(query, ['limit', 'cursor', ...others])
  return readPage(query)
}

/** A parameter that is `true` or `false`. */
export function readSwitch(query: URLSearchParams, name: string, otherwise: boolean): boolean {
  const text = query.get(name) ?? String(otherwise)
  if (text !== 'true' && text !== 'false') throw wrongField(name, 'must be true or false')
  return text === 'true'
}
