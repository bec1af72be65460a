import { expect, test } from 'bun:test'
import { anchorProblem, isSameAnchor, type Anchor, type AnchoredBooks, type ChainEnd } from './anchor.ts'

const main: ChainEnd = { node: 'main', number: 5, hash: 'aa' }
const other: ChainEnd = { node: 'b', number: 2, hash: 'cc' }

/** Books that end at these commits, with their hashes at the anchor. */
function books(ends: Anchor, hashes: Record<string, string>, wasAnchored = true): AnchoredBooks {
  return { ends, hashesAtAnchor: new Map(Object.entries(hashes)), wasAnchored }
}

test.each<[string, Anchor | undefined, AnchoredBooks]>([
  ['that end where the anchor says', [main], books([main], { main: 'aa' })],
  ['ahead of the anchor', [main], books([{ ...main, number: 9, hash: 'bb' }], { main: 'aa' })],
  ['without commits and anchor', undefined, books([], {}, false)],
  ['of an earlier version, which wrote no anchor', undefined, books([main], {}, false)],
  ['with a chain that is newer than the anchor', [main], books([main, other], { main: 'aa' })],
  ['of two nodes that both fit', [main, other], books([other, main], { main: 'aa', b: 'cc' })],
])('books %s are accepted', (_, anchor, found) => {
  expect(anchorProblem(anchor, found)).toBeUndefined()
})

test.each<[string, Anchor | undefined, AnchoredBooks, string]>([
  [
    'without the anchor that they had',
    undefined,
    books([main, other], {}),
    'it is missing, but the books have 7 commits',
  ],
  [
    'behind the anchor',
    [main],
    books([{ ...main, number: 3 }], {}),
    'the books end at commit 3: 2 commits are lost',
  ],
  [
    'without commits although the anchor names one',
    [main],
    books([], {}, false),
    'the books end at commit 0: 5 commits are lost',
  ],
  ['with another hash', [main], books([main], { main: 'bb' }), 'they were replaced or rewritten'],
  ['without the commit of the anchor', [main], books([main], {}), 'they were replaced or rewritten'],
  ['of another node', [main], books([{ ...main, node: 'c' }], {}), 'they were replaced or rewritten'],
  [
    'of two nodes that lost commits of the second one',
    [main, other],
    books([main, { ...other, number: 1 }], { main: 'aa' }),
    'it names commit 2 of node "b", but the books end at commit 1: 1 commits are lost',
  ],
])('books %s are not accepted', (_, anchor, found, problem) => {
  expect(anchorProblem(anchor, found)).toContain(problem)
})

test.each<[string, Anchor | undefined, boolean]>([
  ['the same commits in another order', [other, main], true],
  ['an earlier commit of one chain', [main, { ...other, number: 1 }], false],
  ['one chain less', [main], false],
  ['nothing', undefined, false],
])('an anchor that names %s is compared by its commits', (_, left, isSame) => {
  expect(isSameAnchor(left, [main, other])).toBe(isSame)
})
