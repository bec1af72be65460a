import { opensNoSecret, readCatalog } from '../books/catalog/catalog-tables.ts'
import { compareKey, writeKeyCheck, type Sealing } from '../books/catalog/key-check.ts'
import { CatalogCopy } from '../books/catalog/stored-catalog.ts'
import { secretBox, type SecretKey } from '../books/secrets/secret-box.ts'
import type { Step } from '../books/steps.ts'
import type { StepDriver } from './commits/step-runner.ts'

/** The catalog as all nodes of a file share it. */
export type OpenCatalog = { readonly copy: CatalogCopy; readonly sealing: Sealing }

/**
 * Reads the catalog. Throws an Error for the operator if its secrets were encrypted with another key than `secretKey`,
 * unless that key is new: then the secrets are lost.
 */
export function openCatalog(stepDriver: StepDriver, secretKey: SecretKey): OpenCatalog {
  const sealing = stepDriver.run(openSealing(secretKey))
  return { sealing, copy: new CatalogCopy(stepDriver.run(readCatalog(sealing.box))) }
}

function* openSealing({ bytes, keep, isNew }: SecretKey): Step<Sealing> {
  const box = secretBox(bytes, keep)
  if ((yield* compareKey(box)) !== 'another') return { box, isCheckLost: false }
  if (isNew) return { box, isCheckLost: true }
  if (yield* opensNoSecret(box)) throw wrongKey()
  // The key that belongs to the folder was put back after another one was made.
  yield* writeKeyCheck(box)
  return { box, isCheckLost: false }
}

function wrongKey(): Error {
  return new Error(
    'The provider keys in this data folder were encrypted under another secret.key. Put back the secret.key that belongs to it. ' +
      'If that is lost, delete this one: the next edit of the catalog makes another, and the keys have to be entered again.',
  )
}
