/** The last commit of a node, as its store has it or as the anchor names it. */
export type ChainEnd = {
  readonly node: string
  /** 1 for the first commit of the node. */
  readonly number: number
  /** The commit's SHA-256 in hexadecimal digits. */
  readonly hash: string
}

/** The facts of the books that are compared with the anchor. */
export type AnchoredBooks = {
  /** Undefined if the node has no commit. */
  readonly end: ChainEnd | undefined
  /** The hash of the commit that the anchor names; undefined if there is no such commit. */
  readonly hashAtAnchor: string | undefined
  /** Whether the books record that an anchor was written. */
  readonly wasAnchored: boolean
}

/**
 * Why the books are not the ones that the anchor was written for; undefined if they are. Books that are ahead of the
 * anchor are normal, because it is written after commits. Books that never had an anchor, such as those of earlier
 * versions, are normal too.
 */
export function anchorProblem(anchor: ChainEnd | undefined, books: AnchoredBooks): string | undefined {
  const { end, hashAtAnchor, wasAnchored } = books
  if (anchor === undefined) {
    if (end === undefined || !wasAnchored) return undefined
    return `it is missing, but the books have ${end.number} commits and had an anchor`
  }
  const named = `commit ${anchor.number} of node "${anchor.node}"`
  if (end === undefined || (end.node === anchor.node && end.number < anchor.number)) {
    const last = end?.number ?? 0
    return `it names ${named}, but the books end at commit ${last}: ${anchor.number - last} commits are lost`
  }
  if (end.node !== anchor.node || hashAtAnchor !== anchor.hash)
    return `it names ${named} with another hash than the books: they were replaced or rewritten`
  return undefined
}
