import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { problemsInLook } from './support/accessibility.ts'
import {
  navigate,
  NOT_FOUND,
  ROLES,
  startConsole,
  visit,
  type ConsoleGateway,
  type Role,
} from './support/console-gateway.ts'
import {
  HOSTILE_MARK,
  HOSTILE_TEXTS,
  putHostileData,
  startHostileServers,
  type IdsOfPages,
} from './support/hostile-data.ts'
import { addressOf, sees, tablePages } from './support/page-table.ts'

const servers = await startHostileServers()
const started = await startConsole(servers.settings)
afterAll(async () => {
  await started?.stop()
  await servers.stop()
})

// `started.stop` also throws for each script that failed, and for each refusal by the policy of the page.
describe.skipIf(started === undefined)('every page of the console', () => {
  const { gateway, signedIn } = started ?? ({} as ConsoleGateway)
  let ids: IdsOfPages
  const opened = new Map<Role, Page>()
  const dialogs: string[] = []
  beforeAll(async () => {
    ids = await putHostileData(gateway, servers)
    for (const role of ROLES) {
      const page = await signedIn(role)
      page.on('dialog', dialog => {
        dialogs.push(`dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      await visit(page, 'profile')
      opened.set(role, page)
    }
  })

  test.each(tablePages.map(page => [page.path, page] as const))(
    '%s runs no script of a text in its address',
    async (_, entry) => {
      const page = opened.get('owner')!
      const filters = new URLSearchParams(
        FILTERS.map((name, index) => [name, HOSTILE_TEXTS[index % HOSTILE_TEXTS.length] ?? '']),
      )

      await navigate(page, `${addressOf(entry, ids)}?${filters.toString()}`)

      expect(await page.evaluate(hostileElements, HOSTILE_MARK)).toEqual([])
      expect(dialogs.splice(0)).toEqual([])
    },
  )

  test('the hostile texts are shown as they are', async () => {
    const page = opened.get('owner')!
    await visit(page, 'users')

    for (const text of HOSTILE_TEXTS) expect(await page.locator('main').textContent()).toContain(text)
  })

  test.each(['jobs/:job', 'mail'])('%s shows what another server said', async path => {
    const page = opened.get('owner')!
    await visit(page, addressOf({ path }, ids))

    const shown = page.locator('main').getByText(HOSTILE_TEXTS[0])
    while ((await shown.count()) === 0) await visit(page, addressOf({ path }, ids))
  })

  const checked = new Set<string>()
  test.each(tablePages.map(page => [page.path, page] as const))(
    '%s opens for each role that sees it, and for no other, runs no stored text, and fits WCAG and the page in any look',
    async (_, entry) => {
      const problems = await Promise.all(
        ROLES.map(async role => {
          const page = opened.get(role)!
          if (sees(role, entry)) await navigate(page, addressOf(entry, ids))
          else await visit(page, addressOf(entry, ids))
          const isFound = (await headingOf(page)) !== NOT_FOUND
          if (isFound !== sees(role, entry)) return [`${role}: ${isFound ? 'sees' : 'does not see'} the page`]
          const hostile = await page.evaluate(hostileElements, HOSTILE_MARK)
          return [...hostile, ...(await problemsInLooks(page, role, checked))].map(text => `${role}: ${text}`)
        }),
      )

      expect(problems.flat()).toEqual([])
      expect(dialogs.splice(0)).toEqual([])
    },
  )
})

async function headingOf(page: Page): Promise<string | null> {
  return page.getByRole('heading', { level: 1 }).textContent()
}

/**
 * What is wrong with an open page in any look. The same elements look the same, so they are checked for one role. Ids
 * of fields and times differ without a meaning.
 */
async function problemsInLooks(page: Page, role: Role, checked: Set<string>): Promise<readonly string[]> {
  const parts = await page.evaluate(partsOfPage)
  const [isMenuNew, isContentNew] = parts.map(part => {
    const elements = part.replaceAll(role, 'ROLE').replaceAll(/P0-\d+|\d{4}-\d\d-\d\dT[\d:.]+/g, '')
    const isNew = !checked.has(elements)
    checked.add(elements)
    return isNew
  })
  if (!isMenuNew && !isContentNew) return []
  const problems: string[] = []
  for (const look of ['phone', 'dark', 'light'] as const)
    problems.push(...(await problemsInLook(page, look, isMenuNew ? 'all' : 'of the look')))
  return problems
}

/** Runs in the page. The elements around the content, without the mark of the page that is open, and the content. */
function partsOfPage(): readonly string[] {
  const around = document.body.cloneNode(true) as HTMLElement
  const content = around.querySelector('main')
  content?.remove()
  for (const link of around.querySelectorAll('[aria-current]')) link.removeAttribute('aria-current')
  return [around.outerHTML, content?.outerHTML ?? '']
}

/** Filters that pages read from the address. */
const FILTERS = ['q', 'account', 'model', 'cursor', 'from', 'to'] as const

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
