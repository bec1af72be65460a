import { existsSync } from 'node:fs'
import { copyFile, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChainEnd } from '../../domain/ledger/anchor.ts'
import { diskAnchorFile } from '../../stores/disk/anchor-file.ts'
import { syncFile } from '../../stores/disk/copy-blobs.ts'
import { makeFolder, syncFolder, unlessAbsent } from '../../stores/disk/durable-files.ts'
import type { DataFolder } from '../data-folder.ts'

/** The plan that a restore records before it changes the data folder, so that it can be finished after a kill. */
export type RestorePlan = {
  /** The backup. */
  readonly file: string
  /** The name of the folder that gets the replaced books, within the data folder. */
  readonly aside: string
  /** The last commit of the restored books, for the new anchor. */
  readonly end: ChainEnd
  readonly entries: number
}

type Folder = Pick<DataFolder, 'path' | 'database' | 'blobs'>

/** The parts of books that SQLite makes beside the database. They belong to the replaced books. */
const LOGS = ['tollgate.db-wal', 'tollgate.db-shm']

/** The file with the plan of a restore. A folder without it is not one of a restore. */
const PLAN = 'plan.json'

/** Where a restore prepares its books. A restore that is killed during this step has changed nothing. */
export function stagingFolder({ path }: Pick<Folder, 'path'>): string {
  return join(path, 'restore.partial')
}

/**
 * Where checked books wait until they are in their place. While it exists, the data folder can have parts of both
 * books.
 */
function readyFolder({ path }: Pick<Folder, 'path'>): string {
  return join(path, 'restore.ready')
}

/** Whether a restore was killed while it moved files, or is running. */
export function isRestoreUnfinished(folder: Pick<Folder, 'path'>): boolean {
  return existsSync(join(readyFolder(folder), PLAN))
}

/** Throws an Error for the operator while a restore is not finished. The caller has locked the folder. */
export function refuseUnfinishedRestore(folder: Pick<Folder, 'path'>): void {
  if (!isRestoreUnfinished(folder)) return
  throw new Error(
    `A restore into ${folder.path} was interrupted. Run "tollgate restore" with the same backup to finish it.`,
  )
}

/** Throws an Error for the operator if something else has the name of the folder that a decided restore needs. */
export function refuseTakenName(folder: Pick<Folder, 'path'>): void {
  const ready = readyFolder(folder)
  if (existsSync(ready) && !isRestoreUnfinished(folder))
    throw new Error(`${ready} is not from a restore. Move it to another folder, and repeat the command.`)
}

/**
 * Decides a restore: from here on it is finished, by this process or by the next restore. The staged files are durable.
 */
export async function decideRestore(folder: Folder, plan: RestorePlan): Promise<void> {
  const staging = stagingFolder(folder)
  const planFile = join(staging, PLAN)
  await writeFile(planFile, JSON.stringify(plan), { mode: 0o600 })
  await syncFile(planFile)
  await syncFolder(staging)
  await rename(staging, readyFolder(folder))
  await syncFolder(folder.path)
}

/**
 * Moves decided books into their place, and the books that were there into the folder `plan.aside`. Every step is safe
 * to repeat, so a restore that was killed is finished by another call. The caller has locked the folder.
 */
export async function finishRestore(folder: Folder, anchorPath: string): Promise<RestorePlan> {
  const ready = readyFolder(folder)
  const plan = JSON.parse(await readFile(join(ready, PLAN), 'utf8')) as RestorePlan
  for (const step of restoreSteps(folder, { ready, plan, anchorPath })) await step()
  return plan
}

/** Exported for the test that stops after each step. */
export function restoreSteps(
  folder: Folder,
  {
    ready,
    plan,
    anchorPath,
  }: { readonly ready: string; readonly plan: RestorePlan; readonly anchorPath: string },
): readonly (() => Promise<unknown>)[] {
  const aside = join(folder.path, plan.aside)
  const books = join(ready, 'tollgate.db')
  return [
    () => makeFolder(aside),
    // As long as the new database is still in its folder, the database in the data folder is the old one.
    ...LOGS.map(name => async () => {
      if (existsSync(books)) await moveAway(join(folder.path, name), join(aside, name))
    }),
    async () => {
      if (existsSync(books)) await moveAway(folder.database, join(aside, 'tollgate.db'))
    },
    async () => {
      if (existsSync(join(ready, 'blobs'))) await moveAway(folder.blobs, join(aside, 'blobs'))
    },
    () => copyAnchor(anchorPath, join(aside, 'anchor.json')),
    () => syncFolder(aside),
    () => unlessAbsent(rename(join(ready, 'blobs'), folder.blobs)),
    () => diskAnchorFile(anchorPath).write([plan.end]),
    () => unlessAbsent(rename(books, folder.database)),
    () => syncFolder(folder.path),
    // Nothing was replaced, if the folder was empty.
    () => rmdir(aside).catch(() => undefined),
    // The plan goes last, and in one step.
    () => rename(ready, stagingFolder(folder)),
    () => syncFolder(folder.path),
    () => rm(stagingFolder(folder), { recursive: true }),
  ]
}

/**
 * If the old file was moved before a kill, the file in its place is newer. An earlier version of the gateway may have
 * created it.
 */
async function moveAway(from: string, to: string): Promise<void> {
  await unlessAbsent(rename(from, existsSync(to) ? `${to}.later` : to))
}

async function copyAnchor(from: string, to: string): Promise<void> {
  if (!existsSync(to)) await unlessAbsent(copyFile(from, to))
}
