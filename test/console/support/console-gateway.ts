import type { Browser, BrowserContext, Page } from 'playwright-core'
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
  /** A new page that nobody has signed in to. */
  readonly newPage: (look?: Look) => Promise<Page>
  /** A new page of a user of this role, who is signed in. */
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
  const sessions = new Map<Role, Awaited<ReturnType<BrowserContext['storageState']>>>()
  const problems: string[] = []
  const emailOf = (role: Role) => `${role}@example.com`

  const open = async (look: Look, role?: Role) => {
    const storageState = role === undefined ? undefined : sessions.get(role)
    const context = await browser.newContext({
      ...LOOKS[look],
      baseURL: gateway.url,
      reducedMotion: 'reduce',
      ...(storageState !== undefined && { storageState }),
    })
    const page = await context.newPage()
    page.on('pageerror', error => problems.push(`${page.url()}: ${error.message}`))
    page.on('console', message => {
      // Refused calls are part of the tests; the browser logs each as an error of the network.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        problems.push(`${page.url()}: ${message.text()}`)
    })
    return page
  }
  const signIn = async (role: Role) => {
    const { link } = await gateway.admin<{ link: string }>('POST', 'users', {
      email: emailOf(role),
      name: `Ada ${role}`,
      role,
      ...(role === 'support' && { grants_per_day_usd: '20' }),
    })
    const page = await open('light')
    await page.goto(link)
    await page.getByLabel('New password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Accept and sign in' }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    sessions.set(role, await page.context().storageState())
    await page.context().close()
  }
  return {
    gateway,
    browser,
    emailOf,
    newPage: (look = 'light') => open(look),
    signedIn: async (role, look = 'light') => {
      if (!sessions.has(role)) await signIn(role)
      return open(look, role)
    },
    stop: async () => {
      await Promise.all(browser.contexts().map(context => context.close()))
      await gateway.stop()
      if (problems.length > 0) throw new Error(`Pages had errors:\n${problems.join('\n')}`)
    },
  }
}

/** Opens a page of the console, and waits until it has loaded what it shows. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.goto(`/console/${path}`)
  await settled(page)
}

/** Waits until nothing is loading. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor()
  await page.waitForFunction(() => document.querySelector('.loading') === null)
}
