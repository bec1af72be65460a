import {
  adminDocument,
  apiDocument,
  type ApiDocument,
  type ApiOptions,
} from '../../src/http/description/document.ts'

/** Both documents of a gateway as one, for checks of all replies and requests. */
export function wholeDocument(options: Partial<ApiOptions> = {}): ApiDocument {
  const [api, admin] = [
    apiDocument({ brand: 'service', isOpenAiMediaOn: false, ...options }),
    adminDocument(),
  ]
  return {
    ...api,
    paths: { ...api.paths, ...admin.paths },
    components: {
      schemas: { ...api.components.schemas, ...admin.components.schemas },
      responses: { ...api.components.responses, ...admin.components.responses },
      headers: { ...api.components.headers, ...admin.components.headers },
      securitySchemes: { ...api.components.securitySchemes, ...admin.components.securitySchemes },
    },
  }
}
