import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Dialog, Page } from 'playwright-core'
import { expectAccessible } from './support/accessibility.ts'
import {
  LOOKS,
  ROLES,
  startConsole,
  visit,
  type ConsoleGateway,
  type Look,
  type Role,
} from './support/console-gateway.ts'
import { HOSTILE_MARK, HOSTILE_TEXTS, putHostileData, type IdsOfPages } from './support/hostile-data.ts'
import { addressOf, sees, tablePages } from './support/page-table.ts'

const started = await startConsole()
afterAll(() => started?.stop())

/** Roles that see less of a page than an owner have one look each, because a look takes the browser 0.3 s. */
const lookOf = { operator: 'dark', support: 'light', viewer: 'phone' } as const

// `started.stop` also throws for each script that failed, and for each refusal by the policy of the page.
describe.skipIf(started === undefined)('every page of the console', () => {
  const { gateway, signedIn } = started ?? ({} as ConsoleGateway)
  let ids: IdsOfPages
  const opened = new Map<Role, Page>()
  beforeAll(async () => {
    ids = await putHostileData(gateway)
    for (const role of ROLES) opened.set(role, await signedIn(role))
  })

  test.each(tablePages.map(page => [page.path, page] as const))(
    '%s runs no script of a text, whether stored or in the address, and has no violation of WCAG in any look',
    async (_, entry) => {
      const page = opened.get('owner')!
      const problems: string[] = []
      const onDialog = async (dialog: Dialog) => {
        problems.push(`dialog: ${dialog.message()}`)
        await dialog.dismiss()
      }
      page.on('dialog', onDialog)
      const address = addressOf(entry, ids)
      const filters = new URLSearchParams(HOSTILE_TEXTS.map((text, index) => [FILTERS[index] ?? 'q', text]))

      await visit(page, `${address}?${filters.toString()}`)
      problems.push(...(await page.evaluate(hostileElements, HOSTILE_MARK)))
      await visit(page, address)
      problems.push(...(await page.evaluate(hostileElements, HOSTILE_MARK)))
      page.off('dialog', onDialog)

      expect(problems).toEqual([])
      for (const look of Object.keys(LOOKS) as Look[]) {
        await lookAs(page, look)
        await expectAccessible(page)
      }
    },
  )

  test('the hostile texts are shown as they are', async () => {
    const page = opened.get('owner')!
    await visit(page, 'users')

    for (const text of HOSTILE_TEXTS) expect(await page.locator('main').textContent()).toContain(text)
  })

  const roles = ['operator', 'support', 'viewer'] as const
  test.each(tablePages.flatMap(page => roles.map(role => [page.path, role, page] as const)))(
    '%s opens for the role %s without a violation of WCAG, unless the role does not see it',
    async (_, role, entry) => {
      const page = opened.get(role)!
      await visit(page, addressOf(entry, ids))

      const heading = await page.getByRole('heading', { level: 1 }).textContent()
      if (!sees(role, entry)) return expect(heading).toBe('Page not found')
      expect(heading).not.toMatch(/^(?:Page not found)?$/)
      await lookAs(page, lookOf[role])
      await expectAccessible(page)
    },
  )
})

/** Changes the look of an open page. */
async function lookAs(page: Page, look: Look): Promise<void> {
  const { colorScheme, viewport } = LOOKS[look]
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  await page.setViewportSize(viewport)
}

/** Filters that pages read from the address. */
const FILTERS = ['q', 'account', 'model', 'cursor', 'from'] as const

/** Runs in the page. Elements that a text has become, and links that run a script. */
function hostileElements(mark: string): string[] {
  const all = [...document.querySelectorAll('*')]
  const isHostile = (element: Element) =>
    element.hasAttribute(mark) ||
    element.getAttributeNames().some(name => name.startsWith('on')) ||
    ['href', 'src', 'action', 'formaction'].some(name =>
      /^\s*(?:javascript|data:text)/i.test(element.getAttribute(name) ?? ''),
    )
  return all.filter(isHostile).map(element => element.outerHTML.slice(0, 200))
}
