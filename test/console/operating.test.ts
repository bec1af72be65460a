import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expectAccessible } from './support/accessibility.ts'
import { LOOKS, startConsole, visit, type ConsoleGateway, type Look } from './support/console-gateway.ts'

const started = await startConsole()
afterAll(() => started?.stop())

describe.skipIf(started === undefined)('the pages about the gateway', () => {
  const { gateway, signedIn, emailOf } = started ?? ({} as ConsoleGateway)

  const audited = async (action: string) => {
    const { data } = await gateway.admin<{ data: { action: string; actor: string; subject: string }[] }>(
      'GET',
      'audit',
    )
    return data.find(line => line.action === action)
  }

  test('an owner creates a token, which is shown once, works, and is refused once it is revoked', async () => {
    const page = await signedIn('owner')
    await visit(page, 'tokens')

    await page.getByRole('button', { name: 'Create token' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Create an admin token' })
    await dialog.getByLabel('Name').fill('export')
    await dialog.getByLabel(/^Grants/).check()
    await dialog.getByLabel(/^Grants a day/).fill('5')
    await dialog.getByRole('button', { name: 'Create token' }).click()
    const shown = page.getByRole('dialog', { name: 'Copy the token' })
    const token = await shown.locator('code').textContent()
    await shown.getByRole('button', { name: 'Done' }).click()
    const accounts = () =>
      fetch(`${gateway.url}/admin/api/accounts`, { headers: { authorization: `Bearer ${token}` } })
    const before = await accounts()
    await page.getByRole('cell', { name: '$0.00 of $5.00' }).waitFor()
    expect(await page.locator('main').textContent()).not.toContain(token!)
    await page.getByRole('button', { name: 'Revoke export' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('cell', { name: 'Revoked' }).waitFor()

    expect(before.status).toBe(200)
    expect((await accounts()).status).toBe(401)
    expect((await audited('token.create'))?.actor).toContain(`user:${emailOf('owner')}`)
    await page.context().close()
  })

  test('a token with a name that is taken is refused at the field of the name', async () => {
    await gateway.admin('POST', 'tokens', { name: 'taken', scopes: ['read'] })
    const page = await signedIn('owner')
    await visit(page, 'tokens')

    await page.getByRole('button', { name: 'Create token' }).first().click()
    await page.getByRole('dialog').getByLabel('Name').fill('taken')
    await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click()

    const problem = page.getByRole('dialog').locator('.problem, .note.bad')
    await problem.waitFor()
    expect(await problem.textContent()).toContain('taken')
    await page.context().close()
  })

  test('an operator verifies the books, runs the reconciler, and writes a backup', async () => {
    const page = await signedIn('operator')
    await visit(page, 'books')
    const file = join(gateway.dataDir, 'copy.backup')

    await page.getByRole('button', { name: 'Verify now' }).click()
    await page.getByText('The books are good.').waitFor()
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByText('Holds closed').waitFor()
    await page.getByLabel('File').fill(file)
    await page.getByRole('button', { name: 'Back up' }).click()
    await page.getByText('Files of jobs').waitFor()
    await page.getByRole('button', { name: 'Back up' }).click()
    await page.getByRole('region', { name: 'Backup' }).locator('.problem, .note.bad').waitFor()

    expect(existsSync(file)).toBe(true)
    expect((await audited('books.backup'))?.actor).toContain(`user:${emailOf('operator')}`)
    await page.context().close()
  })

  test('settings show their value, their default and where they come from, and can be searched', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'settings?search=replay_ttl')

    const row = page.locator('tbody tr')
    expect(await row.count()).toBe(1)
    expect(await row.textContent()).toContain('TOLLGATE_REPLAY_TTL_S')
    expect(await row.textContent()).toContain('Environment')
    await visit(page, 'settings')
    expect(await page.locator('main').textContent()).not.toContain('tg_admin_for_tests')
    await page.context().close()
  })

  test('a viewer sees the state of the books, the checks and the nodes, and no actions', async () => {
    const page = await signedIn('viewer')

    await visit(page, 'books')
    expect(await page.getByRole('region', { name: 'State' }).textContent()).toContain('Accepts paid workYes')
    expect(await page.getByRole('button', { name: /Verify|Run now|Back up/ }).count()).toBe(0)
    await visit(page, 'doctor')
    expect(await page.getByRole('table').locator('tbody tr').count()).toBeGreaterThan(2)
    await visit(page, 'nodes')
    expect(await page.getByRole('table').or(page.locator('.empty')).count()).toBe(1)
    await visit(page, 'tokens')
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Page not found')
    await page.context().close()
  })

  test.each(Object.keys(LOOKS) as Look[])(
    'the pages have no violation of WCAG in the look %s',
    async look => {
      const page = await signedIn('owner', look)
      for (const path of ['books', 'doctor', 'nodes', 'settings', 'tokens']) {
        await visit(page, path)
        await expectAccessible(page)
      }
      await page.getByRole('button', { name: 'Create token' }).first().click()
      await expectAccessible(page)
      await page.context().close()
    },
  )
})
