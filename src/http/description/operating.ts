import { ok, json, type Paths } from './operation.ts'
import { always, object, open, text, words, type Schema } from './schema.ts'

const metrics: Schema = text

/** Health, metrics and this document. */
export const operatingPaths: Paths = {
  '/health/live': {
    get: {
      id: 'readLiveness',
      summary: 'Whether the process answers',
      tag: 'Operating',
      access: 'everyone',
      replies: ok('The process is running.', object({ status: always('live') }), { status: 'live' }),
      errors: [],
    },
  },
  '/health/ready': {
    get: {
      id: 'readReadiness',
      summary: 'Whether the gateway accepts requests',
      tag: 'Operating',
      access: 'everyone',
      replies: ok('The gateway accepts requests.', object({ status: always('ready') }), { status: 'ready' }),
      errors: [],
      otherErrors: {
        503: {
          schema: object({ status: always('not_ready'), reason: text }),
          examples: { not_ready: { status: 'not_ready', reason: 'The gateway is stopping.' } },
        },
      },
    },
  },
  '/metrics': {
    get: {
      id: 'readMetrics',
      summary: 'Metrics in the Prometheus text format',
      description: 'Without a key if the operator made the metrics public.',
      tag: 'Operating',
      access: 'metrics',
      scopes: ['metrics'],
      replies: {
        200: {
          description: 'The metrics.',
          content: {
            'text/plain': {
              schema: metrics,
              examples: { metrics: 'tollgate_requests_total{route="chat"} 1\n' },
            },
          },
        },
      },
      errors: [],
    },
  },
  '/openapi.json': {
    get: {
      id: 'readDescription',
      summary: 'This document',
      tag: 'Operating',
      access: 'everyone',
      replies: {
        200: {
          description: 'The document.',
          content: json(open({ openapi: text }), { document: { openapi: '3.1.0' } }),
        },
        304: { description: 'Nothing changed.' },
      },
      errors: [],
    },
  },
  '/docs': {
    get: {
      id: 'readDocs',
      summary: 'This document as a page',
      tag: 'Operating',
      access: 'everyone',
      replies: {
        200: {
          description: 'The page.',
          content: { 'text/html': { schema: text, examples: { page: '<!doctype html>' } } },
        },
      },
      errors: [],
    },
  },
  '/docs/{file}': {
    get: {
      id: 'readDocsFile',
      summary: 'A file of that page',
      tag: 'Operating',
      access: 'everyone',
      parameters: [
        {
          name: 'file',
          in: 'path',
          description: 'Its name.',
          schema: words(['start.js', 'swagger-ui-bundle.js', 'swagger-ui.css']),
          example: 'start.js',
        },
      ],
      replies: {
        200: {
          description: 'The file.',
          content: {
            'text/javascript': { schema: text, examples: {} },
            'text/css': { schema: text, examples: {} },
          },
        },
        304: { description: 'Nothing changed.' },
      },
      errors: ['not_found'],
    },
  },
}

/** The document of the admin API itself. */
export const adminDocumentPaths: Paths = {
  '/admin/openapi.json': {
    get: {
      id: 'readAdminDescription',
      summary: 'This document',
      tag: 'Admin: reading and checking',
      access: 'admin',
      scopes: ['read'],
      replies: {
        200: {
          description: 'The document.',
          content: json(open({ openapi: text }), { document: { openapi: '3.1.0' } }),
        },
        304: { description: 'Nothing changed.' },
      },
      errors: [],
    },
  },
}
