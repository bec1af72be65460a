/**
 * Writes what follows from `src/providers/media-kinds.ts`: the kinds that the domain knows, and `docs/providers.md`.
 * Run it again for the page, if the kinds have changed.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { KINDS_PATH, kindsFile } from './kinds-file.ts'
import { PAGE_PATH, providersPage } from './page.ts'

writeFileSync(KINDS_PATH, kindsFile())
spawnSync('node_modules/.bin/oxfmt', [fileURLToPath(KINDS_PATH)], { stdio: 'inherit' })
writeFileSync(PAGE_PATH, await providersPage(readFileSync(PAGE_PATH, 'utf8')))
