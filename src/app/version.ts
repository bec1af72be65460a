import { readFileSync } from 'node:fs'

/** The version of this gateway, as in `tollgate/1.2.3`. */
export const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { readonly version: string }
