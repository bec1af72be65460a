import { readPage, type PageQuery } from '../page.ts'
import { wrongField } from './body.ts'

/** Like `readPage`. Throws for an unknown parameter, instead of ignoring it. `others` names further known ones. */
export function readAdminPage(query: URLSearchParams, others: readonly string[] = []): PageQuery {
  const known = ['limit', 'cursor', ...others]
  const stray = query.keys().find(name => !known.includes(name))
  if (stray !== undefined) throw wrongField(stray, `is not known here; ${known.join(', ')} can be asked for`)
  return readPage(query)
}
