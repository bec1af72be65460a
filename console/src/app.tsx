/** The console: signs in, then shows the page of the address in its frame. */
import { ErrorBoundary, lazy, LocationProvider, Route, Router, useLocation } from 'preact-iso'
import { useEffect, useState } from 'preact/hooks'
import { basePath, pagePath } from './base.ts'
import type { Role } from './api/console-routes.ts'
import { LinkPage } from './pages/sign-in/link.tsx'
import { SignIn } from './pages/sign-in/sign-in.tsx'
import { Layout } from './parts/layout.tsx'
import { Failure, Loading, Note } from './parts/notes.tsx'
import { PageHead } from './parts/page-head.tsx'
import { Toasts } from './parts/toast.tsx'
import { firstPage, isSeenBy, pages, type PagePath } from './pages.ts'
import { loads } from './routes.tsx'
import { readSession, session } from './session.ts'
import { notFoundTexts, notLoadedTexts } from './texts.ts'

export function App() {
  return (
    // Links inside the console are relative. All others are left to the browser.
    <LocationProvider scope={/^(?![a-z]+:|\/)/}>
      <Entrance />
      <Toasts />
    </LocationProvider>
  )
}

/** The token of a link is in the fragment, which is neither sent nor logged. */
function linkToken(): string | undefined {
  return /^#link=([\w-]+)$/.exec(location.hash)?.[1]
}

function Entrance() {
  const [token, setToken] = useState(linkToken)
  useEffect(() => {
    const look = () => setToken(linkToken())
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  }, [])
  if (token !== undefined)
    return (
      <LinkPage
        token={token}
        onDone={() => {
          history.replaceState(null, '', basePath)
          setToken(undefined)
        }}
      />
    )
  const state = session.value
  switch (state.kind) {
    case 'unknown':
      return <Loading lines={1} />
    case 'unreachable':
      return (
        <main class="gate">
          <Failure error={state.error} onRetry={() => void readSession()} />
        </main>
      )
    case 'signed_out':
      return <SignIn hasEnded={state.hasEnded} />
    case 'signed_in':
      return <Pages role={state.session.user.role} />
  }
}

const components = new Map(pages.map(({ path }) => [path, chunkOf(path)]))

/** The component of a page, which is loaded when it is first shown. After a failure, the next visit loads it again. */
function chunkOf(path: PagePath) {
  return lazy(() =>
    loads[path]().catch(() => {
      components.set(path, chunkOf(path))
      return NotLoaded
    }),
  )
}

/** A page whose script did not arrive: the gateway could not be reached, or has another version by now. */
function NotLoaded() {
  return (
    <>
      <PageHead title={notLoadedTexts.title} />
      <Note tone="bad">
        <p>{notLoadedTexts.text}</p>
        <p>
          {/* The whole page, because another version of the gateway has other names of scripts. */}
          <button type="button" class="button small" onClick={() => location.reload()}>
            {notLoadedTexts.again}
          </button>
        </p>
      </Note>
    </>
  )
}

/** Loads the page of this path, before it is known whether the user may see it. */
export async function loadPage(path: string): Promise<void> {
  const below = path.slice(basePath.length)
  const page = pages.find(({ path, navigation }) =>
    below === ''
      ? navigation !== undefined
      : new RegExp(`^${path.replaceAll(/\/:\w+\?/g, '(?:/[^/]+)?').replaceAll(/:\w+/g, '[^/]+')}$`).test(
          below,
        ),
  )
  // A failure is shown when the page is drawn.
  if (page !== undefined) await components.get(page.path)?.preload()
}

function Pages({ role }: { readonly role: Role }) {
  const { url } = useLocation()
  const [error, setError] = useState<Error>()
  useEffect(() => setError(undefined), [url])
  const first = firstPage(role)
  // A page that the role does not see keeps its path, which would match a later one with a parameter.
  const routes = pages.flatMap(page => {
    const component = (isSeenBy(page, role) ? components.get(page.path) : undefined) ?? NotFound
    const paths = page === first ? [basePath, pagePath(page.path)] : [pagePath(page.path)]
    return paths.map(path => [path, component] as const)
  })
  return (
    <Layout>
      {error === undefined ? (
        <ErrorBoundary onError={setError}>
          <Router>
            {routes.map(([path, component]) => (
              <Route key={path} path={path} component={component} />
            ))}
            <Route default component={NotFound} />
          </Router>
        </ErrorBoundary>
      ) : (
        <Failure error={error} onRetry={() => setError(undefined)} />
      )}
    </Layout>
  )
}

function NotFound() {
  return (
    <>
      <PageHead title={notFoundTexts.title} />
      <p>
        {notFoundTexts.text} <a href="./">{notFoundTexts.home}</a>
      </p>
    </>
  )
}
