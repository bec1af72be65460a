import { lockFolder } from '../../stores/sqlite/database/folder-lock.ts'
import type { Node, NodeParts } from './node.ts'
import { openPostgresNode } from './postgres-node.ts'
import { openSqliteNode } from './sqlite-node.ts'

/**
 * Locks the data folder and opens the node of this process: in the PostgreSQL database of the settings, or in the
 * SQLite file of the folder. Throws `DataFolderInUseError` while another process has the folder.
 */
export async function openNode(parts: NodeParts): Promise<Node> {
  const { config, folder } = parts
  const lock = lockFolder(folder.path)
  try {
    const { database, secretKey } = config
    const node =
      database === undefined || secretKey === undefined
        ? await openSqliteNode(parts)
        : await openPostgresNode(parts, { database, secretKey })
    return {
      ...node,
      async close() {
        await node.close()
        lock.release()
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}
