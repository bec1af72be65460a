import { servesText, type Provider, type TextProviderKind } from '../../domain/catalog/provider.ts'
import type { TextProvider } from '../ports/text-provider.ts'

export type TextProviders = { readonly [kind in TextProviderKind]: TextProvider }

/** The adapter of a provider. Providers of images and videos have no text route, so that no request is routed to them. */
export function textProviderOf({ id, kind }: Provider, providers: TextProviders): TextProvider {
  if (!servesText(kind)) throw new Error(`The provider "${id}" of kind ${kind} serves no text route.`)
  return providers[kind]
}
