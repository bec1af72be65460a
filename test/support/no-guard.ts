import { BooksGuard } from '../../src/gateway/books/books-guard.ts'

/** A guard that knows no problem and refuses nothing. */
export const noGuard = new BooksGuard({
  anchor: { problem: undefined },
  isWritable: () => true,
  buildRefusal: () => undefined,
})
