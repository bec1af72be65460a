import type { BodyPart, InputBytes } from './joined-body.ts'

/** A field of a form: text, or a file. */
export type FormField = { readonly name: string } & (
  | { readonly text: string }
  | { readonly file: InputBytes; readonly fileName: string }
)

/** The parts of a `multipart/form-data` body. No field may contain the boundary. */
export function formParts(fields: readonly FormField[], boundary: string): readonly BodyPart[] {
  return [...fields.flatMap(field => fieldParts(field, boundary)), `--${boundary}--\r\n`]
}

function fieldParts(field: FormField, boundary: string): readonly BodyPart[] {
  const disposition = `--${boundary}\r\ncontent-disposition: form-data; name="${field.name}"`
  if ('text' in field) return [`${disposition}\r\n\r\n${field.text}\r\n`]
  const { file, fileName } = field
  const type = `content-type: ${file.mediaType}`
  return [`${disposition}; filename="${fileName}"\r\n${type}\r\n\r\n`, file, '\r\n']
}

/** No prompt or file contains it, because the id of the job was made after they arrived. */
export function boundaryOf({ jobId }: { readonly jobId: string }): string {
  return `tollgate-${jobId}`
}

/** The end of a file's name: servers look at it. */
export function extensionOf(mediaType: string): string {
  return /^(?:image|video)\/([a-z0-9]+)$/.exec(mediaType)?.[1] ?? 'bin'
}
