import type { GroupCommit } from './group-commit.ts'

/**
 * Knows whether the store can be written. Work that will have to be written down should not begin while it cannot: a full disk
 * is found out only when the answer is there, and then nobody pays for it.
 */
export type WriteProbe = {
  /** False from the first commit that failed until one succeeds. While it is, asking has another one tried. */
  readonly isWritable: () => boolean
}

/** Watches every commit. A step that takes its own writes back says nothing of the disk, so that after it a commit is tried. */
export function createWriteProbe(groupCommit: GroupCommit): WriteProbe {
  let isFailing = false
  let isProbing = false

  function probe(): void {
    if (isProbing) return
    isProbing = true
    groupCommit
      // Changes nothing, and is written all the same; an update to the same value would not be.
      .run(database => database.run('PRAGMA user_version = 0'))
      .then(
        () => (isFailing = false),
        () => (isFailing = true),
      )
      .finally(() => (isProbing = false))
  }

  groupCommit.join({ afterRollback: probe, afterCommit: () => (isFailing = false) })
  return {
    isWritable: () => {
      if (isFailing) probe()
      return !isFailing
    },
  }
}
