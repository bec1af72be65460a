import { BooksGuard, type GuardPorts } from '../../gateway/books/books-guard.ts'
import type { StoreNode } from '../../gateway/ports/nodes/store-node.ts'
import type { Node } from './node.ts'

/** The guard of a node, and whether its store can be used. */
export function guardOf(
  { auditLog }: Pick<StoreNode, 'auditLog'>,
  ports: GuardPorts,
): Pick<Node, 'guard' | 'isWritable' | 'probe'> {
  const { isWritable } = ports
  return {
    guard: new BooksGuard(ports),
    isWritable,
    async probe() {
      await auditLog.list({ limit: 1 })
      if (!isWritable()) throw new Error('The last commit failed.')
    },
  }
}
