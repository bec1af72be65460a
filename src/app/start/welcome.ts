import type { Config } from '../../config/config.ts'
import { formatUsd } from '../../domain/money.ts'
import { placeOf } from '../../gateway/ports/nodes/database-server.ts'
import type { NewLink } from '../../gateway/admin/users/links.ts'
import type { DataFolder } from '../data-folder.ts'
import { DEMO_GRANT, type FirstStart } from './first-start.ts'
import { consoleUrl } from '../parts/open-console.ts'
import { newBooksSentence } from './new-books.ts'

/** The message that a start prints. It has keys only if this start created them. */
export function welcome(
  start: FirstStart & {
    readonly url: string
    readonly config: Config
    readonly folder: DataFolder
    readonly adminKey: { readonly key: string; readonly isNew: boolean }
    /** For the first owner of a gateway without users. */
    readonly ownerLink: NewLink | undefined
    /** The providers whose stored keys cannot be decrypted. */
    readonly keyless: readonly string[]
    /** Environment variables that the catalog names and this process does not have. */
    readonly missingVariables: readonly string[]
    /** Why paid requests are refused; undefined if the books match their anchor. */
    readonly anchorProblem: string | undefined
    /** False if no model is on, so that every request would be refused. */
    readonly hasModels: boolean
    /** Other data folders with books, if this start created new books. */
    readonly otherBooks: readonly string[]
  },
): string {
  const { url, config, folder, adminKey, demoKey, unreadFile, keyless, missingVariables } = start
  const base = config.baseUrl ?? url
  const lines = [
    `Tollgate listens on ${url}`,
    // With a database, no data folder has books.
    `  data folder  ${folder.path}${folder.isNew && config.database === undefined ? '  (new)' : ''}`,
  ]
  if (config.database !== undefined) lines.push(`  database     ${placeOf(config.database)}`)
  if (unreadFile !== undefined)
    lines.push(
      `  catalog      in the data folder; to replace it, run "bin/tollgate catalog import ${unreadFile}"`,
    )
  if (adminKey.isNew) lines.push(`  admin key    ${adminKey.key}  (shown once; stored in admin.key)`)
  if (demoKey !== null)
    lines.push(`  sandbox key  ${demoKey}  (shown once; ${formatUsd(DEMO_GRANT)} USD, sandbox models only)`)
  if (config.consolePath !== 'off') lines.push(`  console      ${consoleUrl(config, url)}`)
  if (start.ownerLink !== undefined)
    lines.push(
      '',
      'Open the console as its first owner, with this link that works once, until',
      `${new Date(start.ownerLink.expiresAtMs).toISOString()}. Each start without users prints a new one.`,
      '',
      `  ${start.ownerLink.url}`,
    )
  if (start.otherBooks.length > 0) lines.push('', newBooksSentence('This start', start.otherBooks))
  if (demoKey !== null) lines.push('', ...demoLines(base, demoKey))
  if (start.anchorProblem !== undefined)
    lines.push(
      '',
      `No paid request is served. ${start.anchorProblem}`,
      'Restore the missing files, or accept the loss with "bin/tollgate verify --accept-loss REASON".',
    )
  if (keyless.length > 0)
    lines.push(
      '',
      `The stored keys of these providers cannot be decrypted. Enter them again: ${keyless.join(', ')}`,
    )
  if (missingVariables.length > 0)
    lines.push(
      '',
      `The catalog names environment variables that are not set, so calls to their providers fail: ${missingVariables.join(', ')}`,
    )
  if (!start.hasModels)
    lines.push('', 'No model is on, so every request is refused. Run "bin/tollgate catalog import FILE".')
  return `${lines.join('\n')}\n\n`
}

function demoLines(base: string, key: string): readonly string[] {
  return [
    'Try it:',
    '',
    demoChat(base, key),
    '',
    'An image, stored in sandbox.png:',
    '',
    demoImage(base, key),
    '',
    'A clip, stored in sandbox.mp4:',
    '',
    demoClip(base, key),
    '',
    'An identical request within a minute gets the same answer again, free. TOLLGATE_REPLAY_TTL_S=0 switches this off.',
    'For coding agents, write "preset: coding-agent" for your models: see docs/catalog.md.',
    'Next, sell your own models to a first customer: open the console, or see docs/tasks/first-customer.md.',
  ]
}

function demoChat(base: string, key: string): string {
  return demoCall(base, key, {
    path: 'chat/completions',
    body: '{"model": "sandbox-chat", "messages": [{"role": "user", "content": "Hello"}]}',
  })
}

/** Uses no JSON tool, because the machine may not have one. */
function demoImage(base: string, key: string): string {
  const call = demoCall(base, key, {
    path: 'images/generations',
    body: '{"model": "sandbox-image", "prompt": "A red fox"}',
  })
  return `${call} | sed 's/.*"b64_json":"\\([^"]*\\).*/\\1/' | base64 -d > sandbox.png`
}

function demoClip(base: string, key: string): string {
  const call = demoCall(base, key, {
    path: 'videos',
    body: '{"model": "sandbox-video", "prompt": "A red fox", "seconds": 5, "wait": true}',
  })
  const id = `$(${call} | sed 's/.*"id":"\\([^"]*\\).*/\\1/')`
  return `curl -s "${base}/v1/videos/${id}/content" -H 'Authorization: Bearer ${key}' -o sandbox.mp4`
}

function demoCall(
  base: string,
  key: string,
  { path, body }: { readonly path: string; readonly body: string },
): string {
  return `curl -s ${base}/v1/${path} -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`
}
