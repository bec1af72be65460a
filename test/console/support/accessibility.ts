import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { lookAs, type Look } from './console-gateway.ts'

type Violation = {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly html: string }[]
}

/** The small form, because most of the time goes into sending the script to the page. */
const SCRIPT = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The rules to run in each look: all in one, and in the others only those about what differs from it. */
const RULES: Readonly<Record<Look, readonly string[] | undefined>> = {
  light: undefined,
  dark: ['color-contrast', 'link-in-text-block'],
  phone: ['scrollable-region-focusable', 'target-size'],
}

/**
 * What breaks the rules of WCAG 2.2, levels A and AA, and the best practices of axe. `only` names the rules to run;
 * without it, all run.
 */
async function violationsOf(page: Page, only?: readonly string[]): Promise<readonly string[]> {
  // The policy of the page refuses scripts that are put into it, but not those that the debugger runs. Sending the
  // script takes longer than running it, and it stays until the page is loaded again.
  if (await page.evaluate('window.axe === undefined')) await page.evaluate(SCRIPT)
  const options = { resultTypes: ['violations'], ...(only !== undefined && { runOnly: only }) }
  const violations = (await page.evaluate(`(async () => {
    const { violations } = await window.axe.run(document, ${JSON.stringify(options)})
    return violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html }) => ({ html })) }))
  })()`)) as readonly Violation[]
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(node => node.html).join(' ')}`)
}

/**
 * What is wrong with an open page in one look: broken rules, and content that is wider than the page. The rules of a
 * look are all for light, and for the others those about what differs from it.
 */
export async function problemsInLook(
  page: Page,
  look: Look,
  rules: 'all' | 'of the look' = 'of the look',
): Promise<readonly string[]> {
  await lookAs(page, look)
  const isCut = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
  const violations = await violationsOf(page, rules === 'all' ? undefined : RULES[look])
  return [...(isCut ? ['The content is wider than the page.'] : []), ...violations].map(
    text => `${look}: ${text}`,
  )
}

/** Throws for an open page with violations in the look that it has. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await violationsOf(page)).toEqual([])
}

/** Throws for an open page with violations, or with content that is cut, in any look. The page is light afterwards. */
export async function expectAccessibleInLooks(page: Page): Promise<void> {
  const problems: string[] = []
  for (const look of ['phone', 'dark', 'light'] as const) problems.push(...(await problemsInLook(page, look)))
  expect(problems).toEqual([])
}
