import type { Mutant } from '../mutant.ts'

const ANCHOR = 'src/domain/ledger/anchor.ts'
const ANCHOR_TESTS = 'src/domain/ledger/anchor.test.ts'
const KEEPER = 'src/gateway/books/anchor-keeper.ts'
const KEEPER_TESTS = 'src/gateway/books/anchor-keeper.test.ts'
const SHARED = 'src/gateway/books/shared-anchor.ts'
const SHARED_TESTS = 'src/gateway/books/shared-anchor.test.ts'
const OBJECT = 'src/stores/s3/anchor-object.ts'
const OBJECT_TESTS = 'src/stores/s3/anchor-object.test.ts'

/** Faults in the anchor, by which a start notices that books were lost or replaced. */
export const anchorMutants: readonly Mutant[] = [
  {
    name: 'a missing anchor is accepted',
    file: ANCHOR,
    text: 'if (ends.length === 0 || !wasAnchored) return undefined',
    replacement: 'if (ends.length === 0 || wasAnchored !== undefined) return undefined',
    tests: [ANCHOR_TESTS],
  },
  {
    name: 'books that end before their anchor are accepted',
    file: ANCHOR,
    text: 'last !== undefined && last < number',
    replacement: 'last !== undefined && last < 0',
    tests: [ANCHOR_TESTS],
  },
  {
    name: 'books with another hash than their anchor are accepted',
    file: ANCHOR,
    text: ' || hashesAtAnchor.get(node) !== hash',
    replacement: '',
    tests: [ANCHOR_TESTS],
  },
  {
    name: 'only the first chain of the anchor is compared',
    file: ANCHOR,
    text: 'anchor.map(named => chainProblem(named, books))',
    replacement: 'anchor.slice(0, 1).map(named => chainProblem(named, books))',
    tests: [ANCHOR_TESTS],
  },
  {
    name: 'an anchor is written over books that do not fit it',
    file: KEEPER,
    text: 'if (isBusy || this.#isStopped || this.#problem !== undefined) return',
    replacement: 'if (isBusy || this.#isStopped) return',
    tests: [KEEPER_TESTS],
  },
  {
    name: 'a start does not write an anchor that is behind the books',
    file: KEEPER,
    text: '!isSameAnchor(this.#written ?? [], ends) || !this.#isRecorded',
    replacement: '!this.#isRecorded',
    tests: [KEEPER_TESTS],
  },
  {
    name: 'a start does not record an anchor that was only written',
    file: KEEPER,
    text: '!isSameAnchor(this.#written ?? [], ends) || !this.#isRecorded',
    replacement: '!isSameAnchor(this.#written ?? [], ends)',
    tests: [KEEPER_TESTS],
  },
  {
    name: 'a stop does not write the anchor',
    file: KEEPER,
    text: 'writes < 2 && this.#isDirty',
    replacement: 'writes < 0 && this.#isDirty',
    tests: [KEEPER_TESTS],
  },
  {
    name: 'an anchor that could not be written is not tried again',
    file: KEEPER,
    text: `      this.#isDirty = true
      this.#writtenAtMs`,
    replacement: '      this.#writtenAtMs',
    tests: [KEEPER_TESTS],
  },
  {
    name: 'the anchor is written after every commit',
    file: KEEPER,
    text: 'if (waitMs <= 0) this.#start()',
    replacement: 'if (waitMs <= 1000) this.#start()',
    tests: [KEEPER_TESTS],
  },
  {
    name: 'a node overwrites the anchor of a database that lost commits while it ran',
    file: SHARED,
    text: 'if (this.#known !== undefined) await this.#check(this.#known, ends)',
    replacement: '',
    tests: [SHARED_TESTS],
  },
  {
    name: 'nodes that share an anchor write it without a lease',
    file: SHARED,
    text: 'if (lease === undefined) this.#isDirty = true',
    replacement: 'if (lease === null) this.#isDirty = true',
    tests: [SHARED_TESTS],
  },
  {
    name: 'a slow node replaces a later anchor in the bucket',
    file: OBJECT,
    text: "const headers = { ...condition, 'content-type'",
    replacement: "const headers = { ...(condition && {}), 'content-type'",
    tests: [OBJECT_TESTS],
  },
]
