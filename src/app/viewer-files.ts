import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Bytes } from '../domain/bytes.ts'
import type { ViewerFiles } from '../http/description/routes.ts'

/** Reads the files of Swagger UI from its package. Throws if the package is not installed. */
export function viewerFiles(): ViewerFiles {
  return {
    'swagger-ui-bundle.js': read('swagger-ui-bundle.js'),
    'swagger-ui.css': read('swagger-ui.css'),
  }
}

function read(name: string): Bytes {
  return new Uint8Array(readFileSync(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`))))
}
