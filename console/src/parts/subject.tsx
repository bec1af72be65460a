/** Links to what an id names, if there is a page for it that the user sees. */
import type { ComponentChildren } from 'preact'
import { isSeenBy, pages } from '../pages.ts'
import { currentUser } from '../session.ts'
import { partsTexts } from './texts.ts'
import type { Column } from './table.tsx'

/** The page of each kind of id, by its prefix. Requests also show jobs, holds and movements of money. */
const folderOf: Readonly<Record<string, string>> = {
  acct: 'accounts',
  key: 'keys',
  proj: 'projects',
  req: 'requests',
  hold: 'requests',
  op: 'requests',
  img: 'jobs',
  vid: 'jobs',
  whk: 'webhooks',
  usr: 'users',
}

/** The address of the page about an id. Undefined if there is none. */
export function pageOfId(id: string): string | undefined {
  const [, prefix = ''] = /^([a-z]+)_[0-9a-z]+$/.exec(id) ?? []
  const folder = folderOf[prefix]
  return folder === undefined ? undefined : pageIn(folder, id)
}

/** The address of the page of a folder about a name, such as a model. */
export function pageIn(folder: string, name: string): string | undefined {
  const page = pages.find(({ path }) => path.startsWith(`${folder}/:`))
  if (page === undefined || !isSeenBy(page, currentUser().role)) return undefined
  return `${folder}/${encodeURIComponent(name)}`
}

const ID = /\b([a-z]+_[0-9a-hjkmnp-tv-z]{26})\b/

/** A text in which ids are links to their pages. */
export function Linked({ text }: { readonly text: string }) {
  return (
    <>{text.split(ID).map((part, index) => (index % 2 === 0 ? part : <Subject id={part}>{part}</Subject>))}</>
  )
}

/** An id, or the name of what it names, as a link to its page. */
export function Subject({
  id,
  children,
}: {
  readonly id: string | null | undefined
  readonly children?: ComponentChildren
}) {
  if (id === null || id === undefined) return <>{children ?? '–'}</>
  const href = pageOfId(id)
  const shown = children ?? <code>{id}</code>
  return href === undefined ? <>{shown}</> : <a href={href}>{shown}</a>
}

/** The column of a list with the account of each row, as a link. A long name is cut, and its tooltip has all of it. */
export function accountColumn<Row>(
  label: string,
  of: (row: Row) => { readonly account: string | null; readonly account_name?: string | null },
): Column<Row> {
  return {
    label,
    isName: true,
    show: row => {
      const { account, account_name: name } = of(row)
      return (
        <Subject id={account}>
          <span title={name ?? undefined}>{name ?? account ?? '–'}</span>
        </Subject>
      )
    },
  }
}

/** `ada@example.com` of `user:ada@example.com (usr_…)`, with a link to the user for those who may see it. */
export function Actor({ name }: { readonly name: string }) {
  const [, kind = '', shown = name, id = ''] = /^(user|token):(.*) \((\w+)\)$/.exec(name) ?? []
  const href = pageOfId(id)
  return (
    <span title={name}>
      {href === undefined ? shown : <a href={href}>{shown}</a>}
      {kind === 'token' && <span class="soft"> {partsTexts.tokenOf}</span>}
    </span>
  )
}
