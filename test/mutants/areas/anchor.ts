import type { Mutant } from '../mutant.ts'

const ANCHOR = 'src/domain/ledger/anchor.ts'
const ANCHOR_TESTS = 'src/domain/ledger/anchor.test.ts'
const KEEPER = 'src/gateway/books/anchor-keeper.ts'
const KEEPER_TESTS = 'src/gateway/books/anchor-keeper.test.ts'

/** Faults in the anchor, by which a start notices that books were lost or replaced. */
export const anchorMutants: readonly Mutant[] = [
  {
    name: 'a missing anchor is accepted',
    file: ANCHOR,
    text: 'if (end === undefined || !wasAnchored) return undefined',
    replacement: 'if (end === undefined || wasAnchored !== undefined) return undefined',
    tests: [ANCHOR_TESTS],
  },
  {
    name: 'books that end before their anchor are accepted',
    file: ANCHOR,
    text: 'end.node === anchor.node && end.number < anchor.number',
    replacement: 'end.node === anchor.node && end.number < 0',
    tests: [ANCHOR_TESTS],
  },
  {
    name: 'books with another hash than their anchor are accepted',
    file: ANCHOR,
    text: ' || hashAtAnchor !== anchor.hash',
    replacement: '',
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
    text: 'chain.end()?.number !== this.#writtenNumber || !this.#isRecorded',
    replacement: '!this.#isRecorded',
    tests: [KEEPER_TESTS],
  },
  {
    name: 'a start does not record an anchor that was only written',
    file: KEEPER,
    text: 'chain.end()?.number !== this.#writtenNumber || !this.#isRecorded',
    replacement: 'chain.end()?.number !== this.#writtenNumber',
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
      onFailed(error)`,
    replacement: '      onFailed(error)',
    tests: [KEEPER_TESTS],
  },
  {
    name: 'the anchor is written after every commit',
    file: KEEPER,
    text: 'if (waitMs <= 0) this.#start()',
    replacement: 'if (waitMs <= 1000) this.#start()',
    tests: [KEEPER_TESTS],
  },
]
