import type { Locator, Page } from 'playwright-core'

/** The open dialog. */
export function dialog(page: Page): Locator {
  return page.getByRole('dialog')
}

/**
 * Presses the button with this name: the first, or the last for the action "Close" in a dialog, because the button in
 * its corner has the same name.
 */
export async function press(place: Pick<Page, 'getByRole'>, name: string, which: 'first' | 'last' = 'first') {
  await place.getByRole('button', { name, exact: true })[which]().click()
}
