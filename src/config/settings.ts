import { catalogSettings, type CatalogConfig } from './settings/catalog.ts'
import { dataSettings, type DataConfig } from './settings/data.ts'
import { mediaSettings, type MediaConfig } from './settings/media.ts'
import { networkSettings, type NetworkConfig } from './settings/network.ts'
import { observabilitySettings, type ObservabilityConfig } from './settings/observability.ts'
import { operatorSettings, type OperatorConfig } from './settings/operators.ts'
import { requestSettings, type RequestConfig } from './settings/requests.ts'
import type { Setting, SettingsOf } from './settings/setting.ts'

/** All settings, validated and frozen. Durations are in milliseconds and sizes in bytes. */
export type Config = NetworkConfig &
  DataConfig &
  CatalogConfig &
  RequestConfig &
  MediaConfig &
  OperatorConfig &
  ObservabilityConfig

/** Every setting, by what it is about. `--help`, `doctor`, the console and docs/settings.md show them in this order. */
export const sections: readonly {
  readonly title: string
  readonly settings: Readonly<Record<string, Setting>>
}[] = [
  { title: 'Addresses and connections', settings: networkSettings },
  { title: 'Where the data is', settings: dataSettings },
  { title: 'The first catalog, and moderation', settings: catalogSettings },
  { title: 'Requests', settings: requestSettings },
  { title: 'Images and videos', settings: mediaSettings },
  { title: 'Operators, webhooks and mail', settings: operatorSettings },
  { title: 'Records, metrics and the log', settings: observabilitySettings },
]

/** The same without the sections. */
export const settings: SettingsOf<Config> = {
  ...networkSettings,
  ...dataSettings,
  ...catalogSettings,
  ...requestSettings,
  ...mediaSettings,
  ...operatorSettings,
  ...observabilitySettings,
}
