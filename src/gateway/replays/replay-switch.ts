import { mayUseModel } from '../../domain/accounts/key-access.ts'
import { findModel, type Catalog } from '../../domain/catalog/catalog.ts'
import type { Model } from '../../domain/catalog/model.ts'
import { findJsonObject } from '../../protocol/json/parse-json.ts'
import type { CatalogStore } from '../ports/catalog.ts'
import type { TextCall } from '../text/text-call.ts'

/**
 * Returns a function that says whether identical requests may share an answer: neither their account nor the row of
 * their model has switched replays off, and their key may call the model. A request whose key may not is refused on its
 * way to the model. It reads a request's model only if some row has switched replays off, or the key has models.
 */
export function replaySwitch(
  store: Pick<CatalogStore, 'current'>,
): (call: Pick<TextCall, 'body' | 'caller'>) => boolean {
  let known: Catalog | undefined
  let isAnyOff = false
  return ({ body, caller }) => {
    if (caller.account.replays === false) return false
    const catalog = store.current()
    if (catalog !== known) {
      known = catalog
      isAnyOff = catalog.models.values().some(isOff)
    }
    const { settings } = caller.apiKey
    const isRestricted = settings?.models !== undefined
    if (!isAnyOff && !isRestricted) return true
    const name = findJsonObject(body.text)?.['model']
    const model = typeof name === 'string' ? findModel(catalog, name) : undefined
    if (model === undefined) return !isRestricted
    return !isOff(model) && mayUseModel(settings, model)
  }
}

function isOff(model: Model): boolean {
  return (model.kind === 'chat' || model.kind === 'embedding') && model.replays === false
}
