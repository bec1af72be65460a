import { formatTags, storedTags, type Attribution } from '../../domain/ledger/attribution.ts'

/** The columns of an attribution, in any table that has them. Null for none, as in most rows. */
export type AttributionColumns = {
  /** `team=a,feature=b`, in the order of the names. */
  tags: string | null
  user_id: string | null
}

export function attributionColumns({ tags, userId }: Attribution): AttributionColumns {
  return { tags: tags === undefined ? null : formatTags(tags), user_id: userId ?? null }
}

export function attributionFrom({ tags, user_id: userId }: AttributionColumns): Attribution {
  return {
    ...(tags === null ? {} : { tags: storedTags(tags) }),
    ...(userId === null ? {} : { userId }),
  }
}
