import { InvalidArgumentError, Option, type Command } from 'commander'
import { eventTypes } from '../../domain/webhooks/event.ts'
import { OLD_SECRET_MS_MAX } from '../../domain/webhooks/webhook.ts'
import { secondsIn, withPages } from './arguments.ts'
import {
  createWebhook,
  listDeliveries,
  listWebhooks,
  redeliver,
  removeWebhook,
  rotateWebhook,
  setWebhook,
  showWebhook,
  testWebhook,
  type DeliveryFilters,
  type WebhookChange,
  type WebhookTerms,
} from '../commands/operating/webhooks.ts'
import { needsOptions } from '../option-words.ts'
import type { Runner } from '../runner.ts'

const WEBHOOK = 'its id (whk_…)'

/** Adds the commands of webhooks. */
export function addWebhooks(program: Command, runner: Runner): void {
  const webhooks = program
    .command('webhooks')
    .description('Create, list, test and remove webhooks: addresses that get signed messages about events.')
  webhooks
    .command('create')
    .argument('<url>', 'an https:// address')
    .description('Create a webhook and print its secret. It is not shown again.')
    .option('--account <account>', 'only events about this account, by its name or id')
    .option('--event <type>', EVENT, eventOf)
    .option('--note <text>', 'a note for people')
    .addHelpText('after', CREATE)
    .action((url: string, terms: WebhookTerms) => runner.admin(ask => createWebhook(ask, { url, ...terms })))
  webhooks
    .command('list')
    .description('List the webhooks, oldest first.')
    .option('--account <account>', 'only those of this account, by its name or id')
    .action((options: { account?: string }) => runner.admin(ask => listWebhooks(ask, options)))
  webhooks
    .command('show')
    .argument('<webhook>', WEBHOOK)
    .description('Show a webhook, its events and its state.')
    .action((id: string) => runner.admin(ask => showWebhook(ask, id)))
  needsOptions(webhooks.command('set'))
    .argument('<webhook>', WEBHOOK)
    .description('Change a webhook, or switch it off or on.')
    .option('--url <url>', 'an https:// address')
    .option('--event <type>', EVENT, eventOf)
    .option('--note <text>', 'a note for people')
    .option('--on', 'send it messages of later events again')
    .addOption(new Option('--off', 'send it no messages; those that wait are not sent').conflicts('on'))
    .action((id: string, change: WebhookChange) => runner.admin(ask => setWebhook(ask, { id, ...change })))
  webhooks
    .command('rotate')
    .argument('<webhook>', WEBHOOK)
    .description('Give a webhook another secret and print it. For a while, the old one signs too.')
    .option('--old-ends-in <time>', 'such as 0s, 30m, 48h or 7d; by default 24h', overlapOf)
    .action((id: string, options: { oldEndsIn?: number }) =>
      runner.admin(ask => rotateWebhook(ask, { id, ...options })),
    )
  webhooks
    .command('remove')
    .argument('<webhook>', WEBHOOK)
    .description('Remove a webhook. Its waiting messages are not sent.')
    .action((id: string) => runner.admin(ask => removeWebhook(ask, id)))
  webhooks
    .command('test')
    .argument('<webhook>', WEBHOOK)
    .description('Send a test message. A running server sends it, within a second if the webhook works.')
    .action((id: string) => runner.admin(ask => testWebhook(ask, id)))
  addDeliveries(webhooks, runner)
}

function addDeliveries(webhooks: Command, runner: Runner): void {
  withPages(
    webhooks
      .command('deliveries')
      .argument('<webhook>', WEBHOOK)
      .description('List the messages of a webhook and their outcomes, newest first.')
      .addOption(
        new Option('--state <state>', 'only messages in this state').choices([
          'waiting',
          'delivered',
          'failed',
        ]),
      ),
  ).action((id: string, filters: DeliveryFilters) =>
    runner.admin(ask => listDeliveries(ask, { id, ...filters })),
  )
  webhooks
    .command('redeliver')
    .argument('<webhook>', WEBHOOK)
    .argument('<message>', 'its id (msg_…), from "deliveries"')
    .description('Send a message again, with the same id.')
    .action((id: string, delivery: string) => runner.admin(ask => redeliver(ask, { id, delivery })))
}

/** A length of time for which the old secret signs too, in seconds. */
function overlapOf(text: string): number {
  const seconds = secondsIn(text)
  if (seconds * 1000 <= OLD_SECRET_MS_MAX) return seconds
  throw new InvalidArgumentError('Write 7d or less: an old secret signs for at most 7 days.')
}

const EVENT = 'a type of events; can be given several times; by default, all'

/** A type of events, beside the earlier ones of the command. */
function eventOf(text: string, earlier: readonly string[] = []): readonly string[] {
  if (!Object.hasOwn(eventTypes, text))
    throw new InvalidArgumentError(`Write one of ${Object.keys(eventTypes).join(', ')}.`)
  return [...earlier, text]
}

const CREATE = `
Only the secret is printed to standard output:
  $ tollgate webhooks create https://example.com/tollgate --event balance.low --event books.problem`
