import { readCatalog } from '../books/catalog/catalog-tables.ts'
import { compareKey, writeKeyCheck } from '../books/catalog/key-check.ts'
import { CatalogCopy, StoredCatalog } from '../books/catalog/stored-catalog.ts'
import type { SecretBox } from '../books/secrets/secret-box.ts'
import type { StepRunner, Step } from '../books/steps.ts'
import { bunHashes } from './lanes/lane.ts'

/**
 * Reads the catalog into the copy of a node. The first node decides the secret key of the database. Throws an Error for
 * the operator if another node started with another key, because neither could read what the other one seals.
 */
export async function openCatalog(stepRunner: StepRunner, box: SecretBox): Promise<StoredCatalog> {
  await stepRunner.write('catalog', () => requireKey(box))
  const copy = new CatalogCopy(await stepRunner.read(() => readCatalog(box)))
  return new StoredCatalog({ stepRunner, copy, sealing: { box, isCheckLost: false }, hashes: bunHashes })
}

function* requireKey(box: SecretBox): Step<void> {
  const compared = yield* compareKey(box)
  if (compared === 'another') throw wrongKey()
  if (compared === 'unchecked') yield* writeKeyCheck(box)
}

function wrongKey(): Error {
  return new Error(
    'The secrets in this database were encrypted under another secret key. Set TOLLGATE_SECRET_KEY to the key of the other nodes. ' +
      'If that is lost, stop all nodes and run `UPDATE catalog_state SET key_check = NULL` in the database: the next node that starts decides the key, and the keys of providers and the secrets of webhooks have to be entered again.',
  )
}
