import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { aDatabase } from '../support/postgres/databases.ts'
import { runServer } from '../support/postgres/run-server.ts'
import { rejection } from '../support/rejection.ts'
import { expectAccessibleInLooks } from './support/accessibility.ts'
import { navigate, settled, startConsole, visit, type ConsoleGateway } from './support/console-gateway.ts'

const server = await runServer()
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
    await page.close()
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
    await page.close()
  })

  test('an operator verifies the books, runs the reconciler, and writes a backup', async () => {
    const page = await signedIn('operator')
    await visit(page, 'books')
    const file = join(gateway.dataDir, 'copy.backup')

    await page.getByRole('button', { name: 'Verify now' }).click()
    await page.getByText('The books are good.').waitFor()
    await page.reload()
    await page.getByText('The books are good.').waitFor()
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByText('Holds closed').waitFor()
    await page.getByLabel('File').fill(file)
    await page.getByRole('button', { name: 'Back up' }).click()
    await page.getByText('Files of jobs', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Back up' }).click()
    await page.getByRole('region', { name: 'Backup' }).locator('.problem, .note.bad').waitFor()

    const made = page.getByRole('region', { name: 'Backups that were made' }).getByRole('row')
    await made.filter({ hasText: 'copy.backup' }).waitFor()
    expect(await made.filter({ hasText: 'copy.backup' }).textContent()).toContain(emailOf('operator'))
    expect(existsSync(file)).toBe(true)
    expect((await audited('books.backup'))?.actor).toContain(`user:${emailOf('operator')}`)
    await page.close()
  })

  test.skipIf(server === undefined)(
    'with books in PostgreSQL, the page of the books says where backups are made, and has no form for one',
    async () => {
      const onPostgres = (await startConsole({
        TOLLGATE_DATABASE_URL: await aDatabase(server!),
        TOLLGATE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      }))!
      const page = await onPostgres.signedIn('operator')

      await visit(page, 'books')
      const made = await page.getByRole('region', { name: 'Backups that were made' }).textContent()
      const forms = await page.getByRole('button', { name: 'Back up' }).count()
      const listed = await onPostgres.gateway.admin<object>('GET', 'backups')
      const refused = await rejection(
        onPostgres.gateway.admin('POST', 'backups', { file: '/tmp/copy.backup' }),
      )

      expect(made).toContain('The books are in a PostgreSQL database. Use its own backups')
      expect(forms).toBe(0)
      expect(listed).toMatchObject({ data: [], made_elsewhere: expect.stringContaining('many-nodes.md') })
      expect(String(refused)).toContain('not_supported')
      await onPostgres.stop()
    },
  )

  test('the progress of a check of somebody else is shown, and not read once the page is left', async () => {
    const page = await signedIn('viewer')
    const at = '2026-11-21T05:50:09.183Z'
    const last = {
      started_at: at,
      ended_at: at,
      ok: true,
      entries: 128,
      files_elsewhere: 0,
      shared: true,
      problems: [],
    }
    const running = (step: string, checked: number) => ({ started_at: at, step, checked, of: 13 })
    let state: object = { running: running('balances', 0), last: null }
    let asked = 0
    await page.clock.install()
    await page.route('**/console/api/admin/verify', route => {
      asked += 1
      return route.fulfill({ json: state })
    })
    const readAgain = () => page.clock.runFor(1000)

    await visit(page, 'books')
    await page.getByText('Checking balances: 0 of 13 parts are done.').waitFor()
    state = { running: running('results', 12), last: null }
    await readAgain()
    await page.getByText('Checking stored results of jobs: 12 of 13 parts are done.').waitFor()
    const bar = page.getByRole('progressbar', { name: 'The books are being checked' })
    const value = await bar.getAttribute('value')
    state = { running: null, last }
    await readAgain()
    await page.getByText('The books are good. 128 entries were checked.').waitFor()
    const barsAfter = await bar.count()
    state = { running: running('jobs', 3), last }
    await page.reload()
    await bar.waitFor()
    await page.getByRole('link', { name: 'System' }).click()
    await settled(page)
    await page.getByRole('heading', { level: 1, name: 'Doctor' }).waitFor()
    const askedBefore = asked
    await page.clock.runFor(60_000)
    await page.evaluate(() => fetch('api/session'))

    expect([value, barsAfter]).toEqual(['12', 0])
    expect(asked).toBe(askedBefore)
    await page.close()
  })

  test('settings show their value, their default and where they come from, and can be searched', async () => {
    const page = await signedIn('viewer')
    await visit(page, 'settings?search=replay_ttl')

    const row = page.locator('tbody tr')
    expect(await row.count()).toBe(1)
    expect(await row.textContent()).toContain('TOLLGATE_REPLAY_TTL_S')
    expect(await row.textContent()).toContain('6060Default')
    await visit(page, 'settings?source=environment')
    expect(await page.locator('main').textContent()).not.toContain('TOLLGATE_REPLAY_TTL_S')
    await page.close()
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
    await page.close()
  })

  test('the pages have no violation of WCAG, and nothing is cut, in any look', async () => {
    const page = await signedIn('owner')
    await visit(page, 'profile')
    for (const path of ['books', 'doctor', 'nodes', 'settings', 'tokens']) {
      await navigate(page, path)
      await expectAccessibleInLooks(page)
    }
    await page.getByRole('button', { name: 'Create token' }).first().click()
    await expectAccessibleInLooks(page)
    await page.close()
  })
})
