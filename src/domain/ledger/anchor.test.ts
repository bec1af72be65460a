import { expect, test } from 'bun:test'
import { anchorProblem, type AnchoredBooks, type ChainEnd } from './anchor.ts'

const anchor: ChainEnd = { node: 'main', number: 5, hash: 'aa' }
const books: AnchoredBooks = { end: anchor, hashAtAnchor: 'aa', wasAnchored: true }

test.each<[string, ChainEnd | undefined, Partial<AnchoredBooks>]>([
  ['that end where the anchor says', anchor, {}],
  ['that are ahead of the anchor', anchor, { end: { ...anchor, number: 9, hash: 'bb' } }],
  ['that are empty and have no anchor', undefined, { end: undefined, wasAnchored: false }],
  ['of an earlier version, which wrote no anchor', undefined, { wasAnchored: false }],
])('books %s are accepted', (_, given, change) => {
  expect(anchorProblem(given, { ...books, ...change })).toBeUndefined()
})

test.each<[string, ChainEnd | undefined, Partial<AnchoredBooks>, string]>([
  ['without the anchor that they had', undefined, {}, 'it is missing, but the books have 5 commits'],
  [
    'behind the anchor',
    anchor,
    { end: { ...anchor, number: 3 }, hashAtAnchor: undefined },
    'the books end at commit 3: 2 commits are lost',
  ],
  [
    'that are empty although the anchor names a commit',
    anchor,
    { end: undefined, hashAtAnchor: undefined, wasAnchored: false },
    'the books end at commit 0: 5 commits are lost',
  ],
  ['with another hash', anchor, { hashAtAnchor: 'bb' }, 'they were replaced or rewritten'],
  [
    'without the commit of the anchor',
    anchor,
    { hashAtAnchor: undefined },
    'they were replaced or rewritten',
  ],
  ['of another node', anchor, { end: { ...anchor, node: 'b' } }, 'they were replaced or rewritten'],
])('books %s are not accepted', (_, given, change, problem) => {
  expect(anchorProblem(given, { ...books, ...change })).toContain(problem)
})
