import { readPage, refuseUnknown, type PageQuery } from '../list-query.ts'

/** Like `readPage`. Throws for an unknown parameter, instead of ignoring it. `others` names further known ones. */
export function readAdminPage(query: URLSearchParams, others: readonly string[] = []): PageQuery {
  refuseUnknown(query, ['limit', 'cursor', ...others])
  return readPage(query)
}
