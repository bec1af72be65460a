import { until } from '../support/until.ts'
import { afterAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { startMailServer } from '../support/mail-server.ts'
import { expectAccessibleInLooks } from './support/accessibility.ts'
import { navigate, settled, startConsole, visit, type ConsoleGateway } from './support/console-gateway.ts'

/** Takes the messages of webhooks. */
const receiver = startReceiver()
const mailServer = await startMailServer()
const started = await startConsole({
  TOLLGATE_ALLOW_PRIVATE_WEBHOOKS: 'on',
  TOLLGATE_SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
  TOLLGATE_MAIL_FROM: 'Gateway <gateway@example.com>',
  TOLLGATE_ALERT_EMAILS: 'ops@example.com',
})
afterAll(async () => {
  await started?.stop()
  await mailServer.stop()
  await receiver.stop()
})

function startReceiver() {
  const ids: string[] = []
  const server = Bun.serve({
    port: 0,
    fetch(request) {
      ids.push(request.headers.get('webhook-id') ?? '')
      return new Response('', { status: 204 })
    },
  })
  return { url: `http://127.0.0.1:${server.port}/hook`, ids, stop: () => server.stop(true) }
}

describe.skipIf(started === undefined)('webhooks, mail and the audit log', () => {
  const { gateway, signedIn, emailOf } = started ?? ({} as ConsoleGateway)

  /** A new webhook of the operator. */
  const aWebhook = async () => {
    const body = { url: receiver.url, events: ['balance.low'], note: 'Billing' }
    return (await gateway.admin<{ id: string }>('POST', 'webhooks', body)).id
  }
  /** Reads the list of messages again until it has the text. */
  const messagesShow = async (page: Page, text: string) => {
    const shown = page.locator('tbody').getByText(text).first()
    while (!(await shown.isVisible())) {
      await page.getByRole('button', { name: 'Refresh' }).click()
      await settled(page)
    }
  }

  test('an operator adds a webhook and sees its secret once, and the audit log names the operator', async () => {
    const page = await signedIn('operator')
    await visit(page, 'webhooks')

    await page.getByRole('button', { name: 'Add webhook' }).first().click()
    await page.getByLabel('Address').fill(receiver.url)
    await page.getByLabel(/^balance\.low/).check()
    await page.getByRole('dialog').getByRole('button', { name: 'Add webhook' }).click()
    const secret = page.getByRole('dialog', { name: 'Keep this secret' }).locator('code')
    const text = await secret.textContent()
    await page.getByRole('button', { name: 'I have kept it' }).click()
    await page.getByRole('link', { name: receiver.url }).first().click()
    await page.getByRole('heading', { level: 1, name: receiver.url }).waitFor()
    await settled(page)
    const main = await page.locator('main').textContent()
    await visit(page, 'audit?action=webhook')
    const line = await page.locator('tbody tr').first().textContent()

    expect(text).toStartWith('whsec_')
    expect(main).toContain('balance.low')
    expect(main).not.toContain('whsec_')
    expect(line).toContain(emailOf('operator'))
    expect(line).toContain('webhook.create')
    await page.close()
  })

  test('an address that is refused is an error at its field', async () => {
    const page = await signedIn('operator')
    await visit(page, 'webhooks')

    await page.getByRole('button', { name: 'Add webhook' }).first().click()
    await page.getByLabel('Address').fill('ftp://example.com/')
    await page.getByRole('dialog').getByRole('button', { name: 'Add webhook' }).click()
    const problem = page.getByRole('dialog').locator('.problem')
    await problem.waitFor()

    expect(await problem.textContent()).toContain('https://')
    await page.locator('[name="url"]:focus').waitFor()
    await page.close()
  })

  test('a test message is delivered, and is sent again with the same id', async () => {
    const page = await signedIn('operator')
    await visit(page, `webhooks/${await aWebhook()}`)
    const before = receiver.ids.length

    await page.getByRole('button', { name: 'Send a test' }).click()
    await messagesShow(page, 'Delivered')
    await page.getByRole('button', { name: /^Send again: webhook\.test/ }).click()
    await page.getByText('The message is queued again.').waitFor()
    // The page may still show the first delivery.
    await until('the message is delivered again', () => receiver.ids.length >= before + 2)
    await messagesShow(page, 'Delivered')
    const [first, second] = receiver.ids.slice(before)

    expect(first).toStartWith('msg_')
    expect(second).toBe(first)
    await page.close()
  })

  test('a webhook gets a new secret, is switched off and is removed, each after a question', async () => {
    const page = await signedIn('operator')
    await visit(page, `webhooks/${await aWebhook()}`)
    const dialog = page.getByRole('dialog')

    await page.getByRole('button', { name: 'New secret' }).click()
    await dialog.getByRole('button', { name: 'New secret' }).click()
    const secret = await page.getByRole('dialog', { name: 'Keep this secret' }).locator('code').textContent()
    await page.getByRole('button', { name: 'I have kept it' }).click()
    await page.getByText('Old secret ends').waitFor()
    await page.getByRole('button', { name: 'Switch off' }).click()
    await dialog.getByRole('button', { name: 'Switch off' }).click()
    await page.getByRole('button', { name: 'Switch on' }).waitFor()
    await page.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()

    expect(secret).toStartWith('whsec_')
    await page.close()
  })

  test('a test mail says what the mail server answered', async () => {
    mailServer.answers.set('full@example.com', 552)
    const page = await signedIn('operator')
    await visit(page, 'mail')
    const dialog = page.getByRole('dialog')

    await page.getByRole('button', { name: 'Send a test mail' }).click()
    await dialog.getByLabel('To').fill('ada@example.com')
    await dialog.getByRole('button', { name: 'Send', exact: true }).click()
    await dialog.getByText('The mail server took the mail to ada@example.com.').waitFor()
    await dialog.getByLabel('To').fill('full@example.com')
    await dialog.getByRole('button', { name: 'Send', exact: true }).click()
    await dialog.locator('.note.bad').waitFor()

    expect(mailServer.received.flatMap(({ to }) => to)).toContain('ada@example.com')
    expect(await dialog.locator('.note.bad').textContent()).toContain('552')
    await page.close()
  })

  test('an invitation says whether the mail server took it', async () => {
    mailServer.answers.set('refused@example.com', 552)
    const page = await signedIn('owner')
    await visit(page, 'users')
    const dialog = page.getByRole('dialog')
    const said: string[] = []
    for (const email of ['mailed@example.com', 'refused@example.com']) {
      await page.getByRole('button', { name: 'Invite' }).first().click()
      await dialog.getByLabel('E-mail').fill(email)
      await dialog.getByLabel('Name').fill('Grace')
      await dialog.getByRole('button', { name: 'Invite' }).click()
      said.push((await dialog.getByText(email).textContent()) ?? '')
      await dialog.getByRole('button', { name: 'Close' }).click()
    }

    expect(said).toEqual([
      'We mailed it to mailed@example.com. You can also send it yourself.',
      'The mail server did not take the mail to refused@example.com. Send the link yourself.',
    ])
    expect(mailServer.received.flatMap(({ to }) => to)).toContain('mailed@example.com')
    await page.close()
  })

  test('the audit log is filtered, and its subjects are links', async () => {
    const id = await aWebhook()
    const page = await signedIn('viewer')
    await visit(page, 'audit')

    await page.getByLabel('Subject').fill(id)
    await page.waitForURL(`**/audit?subject=${id}`)
    await settled(page)
    await page.getByRole('link', { name: id }).click()
    await page.getByRole('heading', { level: 1, name: receiver.url }).waitFor()

    expect(page.url()).toEndWith(`/console/webhooks/${id}`)
    await page.close()
  })

  test('a viewer sees webhooks and mail without actions', async () => {
    const id = await aWebhook()
    const page = await signedIn('viewer')
    const buttons: string[] = []
    for (const path of ['webhooks', `webhooks/${id}`, 'mail', 'audit']) {
      await visit(page, path)
      buttons.push(...(await page.locator('main').getByRole('button').allTextContents()))
    }

    const actions = ['Add webhook', 'Send', 'Edit', 'New secret', 'Switch', 'Remove']
    expect(buttons.filter(button => actions.some(action => button.startsWith(action)))).toEqual([])
    await page.close()
  })

  test('the pages have no violation of WCAG, and nothing is cut, in any look', async () => {
    const id = await aWebhook()
    await gateway.admin('POST', `webhooks/${id}/test`)
    const page = await signedIn('operator')
    await visit(page, 'profile')
    for (const path of ['mail', 'audit', 'audit?action=project', `webhooks/${id}`, 'webhooks']) {
      await navigate(page, path)
      await expectAccessibleInLooks(page)
    }
    await page.getByRole('button', { name: 'Add webhook' }).first().click()
    await expectAccessibleInLooks(page)
    await page.close()
  })
})
