import { InvalidArgumentError, type Command } from 'commander'
import { OLD_SECRET_MS_MAX } from '../../domain/accounts/key-secrets.ts'
import { secondsOf, timeOrDay } from './arguments.ts'
import { revokeSecret, rotateKey, type OldEnd } from '../commands/accounts/key-secrets.ts'
import type { Runner } from '../runner.ts'

/** Adds the commands for the secrets of keys to `keys`. */
export function addKeySecrets(keys: Command, keyNames: string, runner: Runner): void {
  keys
    .command('rotate')
    .argument('<key>', keyNames)
    .description('Give a key a new secret and print it. The old one works for a day, or until --old-ends.')
    .option(
      '--old-ends <when>',
      'when the old secret ends: now, after a time such as 30m, 24h or 7d, or at a time such as 2026-11-01T12:00:00Z',
      oldEndOf,
    )
    .addHelpText('after', ROTATE)
    .action((name: string, { oldEnds: oldEnd }: { oldEnds?: OldEnd }) =>
      runner.admin(ask => rotateKey(ask, { name, oldEnd })),
    )
  keys
    .command('revoke-secret')
    .argument('<key>', keyNames)
    .argument('<secret>', 'the first 12 characters of the secret')
    .description('End one of the two secrets of a rotated key now. The other one then has no end.')
    .action((name: string, secret: string) => runner.admin(ask => revokeSecret(ask, { name, secret })))
}

/** A time such as now, 30m, 24h or 7d, or an instant, in the form of the admin API. */
function oldEndOf(text: string): OldEnd {
  if (text === 'now') return { old_ends_at: text }
  const seconds = secondsOf(text)
  if (seconds !== undefined) {
    if (seconds * 1000 > OLD_SECRET_MS_MAX)
      throw new InvalidArgumentError('Write 30d or less: an old secret works for at most 30 days.')
    return { old_ends_in: seconds }
  }
  if (!/^\d{4}-/.test(text))
    throw new InvalidArgumentError('Write now, a time such as 30m, 24h or 7d, or an instant.')
  return { old_ends_at: timeOrDay(text) }
}

const ROTATE = `
Limits, spend and jobs of the key stay. Only the secret is printed to standard output:
  $ tollgate keys rotate key_… --old-ends 24h > ada.key`
