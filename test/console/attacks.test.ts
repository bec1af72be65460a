import { afterAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import {
  acceptInvitation,
  PASSWORD,
  settled,
  startConsole,
  type ConsoleGateway,
} from './support/console-gateway.ts'

const started = await startConsole()
afterAll(() => started?.stop())

describe.skipIf(started === undefined)('the console', () => {
  const { gateway, browser, newPage, signedIn, emailOf } = started ?? ({} as ConsoleGateway)

  test('the page of another site cannot show it in a frame', async () => {
    const body = `<iframe src="${gateway.url}/console/"></iframe>`
    const other = Bun.serve({ port: 0, fetch: () => new Response(body, HTML) })
    const context = await browser.newContext()
    const page = await context.newPage()

    await page.goto(`http://localhost:${other.port}/`)
    const frame = await (await page.waitForSelector('iframe')).contentFrame()

    expect(frame!.url()).toBe('chrome-error://chromewebdata/')
    expect(await frame!.locator('#app').count()).toBe(0)
    await context.close()
    await other.stop(true)
  })

  test.each([
    '?next=https://evil.example.com/&return_to=//evil.example.com',
    '/evil.example.com/',
    '%5Cevil.example.com/',
    '#//evil.example.com',
    '#sign-in-error=%3Cimg%20src=x%20onerror=alert(1)%3E',
  ])('after a sign-in at the address %s the browser is still at the console', async address => {
    await (await signedIn('viewer')).close()
    const page = await newPage()
    await page.goto(`/console/${address}`)

    await page.getByLabel('E-mail').fill(emailOf('viewer'))
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()

    expect(page.url()).toStartWith(`${gateway.url}/console/`)
    expect(
      await page.getByRole('link', { name: 'Profile' }).evaluate(link => (link as HTMLAnchorElement).href),
    ).toBe(`${gateway.url}/console/profile`)
    await page.close()
  })

  test.each([
    ['removes the prefix', '/console', (path: string) => path.replace(/^\/gateway/, '')],
    ['keeps the prefix', '/gateway/console', (path: string) => path],
  ])('behind a proxy that %s, a user signs in, navigates and signs out', async (_, consolePath, pathOf) => {
    const behind = await startTestGateway({ environment: { TOLLGATE_CONSOLE: consolePath } })
    const proxy = startProxy(behind, pathOf)
    const { link } = await behind.admin<{ link: string }>('POST', 'users', {
      email: 'ada@example.com',
      name: 'Ada',
      role: 'owner',
    })
    const context = await browser.newContext()
    const page = await context.newPage()

    await acceptInvitation(page, `${proxy.url}/gateway/console/${new URL(link).hash}`)
    await page.getByRole('link', { name: 'Users' }).click()
    await page.getByRole('cell').getByRole('link', { name: 'Ada' }).click()
    await page.getByRole('heading', { level: 1, name: 'Ada' }).waitFor()
    await page.reload()
    await settled(page)
    const user = new URL(page.url()).pathname
    const cookies = await context.cookies(`${proxy.url}/gateway/console/api/session`)
    const elsewhere = await context.cookies([`${proxy.url}/gateway/v1/models`, `${proxy.url}/`])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await headingIs(page, 'Sign in')

    expect(user).toStartWith('/gateway/console/users/usr_')
    expect(cookies).toMatchObject([{ path: '/gateway/console/api', httpOnly: true, sameSite: 'Lax' }])
    expect(elsewhere).toEqual([])
    await context.close()
    await proxy.stop()
    await behind.stop()
  })
})

const HTML = { headers: { 'content-type': 'text/html' } } as const

/** A proxy on this machine that serves the gateway below `/gateway/`, and has nothing else. */
function startProxy(gateway: TestGateway, pathOf: (path: string) => string) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async request => {
      const { pathname, search } = new URL(request.url)
      if (!pathname.startsWith('/gateway/'))
        return new Response('The proxy has no such path.', { status: 404 })
      const headers = new Headers(request.headers)
      headers.set('accept-encoding', 'identity')
      return fetch(`${gateway.url}${pathOf(pathname)}${search}`, {
        method: request.method,
        headers,
        body: await request.arrayBuffer(),
        redirect: 'manual',
      })
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}

async function headingIs(page: Page, name: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name }).waitFor()
}
