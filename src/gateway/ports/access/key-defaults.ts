import type { NewKeyDefaults, NewKeyDefaultsPatch } from '../../../domain/accounts/key-defaults.ts'
import type { Editor } from './accounts.ts'

/**
 * The limits and settings that new keys begin with. `ApiKeys.create` copies them, so that a change applies to no
 * earlier key. Where an account and the gateway have a default, that of the account counts.
 */
export interface KeyDefaults {
  /** The defaults of an account alone, or those of the gateway if it is undefined. */
  of(accountId: number | undefined): Promise<NewKeyDefaults>

  /** Changes the defaults of the gateway. `Accounts.updateAccount` changes those of an account. */
  change(patch: NewKeyDefaultsPatch, by: Editor): Promise<NewKeyDefaults>
}
