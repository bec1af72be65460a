import type { MediaKindRules } from '../../src/domain/catalog/provider.ts'
import type { MediaKindEntry } from '../../src/providers/media/media-kind.ts'
import { mediaKindEntries } from '../../src/providers/media-kinds.ts'
import { COMMAND } from './page.ts'

export const KINDS_PATH = new URL('../../src/domain/catalog/media-kinds.ts', import.meta.url)

/** The rules of all kinds that have a folder. */
export function registeredRules(): Readonly<Record<string, MediaKindRules>> {
  const entries = Object.entries<MediaKindEntry>(mediaKindEntries)
  return Object.fromEntries(entries.map(([kind, { rules }]) => [kind, rules]))
}

/** The text of `src/domain/catalog/media-kinds.ts`, before it is formatted. */
export function kindsFile(): string {
  return `import type { MediaKindRules } from './provider.ts'

/**
 * The kinds of providers that make images or videos only, and what their rows have of their own. Written from
 * \`src/providers/media-kinds.ts\` by \`${COMMAND}\`.
 */
export const mediaKinds = ${JSON.stringify(registeredRules(), null, 2)} as const satisfies Readonly<Record<string, MediaKindRules>>
`
}
