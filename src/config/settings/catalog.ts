import { headerSecret } from '../forms/texts.ts'
import { filePath, onOff } from '../forms/values.ts'
import { webAddress } from '../forms/web.ts'
import type { SettingsOf } from './setting.ts'

/** The catalog of the first start, and moderation. */
export type CatalogConfig = {
  readonly isSandboxOn: boolean
  readonly catalogFile: string | undefined
  readonly moderationUrl: string | undefined
  readonly moderationKey: string | undefined
}

export const catalogSettings: SettingsOf<CatalogConfig> = {
  isSandboxOn: {
    name: 'TOLLGATE_SANDBOX',
    default: 'on',
    meaning:
      '`on` creates a demo account and a sandbox catalog in an empty data folder. `off` creates neither and ' +
      'serves no sandbox model.',
    ...onOff,
  },
  catalogFile: {
    name: 'TOLLGATE_CATALOG',
    default: null,
    meaning:
      'A catalog file to import at the start if the store has no catalog. Later edits of the file are not read. ' +
      'Unset: none.',
    ...filePath,
  },
  moderationUrl: {
    name: 'TOLLGATE_MODERATION_URL',
    default: null,
    meaning:
      'The address of an OpenAI-style moderations route, such as `https://api.example.com/v1/moderations`. Unset: ' +
      'no moderation.',
    ...webAddress,
  },
  moderationKey: {
    name: 'TOLLGATE_MODERATION_KEY',
    default: null,
    meaning: 'The key for the moderations route. Unset: no key is sent.',
    isSecret: true,
    ...headerSecret,
  },
}
