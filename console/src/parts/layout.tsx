/** The frame of all pages after sign-in: the navigation at the side, and on a phone in a menu. */
import { useLocation } from 'preact-iso'
import { useEffect, useRef } from 'preact/hooks'
import { ApiError } from '../api/client.ts'
import { consoleApi } from '../api/console-routes.ts'
import { basePath, gatewayUrl, pagePath } from '../base.ts'
import { firstPage, groups, isSeenBy, pages, type Page } from '../pages.ts'
import { currentUser, leave } from '../session.ts'
import { navigationTexts, product, rolesTexts } from '../texts.ts'
import { Icon, Logo } from './icon.tsx'
import { ThemeSwitch } from './theme-switch.tsx'
import { toast } from './toast.tsx'
import type { ComponentChildren } from 'preact'

const words = navigationTexts
const SIDEBAR = 'navigation'

export function Layout({ children }: { readonly children: ComponentChildren }) {
  const sidebar = useRef<HTMLElement>(null)
  const { url } = useLocation()
  const isNarrow = useNarrow(sidebar)
  useEffect(() => {
    if (sidebar.current?.matches(':popover-open') === true) sidebar.current.hidePopover()
  }, [url])
  useSearchKey()
  return (
    <>
      <SkipLink />
      <header class="topbar">
        <Product />
        <button type="button" class="button quiet" popovertarget={SIDEBAR}>
          <Icon name="menu" />
          {words.menu}
        </button>
      </header>
      <div class="frame">
        <aside class="sidebar" id={SIDEBAR} ref={sidebar} popover={isNarrow ? 'auto' : undefined}>
          <Product />
          <Navigation />
          <SidebarEnd />
        </aside>
        <main class="main" id="content" tabIndex={-1}>
          {children}
        </main>
      </div>
    </>
  )
}

/** Matches the width in layout.css. Only there is the sidebar a popover, because a popover is hidden at first. */
const NARROW = '(max-width: 48rem)'

function useNarrow(sidebar: { readonly current: HTMLElement | null }): boolean {
  useEffect(() => {
    const query = matchMedia(NARROW)
    const apply = () => {
      if (sidebar.current !== null) sidebar.current.popover = query.matches ? 'auto' : null
    }
    query.addEventListener('change', apply)
    return () => query.removeEventListener('change', apply)
  }, [])
  return matchMedia(NARROW).matches
}

/** With a base address, `href="#content"` would leave the page. */
function SkipLink() {
  const skip = (event: Event) => {
    event.preventDefault()
    document.getElementById('content')?.focus()
  }
  return (
    <a class="skip" href="#content" onClick={skip}>
      {words.skip}
    </a>
  )
}

function Product() {
  return (
    <a class="product" href="./">
      <Logo />
      {product}
    </a>
  )
}

function Navigation() {
  const { path } = useLocation()
  const { role } = currentUser()
  const list = useRef<HTMLElement>(null)
  // On a low screen the list scrolls, and the entry of the page may be out of sight.
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [path])
  const shown = pages.filter(page => isSeenBy(page, role))
  return (
    <nav class="navigation" aria-label={words.label} ref={list}>
      {groups.map(group => {
        const entries = shown.flatMap(page => (page.navigation?.group === group ? [page] : []))
        return (
          entries.length > 0 && (
            <div key={group}>
              <h2 id={`group-${group}`}>{words.groups[group]}</h2>
              <ul aria-labelledby={`group-${group}`}>
                {entries.map(page => (
                  <MenuEntry key={page.path} page={page} isCurrent={isCurrent(page, path)} />
                ))}
              </ul>
            </div>
          )
        )
      })}
    </nav>
  )
}

function MenuEntry({ page, isCurrent }: { readonly page: Page; readonly isCurrent: boolean }) {
  if (page.navigation === undefined) return null
  const { icon, label } = page.navigation
  return (
    <li>
      <a href={page.path === '' ? './' : page.path} aria-current={isCurrent ? 'page' : undefined}>
        <Icon name={icon} />
        {label}
      </a>
    </li>
  )
}

/** Whether the page at this path is the one of the entry, one of its tabs, or below them. */
function isCurrent(page: Page, path: string): boolean {
  const isFirst = `${path}/` === basePath && page === firstPage(currentUser().role)
  const hrefs = page.navigation?.tabs?.map(({ href }) => href) ?? [page.path]
  return isFirst || hrefs.map(pagePath).some(own => path === own || path.startsWith(`${own}/`))
}

function SidebarEnd() {
  const { path } = useLocation()
  const { name, email, role } = currentUser()
  const signOut = async () => {
    try {
      await consoleApi.signOut()
    } catch (error) {
      // With the status 401, the session had ended before.
      if (!(error instanceof ApiError && error.status === 401)) {
        toast(words.signOutFailed, 'bad')
        return
      }
    }
    leave(false)
  }
  return (
    <div class="sidebar-end">
      <a
        class="own"
        href="profile"
        title={email}
        aria-current={path === pagePath('profile') ? 'page' : undefined}
      >
        <Icon name="person" />
        <span>
          <span class="hidden-text">{words.profile}: </span>
          {name || email}
          <br />
          <span class="soft">{rolesTexts[role]}</span>
        </span>
      </a>
      <div class="row">
        <ThemeSwitch />
        <button type="button" class="button small" onClick={() => void signOut()}>
          {words.signOut}
        </button>
      </div>
      <a class="soft" href={new URL('docs', gatewayUrl).href} target="_blank" rel="noreferrer">
        {words.apiDocs}
        <Icon name="external" />
      </a>
    </div>
  )
}

/** The key `/` moves to the search field of the page, as on many sites. */
function useSearchKey(): void {
  useEffect(() => {
    const look = (event: KeyboardEvent) => {
      const { target } = event
      const isTyping =
        target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return
      const search = document.querySelector<HTMLInputElement>('main input[type="search"]')
      if (search === null) return
      event.preventDefault()
      search.focus()
    }
    addEventListener('keydown', look)
    return () => removeEventListener('keydown', look)
  }, [])
}
