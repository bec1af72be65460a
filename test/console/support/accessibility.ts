import axe from 'axe-core'
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'

type Violation = {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly html: string }[]
}

/**
 * Holds the page against the rules of WCAG 2.2, levels A and AA, and the best practices of axe. Colours and sizes
 * differ on a phone and in a dark scheme, so each look is checked.
 */
export async function expectAccessible(page: Page): Promise<void> {
  // The policy of the page refuses scripts that are put into it, but not those that the debugger runs.
  const violations = (await page.evaluate(`(async () => {
    if (window.axe === undefined) { ${axe.source} }
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] })
    return violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html }) => ({ html })) }))
  })()`)) as readonly Violation[]

  const found = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(node => node.html).join(' ')}`,
  )
  expect(found).toEqual([])
}
