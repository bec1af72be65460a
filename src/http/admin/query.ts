import { readPage, type PageQuery } from '../page.ts'
import { wrongField } from './body.ts'

/** As `readPage`; a parameter that is none of its two or of `others` is refused: what it was meant to say would be lost. */
export function readAdminPage(query: URLSearchParams, others: readonly string[] = []): PageQuery {
  const known = ['limit', 'cursor', ...others]
  const stray = query.keys().find(name => !known.includes(name))
  if (stray !== undefined) throw wrongField(stray, `is not known here; ${known.join(', ')} can be asked for`)
  return readPage(query)
}
