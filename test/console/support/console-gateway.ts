import type { Browser, BrowserContext, Page } from 'playwright-core'
import { callConsole, cookieIn, tokenIn } from '../../support/console.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { runBrowser } from './browser.ts'

export const ROLES = ['owner', 'operator', 'support', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** How a page is looked at. */
export const LOOKS = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
} as const
export type Look = keyof typeof LOOKS

export const PASSWORD = 'correct horse battery staple'

/** A gateway with a user of each role, and a browser. */
export type ConsoleGateway = {
  readonly gateway: TestGateway
  readonly browser: Browser
  readonly emailOf: (role: Role) => string
  /** A new page in a browser of its own, which nobody has signed in to. */
  readonly newPage: (look?: Look) => Promise<Page>
  /** A new page of the user of this role, who is signed in. All pages of a user have one session and one storage. */
  readonly signedIn: (role: Role, look?: Look) => Promise<Page>
  /** Throws what went wrong in any page: an error of a script, a refusal by the policy, or a failed file. */
  readonly stop: () => Promise<void>
}

/** Undefined without a browser. */
export async function startConsole(
  settings: Readonly<Record<string, string>> = {},
): Promise<ConsoleGateway | undefined> {
  const browser = await runBrowser()
  if (browser === undefined) return undefined
  const gateway = await startTestGateway({
    environment: { TOLLGATE_REQUEST_RECORDS_DAYS: '7', ...settings },
  })
  const problems: string[] = []
  const emailOf = (role: Role) => `${role}@example.com`
  const opened: BrowserContext[] = []

  const openContext = async () => {
    const context = await browser.newContext({
      ...LOOKS.light,
      baseURL: gateway.url,
      reducedMotion: 'reduce',
    })
    opened.push(context)
    context.on('weberror', error => problems.push(`${error.page()?.url()}: ${error.error().message}`))
    context.on('console', message => {
      // Refused calls are part of the tests; the browser logs each as an error of the network.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        problems.push(`${message.page()?.url()}: ${message.text()}`)
    })
    return context
  }
  const signIn = async (role: Role) => {
    const { link } = await gateway.admin<{ link: string }>('POST', 'users', {
      email: emailOf(role),
      name: `Ada ${role}`,
      role,
      ...(role === 'support' && { grants_per_day_usd: '20' }),
    })
    const body = { token: tokenIn(link), password: PASSWORD }
    const [name = '', value = ''] = cookieIn(await callConsole(gateway, 'PUT', 'link', { body })).split('=')
    const context = await openContext()
    await context.addCookies([{ name, value, url: gateway.url }])
    return context
  }
  // The pages of a role share the scripts that the browser has loaded and compiled: most of the time of a page.
  const contexts = new Map<Role, Promise<BrowserContext>>()
  const contextOf = (role: Role) => {
    let context = contexts.get(role)
    if (context === undefined) contexts.set(role, (context = signIn(role)))
    return context
  }
  return {
    gateway,
    browser,
    emailOf,
    newPage: async (look = 'light') => inLook(await (await openContext()).newPage(), look),
    signedIn: async (role, look = 'light') => inLook(await (await contextOf(role)).newPage(), look),
    stop: async () => {
      await Promise.all(opened.map(context => context.close()))
      await gateway.stop()
      if (problems.length > 0) throw new Error(`Pages had errors:\n${problems.join('\n')}`)
    },
  }
}

/** Gives an open page this look. */
export async function lookAs(page: Page, look: Look): Promise<void> {
  const { colorScheme, viewport } = LOOKS[look]
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  await page.setViewportSize(viewport)
}

async function inLook(page: Page, look: Look): Promise<Page> {
  if (look !== 'light') await lookAs(page, look)
  return page
}

/** Opens a page of the console, and waits until it has loaded what it shows. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.goto(`/console/${path}`)
  await settled(page)
}

/**
 * Opens the link of an invitation, chooses a password and signs in. The form moves the focus to the name when it is
 * shown, and text for the password that arrives then would go to the name.
 */
export async function acceptInvitation(
  page: Page,
  link: string,
  { name, password = PASSWORD }: { readonly name?: string; readonly password?: string } = {},
): Promise<void> {
  await page.goto(link)
  await page.locator('[name="name"]:focus').waitFor()
  if (name !== undefined) await page.getByLabel('Your name').fill(name)
  await page.getByLabel('New password').fill(password)
  await page.getByRole('button', { name: 'Accept and sign in' }).click()
}

export const NOT_FOUND = 'Page not found'

/** Goes to a page that exists as a link does, which takes a third of the time of loading it. */
export async function navigate(page: Page, path: string): Promise<void> {
  await page.evaluate(goAndWait, { address: `/console/${path}`, notFound: NOT_FOUND })
}

/** Runs in the page, because each question of the test to the page would take as long as the page itself. */
async function goAndWait({ address, notFound }: { readonly address: string; readonly notFound: string }) {
  const go = (to: string) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
  }
  const until = async (holds: (title: string | null | undefined) => boolean) => {
    while (!holds(document.querySelector('h1')?.textContent)) await new Promise(requestAnimationFrame)
  }
  // A page stays until the next one is loaded, so the heading between two pages tells them apart.
  go('/console/nothing-is-here')
  await until(title => title === notFound)
  go(address)
  await until(
    title =>
      title !== undefined &&
      title !== notFound &&
      document.querySelector('.loading, [aria-busy="true"]') === null,
  )
}

/** Waits until nothing is loading. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    () =>
      document.querySelector('h1') !== null &&
      document.querySelector('.loading, [aria-busy="true"]') === null,
  )
}
