import { useEffect, useRef } from 'preact/hooks'
import { product } from '../texts.ts'
import type { ComponentChildren } from 'preact'

/** Whether a page was shown before. The first one does not take the focus from the address bar. */
let hasNavigated = false

/**
 * The heading of a page, with its title in the tab. After a navigation it has the focus, so that a screen reader reads
 * it and the keyboard starts there.
 */
export function PageHead({
  title,
  parent,
  lead,
  children,
}: {
  readonly title: string
  /** The page above this one. */
  readonly parent?: { readonly href: string; readonly label: string }
  readonly lead?: ComponentChildren
  /** The actions of the page. */
  readonly children?: ComponentChildren
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (hasNavigated) heading.current?.focus({ preventScroll: true })
    hasNavigated = true
  }, [])
  useEffect(() => {
    document.title = `${title} · ${product}`
  }, [title])
  return (
    <header class="page-head">
      <div>
        {parent !== undefined && (
          <p class="trail">
            <a href={parent.href}>{parent.label}</a>
          </p>
        )}
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {lead !== undefined && <p class="lead">{lead}</p>}
      </div>
      {children !== undefined && <div class="row">{children}</div>}
    </header>
  )
}
