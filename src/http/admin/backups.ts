import { backUpBooks } from '../../gateway/admin/back-up-books.ts'
import type { BufferedReply } from '../request-context.ts'
import { readFields, textField } from './body.ts'
import { adminReply, type AdminCall, type AdminPorts } from './call.ts'

/** Writes a backup to a file on the machine of the gateway. Replies when it is durable. */
export async function postBackup({ request, actor }: AdminCall, ports: AdminPorts): Promise<BufferedReply> {
  const fields = await readFields(request, ['file'])
  const path = textField(fields, 'file', 'the path of a new file on the machine of the gateway')
  const { file, bytes, commits, blobs, blobFiles } = await backUpBooks({ file: path, actor }, ports)
  return adminReply({ file, bytes, commits, job_files_folder: blobs, job_files: blobFiles })
}
