/** The last commit of a chain, as its store has it or as the anchor names it. */
export type ChainEnd = {
  /** The node that writes the chain. */
  readonly node: string
  /** 1 for the first commit of the chain. */
  readonly number: number
  /** The commit's SHA-256 in hexadecimal digits. */
  readonly hash: string
}

/** The last commit of each chain of the books. Each node that writes into them has a chain. */
export type Anchor = readonly ChainEnd[]

/** The facts of the books that are compared with the anchor. */
export type AnchoredBooks = {
  /** The ends of the chains that have a commit. */
  readonly ends: Anchor
  /** By node, the hash of the commit that the anchor names. Books without such a commit have none. */
  readonly hashesAtAnchor: ReadonlyMap<string, string>
  /** Whether the books record that an anchor was written. */
  readonly wasAnchored: boolean
}

/**
 * Why the books are not the ones that the anchor was written for; undefined if they are. Books that are ahead of the
 * anchor are normal, because it is written after commits. Books that never had an anchor, such as those of earlier
 * versions, are normal too.
 */
export function anchorProblem(anchor: Anchor | undefined, books: AnchoredBooks): string | undefined {
  const { ends, wasAnchored } = books
  if (anchor !== undefined) {
    const problems = anchor.map(named => chainProblem(named, books)).filter(problem => problem !== undefined)
    return problems.length === 0 ? undefined : problems.join('; ')
  }
  if (ends.length === 0 || !wasAnchored) return undefined
  const commits = ends.reduce((sum, { number }) => sum + number, 0)
  return `it is missing, but the books have ${commits} commits and had an anchor`
}

/** Whether two anchors name the same commits. */
export function isSameAnchor(left: Anchor | undefined, right: Anchor): boolean {
  if (left?.length !== right.length) return false
  return right.every(({ node, number }) => left.some(other => other.node === node && other.number === number))
}

function chainProblem(
  { node, number, hash }: ChainEnd,
  { ends, hashesAtAnchor }: AnchoredBooks,
): string | undefined {
  const named = `commit ${number} of node "${node}"`
  const last = ends.length === 0 ? 0 : ends.find(end => end.node === node)?.number
  if (last !== undefined && last < number)
    return `it names ${named}, but the books end at commit ${last}: ${number - last} commits are lost`
  if (last === undefined || hashesAtAnchor.get(node) !== hash)
    return `it names ${named} with another hash than the books: they were replaced or rewritten`
  return undefined
}

/** The text of an anchor in its file: `{"chains":[{"node":"main","number":7,"hash":"…"}]}`. */
export function anchorText(anchor: Anchor): string {
  return `${JSON.stringify({ chains: anchor })}\n`
}

/** Undefined for a text that is not an anchor. A text of an earlier version is the end of one chain. */
export function anchorOf(text: string): Anchor | undefined {
  try {
    const content = JSON.parse(text) as Record<string, unknown>
    const chains: readonly unknown[] = Array.isArray(content['chains']) ? content['chains'] : [content]
    return chains.length > 0 && chains.every(isChainEnd) ? chains : undefined
  } catch {
    return undefined
  }
}

function isChainEnd(value: unknown): value is ChainEnd {
  if (typeof value !== 'object' || value === null) return false
  const { node, number, hash } = value as Record<string, unknown>
  return typeof node === 'string' && Number.isSafeInteger(number) && typeof hash === 'string'
}
