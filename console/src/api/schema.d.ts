// Written by `npm run console-types` from the OpenAPI document of the admin API.

export interface paths {
  readonly "/admin/api/accounts": {
    readonly parameters: {
    };
    readonly get: operations["listAccounts"];
    readonly post: operations["createAccount"];
  };
  readonly "/admin/api/accounts/{account}": {
    readonly parameters: {
    };
    readonly get: operations["readAccount"];
    readonly patch: operations["changeAccount"];
  };
  readonly "/admin/api/accounts/{account}/grants": {
    readonly parameters: {
    };
    readonly post: operations["grantCredit"];
  };
  readonly "/admin/api/accounts/{account}/debits": {
    readonly parameters: {
    };
    readonly post: operations["debitAccount"];
  };
  readonly "/admin/api/charges/{charge}/refund": {
    readonly parameters: {
    };
    readonly post: operations["refundCharge"];
  };
  readonly "/admin/api/accounts/{account}/statement": {
    readonly parameters: {
    };
    readonly get: operations["listAdminMovements"];
  };
  readonly "/admin/api/accounts/{account}/suspend": {
    readonly parameters: {
    };
    readonly post: operations["suspendAccount"];
  };
  readonly "/admin/api/accounts/{account}/resume": {
    readonly parameters: {
    };
    readonly post: operations["resumeAccount"];
  };
  readonly "/admin/api/accounts/{account}/close": {
    readonly parameters: {
    };
    readonly post: operations["closeAccount"];
  };
  readonly "/admin/api/accounts/{account}/projects": {
    readonly parameters: {
    };
    readonly get: operations["listProjects"];
    readonly post: operations["createProject"];
  };
  readonly "/admin/api/projects/{project}": {
    readonly parameters: {
    };
    readonly get: operations["readProject"];
    readonly patch: operations["changeProject"];
  };
  readonly "/admin/api/projects/{project}/usage": {
    readonly parameters: {
    };
    readonly get: operations["readProjectUsage"];
  };
  readonly "/admin/api/projects/{project}/close": {
    readonly parameters: {
    };
    readonly post: operations["closeProject"];
  };
  readonly "/admin/api/webhooks": {
    readonly parameters: {
    };
    readonly get: operations["listWebhooks"];
    readonly post: operations["createWebhook"];
  };
  readonly "/admin/api/webhooks/{webhook}": {
    readonly parameters: {
    };
    readonly get: operations["readWebhook"];
    readonly delete: operations["removeWebhook"];
    readonly patch: operations["changeWebhook"];
  };
  readonly "/admin/api/webhooks/{webhook}/rotate": {
    readonly parameters: {
    };
    readonly post: operations["rotateWebhook"];
  };
  readonly "/admin/api/webhooks/{webhook}/test": {
    readonly parameters: {
    };
    readonly post: operations["testWebhook"];
  };
  readonly "/admin/api/webhooks/{webhook}/deliveries": {
    readonly parameters: {
    };
    readonly get: operations["listWebhookDeliveries"];
  };
  readonly "/admin/api/webhooks/{webhook}/deliveries/{delivery}/redeliver": {
    readonly parameters: {
    };
    readonly post: operations["redeliverWebhookMessage"];
  };
  readonly "/admin/api/accounts/{account}/keys": {
    readonly parameters: {
    };
    readonly get: operations["listKeys"];
    readonly post: operations["createKey"];
  };
  readonly "/admin/api/accounts/{account}/keys/{id}": {
    readonly parameters: {
    };
    readonly delete: operations["revokeKeyOfAccount"];
  };
  readonly "/admin/api/key-defaults": {
    readonly parameters: {
    };
    readonly get: operations["readKeyDefaults"];
    readonly patch: operations["changeKeyDefaults"];
  };
  readonly "/admin/api/keys/find": {
    readonly parameters: {
    };
    readonly post: operations["findKey"];
  };
  readonly "/admin/api/keys/{id}": {
    readonly parameters: {
    };
    readonly get: operations["readKeyLimits"];
    readonly patch: operations["changeKey"];
  };
  readonly "/admin/api/keys/{id}/revoke": {
    readonly parameters: {
    };
    readonly post: operations["revokeKey"];
  };
  readonly "/admin/api/margins": {
    readonly parameters: {
    };
    readonly get: operations["readMargins"];
  };
  readonly "/admin/api/requests/report": {
    readonly parameters: {
    };
    readonly get: operations["readRequestsReport"];
  };
  readonly "/admin/api/mail": {
    readonly parameters: {
    };
    readonly get: operations["readMail"];
  };
  readonly "/admin/api/mail/messages": {
    readonly parameters: {
    };
    readonly get: operations["listMails"];
  };
  readonly "/admin/api/mail/test": {
    readonly parameters: {
    };
    readonly post: operations["sendTestMail"];
  };
  readonly "/admin/api/keys/{id}/rotate": {
    readonly parameters: {
    };
    readonly post: operations["rotateKey"];
  };
  readonly "/admin/api/keys/{id}/secrets/{secret}/revoke": {
    readonly parameters: {
    };
    readonly post: operations["revokeKeySecret"];
  };
  readonly "/admin/api/tokens": {
    readonly parameters: {
    };
    readonly get: operations["listAdminTokens"];
    readonly post: operations["createAdminToken"];
  };
  readonly "/admin/api/tokens/{token}": {
    readonly parameters: {
    };
    readonly get: operations["readAdminToken"];
    readonly delete: operations["revokeAdminToken"];
  };
  readonly "/admin/api/providers": {
    readonly parameters: {
    };
    readonly get: operations["listProviders"];
  };
  readonly "/admin/api/providers/{provider}": {
    readonly parameters: {
    };
    readonly get: operations["readRowOfProvider"];
    readonly put: operations["putProvider"];
    readonly delete: operations["deleteProvider"];
  };
  readonly "/admin/api/models": {
    readonly parameters: {
    };
    readonly get: operations["listModelRows"];
  };
  readonly "/admin/api/models/{model}": {
    readonly parameters: {
    };
    readonly get: operations["readRowOfModel"];
    readonly put: operations["putModel"];
    readonly delete: operations["deleteModel"];
    readonly patch: operations["switchModel"];
  };
  readonly "/admin/api/catalog": {
    readonly parameters: {
    };
    readonly get: operations["readCatalog"];
    readonly put: operations["replaceCatalog"];
  };
  readonly "/admin/api/catalog/history": {
    readonly parameters: {
    };
    readonly get: operations["listRevisions"];
  };
  readonly "/admin/api/catalog/rollback": {
    readonly parameters: {
    };
    readonly post: operations["rollBackCatalog"];
  };
  readonly "/admin/api/price-lists": {
    readonly parameters: {
    };
    readonly get: operations["listPriceLists"];
  };
  readonly "/admin/api/price-lists/{list}": {
    readonly parameters: {
    };
    readonly get: operations["readPriceList"];
    readonly put: operations["putPriceList"];
    readonly delete: operations["deletePriceList"];
  };
  readonly "/admin/api/price-lists/{list}/changes": {
    readonly parameters: {
    };
    readonly get: operations["readPriceListChanges"];
  };
  readonly "/admin/api/usage": {
    readonly parameters: {
    };
    readonly get: operations["listAdminUsage"];
  };
  readonly "/admin/api/jobs": {
    readonly parameters: {
    };
    readonly get: operations["listJobs"];
  };
  readonly "/admin/api/losses": {
    readonly parameters: {
    };
    readonly get: operations["listLosses"];
  };
  readonly "/admin/api/jobs/{job}": {
    readonly parameters: {
    };
    readonly get: operations["readJob"];
  };
  readonly "/admin/api/audit": {
    readonly parameters: {
    };
    readonly get: operations["listAudit"];
  };
  readonly "/admin/api/reconcile": {
    readonly parameters: {
    };
    readonly post: operations["reconcile"];
  };
  readonly "/admin/api/verify": {
    readonly parameters: {
    };
    readonly post: operations["verify"];
  };
  readonly "/admin/api/nodes": {
    readonly parameters: {
    };
    readonly get: operations["listNodes"];
  };
  readonly "/admin/api/doctor": {
    readonly parameters: {
    };
    readonly get: operations["readDoctor"];
  };
  readonly "/admin/api/requests": {
    readonly parameters: {
    };
    readonly get: operations["listAdminRequests"];
  };
  readonly "/admin/api/requests/{request}": {
    readonly parameters: {
    };
    readonly get: operations["readAdminRequest"];
  };
  readonly "/admin/api/backups": {
    readonly parameters: {
    };
    readonly post: operations["createBackup"];
  };
  readonly "/admin/openapi.json": {
    readonly parameters: {
    };
    readonly get: operations["readAdminDescription"];
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    readonly AdminRequest: {
      readonly id: string;
      readonly object: "request";
      readonly created_at: string;
      readonly key: string;
      readonly project: string | null;
      readonly route: string;
      readonly model: string | null;
      readonly status: number;
      readonly error_code: string | null;
      readonly duration_ms: number;
      readonly first_byte_ms: number | null;
      readonly held_usd: string | null;
      readonly required_usd: string | null;
      readonly available_usd: string | null;
      readonly refused_by: {
        readonly scope: "account" | "project" | "account_model" | "key" | "key_model";
        readonly limit: "requests_per_minute" | "tokens_per_minute" | "concurrent_requests" | "day_budget" | "week_budget" | "month_budget" | "total_budget";
      } | null;
      readonly cost_usd: string | null;
      readonly job: string | null;
      readonly is_replay: boolean;
      readonly replay_of: string | null;
      readonly client_disconnected: boolean;
      readonly tags: {
        readonly [key: string]: string;
      };
      readonly user: string | null;
      readonly alike_refusals: number;
      readonly account: string;
      readonly account_name: string | null;
      readonly attempts: readonly {
        readonly provider: string;
        readonly reason: string | null;
      }[];
    };
    readonly AdminRequestPage: {
      readonly id: string;
      readonly object: "request_page";
      readonly outcome: "charged" | "given_back" | "replayed" | "running" | "refused" | "failed" | "cancelled" | "uncharged";
      readonly why: readonly string[];
      readonly hold: {
        readonly amount_usd: string;
        readonly state: "open" | "captured" | "released" | "expired";
        readonly placed_at: string | null;
        readonly ended_at: string | null;
      } | null;
      readonly account: string | null;
      readonly account_name: string | null;
      readonly request: components["schemas"]["AdminRequest"] | null;
      readonly charge: {
        readonly id: string;
        readonly object: "usage";
        readonly route: string;
        readonly model: string;
        readonly usage: {
          readonly input_tokens: number;
          readonly output_tokens: number;
          readonly cached_input_tokens: number;
          readonly cache_write_tokens: number;
          readonly cache_write_1h_tokens: number;
          readonly audio_input_tokens: number;
          readonly reasoning_tokens: number;
          readonly audio_output_tokens: number;
          readonly server_tool_uses: number;
          readonly search_calls: number;
          readonly file_searches: number;
          readonly service_tier: string | null;
          readonly assumed_cached_tokens?: number;
        } | {
          readonly images: number;
          readonly text_input_tokens?: number;
          readonly image_input_tokens?: number;
          readonly text_output_tokens?: number;
          readonly image_output_tokens?: number;
        } | {
          readonly seconds: number;
        };
        readonly source: "reported" | "estimated";
        readonly is_clamped: boolean;
        readonly cost_usd: string;
        readonly refunded_usd: string;
        readonly created_at: string;
        readonly shortfall_usd: string;
        readonly pricing: "tariff" | "free" | "upstream_cost";
        readonly arithmetic: {
          readonly items: readonly {
            readonly item: "input" | "cached_input" | "cache_write" | "cache_write_1h" | "audio_input" | "output" | "reasoning" | "audio_output" | "server_tool_use" | "search_call" | "file_search" | "text_input" | "image_input" | "text_output" | "image_output" | "request" | "image" | "max_image" | "second";
            readonly quantity: number;
            readonly per: number;
            readonly price_usd: string;
            readonly amount_usd: string;
          }[];
          readonly sum_usd: string;
          readonly total_usd: string;
          readonly above_input_tokens: number | null;
          readonly service_tier: string | null;
          readonly service_tier_factor: string | null;
          readonly is_at_most: boolean;
        } | null;
        readonly refunds: readonly {
          readonly id: string;
          readonly amount_usd: string;
          readonly created_at: string;
          readonly note: string | null;
        }[];
        readonly provider: string;
        readonly provider_cost_usd: string | null;
        readonly tags?: {
          readonly [key: string]: string;
        };
        readonly user?: string;
      } | null;
      readonly undelivered_attempts: readonly {
        readonly number: number;
        readonly provider: string;
        readonly state: "abandoned" | "timed_out" | "closed" | "billed" | "compensated";
        readonly input_tokens: number | null;
        readonly output_tokens: number | null;
        readonly cost_usd: string | null;
        readonly provider_cost_usd: string | null;
        readonly at: string;
      }[];
      readonly job: {
        readonly id: string;
        readonly kind: "image" | "video";
        readonly state: "queued" | "processing" | "unknown_submit" | "completed" | "failed";
        readonly model: string;
        readonly route: string;
        readonly reserved_usd: string;
        readonly failure: {
          readonly code: string | null;
          readonly message: string;
        } | null;
        readonly created_at: string;
        readonly changed_at: string;
        readonly deadline_at: string;
        readonly provider: string;
        readonly upstream_id: string | null;
        readonly problem: string | null;
        readonly loss_usd: string | null;
        readonly provider_cost_usd: string | null;
        readonly why: string | null;
        readonly next: string | null;
        readonly history: readonly {
          readonly state: "queued" | "processing" | "unknown_submit" | "completed" | "failed";
          readonly detail: string | null;
          readonly at: string;
        }[];
      } | null;
    };
    readonly AdminMovementPage: {
      readonly id: string;
      readonly object: "movement_page";
      readonly kind: "top_up" | "grant" | "debit";
      readonly amount_usd: string;
      readonly created_at: string;
      readonly note: string | null;
      readonly account: string | null;
      readonly account_name: string | null;
    };
    readonly Tariff: {
      readonly input_per_mtok?: string;
      readonly cached_input_per_mtok?: string;
      readonly cache_write_per_mtok?: string;
      readonly cache_write_1h_per_mtok?: string;
      readonly audio_input_per_mtok?: string;
      readonly output_per_mtok?: string;
      readonly reasoning_per_mtok?: string;
      readonly audio_output_per_mtok?: string;
      readonly per_request?: string;
      readonly per_server_tool_use?: string;
      readonly per_search_call?: string;
      readonly per_file_search?: string;
      readonly tiers?: readonly {
        readonly above_input_tokens: number;
        readonly input_per_mtok?: string;
        readonly cached_input_per_mtok?: string;
        readonly cache_write_per_mtok?: string;
        readonly cache_write_1h_per_mtok?: string;
        readonly audio_input_per_mtok?: string;
        readonly output_per_mtok?: string;
        readonly reasoning_per_mtok?: string;
        readonly audio_output_per_mtok?: string;
        readonly per_request?: string;
        readonly per_server_tool_use?: string;
        readonly per_search_call?: string;
        readonly per_file_search?: string;
      }[];
      readonly service_tiers?: {
        readonly [key: string]: string;
      };
    };
    readonly NewTariff: {
      readonly input_per_mtok?: string | null;
      readonly cached_input_per_mtok?: string | null;
      readonly cache_write_per_mtok?: string | null;
      readonly cache_write_1h_per_mtok?: string | null;
      readonly audio_input_per_mtok?: string | null;
      readonly output_per_mtok?: string | null;
      readonly reasoning_per_mtok?: string | null;
      readonly audio_output_per_mtok?: string | null;
      readonly per_request?: string | null;
      readonly per_server_tool_use?: string | null;
      readonly per_search_call?: string | null;
      readonly per_file_search?: string | null;
      readonly tiers?: readonly {
        readonly above_input_tokens: number;
        readonly input_per_mtok?: string | null;
        readonly cached_input_per_mtok?: string | null;
        readonly cache_write_per_mtok?: string | null;
        readonly cache_write_1h_per_mtok?: string | null;
        readonly audio_input_per_mtok?: string | null;
        readonly output_per_mtok?: string | null;
        readonly reasoning_per_mtok?: string | null;
        readonly audio_output_per_mtok?: string | null;
        readonly per_request?: string | null;
        readonly per_server_tool_use?: string | null;
        readonly per_search_call?: string | null;
        readonly per_file_search?: string | null;
      }[] | null;
      readonly service_tiers?: {
        readonly [key: string]: string;
      } | null;
    };
    readonly ProviderRow: {
      readonly id: string;
      readonly kind: "sandbox";
      readonly routes?: readonly ("chat" | "responses" | "embeddings")[];
    } | {
      readonly id: string;
      readonly kind: "openai-compatible";
      readonly base_url: string;
      readonly api_key?: string;
      readonly api_key_header?: string;
      readonly headers?: {
        readonly [key: string]: string;
      };
      readonly routes?: readonly ("chat" | "responses" | "embeddings")[];
      readonly max_tokens_field?: "max_tokens" | "max_completion_tokens";
      readonly omit_fields?: readonly ("metadata" | "temperature" | "top_p" | "stop" | "parallel_tool_calls" | "stream_options")[];
      readonly refuse_fields?: {
        readonly [key: string]: readonly (string | number | boolean)[];
      };
      readonly cost_header?: string;
      readonly cost_field?: string;
      readonly cost_unit?: "usd" | "cents" | "ticks";
      readonly usage_style?: "gemini";
      readonly bills_refused?: "content_filter";
      readonly connect_timeout_s?: number;
      readonly read_timeout_s?: number;
      readonly stream_idle_timeout_s?: number;
      readonly first_byte_timeout_s?: number;
      readonly retries?: number;
      readonly stream_usage?: "ask";
      readonly finish_aborted?: boolean;
      readonly pass_rate_limits?: boolean;
      readonly reuse_connections?: boolean;
    } | {
      readonly id: string;
      readonly kind: "anthropic";
      readonly base_url: string;
      readonly api_key?: string;
      readonly api_key_header?: string;
      readonly headers?: {
        readonly [key: string]: string;
      };
      readonly routes?: readonly "messages"[];
      readonly betas?: readonly string[];
      readonly refuse_fields?: {
        readonly [key: string]: readonly (string | number | boolean)[];
      };
      readonly connect_timeout_s?: number;
      readonly read_timeout_s?: number;
      readonly stream_idle_timeout_s?: number;
      readonly first_byte_timeout_s?: number;
      readonly retries?: number;
      readonly finish_aborted?: boolean;
      readonly pass_rate_limits?: boolean;
      readonly reuse_connections?: boolean;
    } | {
      readonly id: string;
      readonly kind: "openai-images";
      readonly base_url: string;
      readonly api_key?: string;
      readonly headers?: {
        readonly [key: string]: string;
      };
      readonly connect_timeout_s?: number;
      readonly reuse_connections?: boolean;
      readonly send_links?: "always" | "never";
    } | {
      readonly id: string;
      readonly kind: "gemini-images";
      readonly base_url: string;
      readonly api_key?: string;
      readonly headers?: {
        readonly [key: string]: string;
      };
      readonly connect_timeout_s?: number;
      readonly reuse_connections?: boolean;
      readonly send_links?: "always" | "never";
    } | {
      readonly id: string;
      readonly kind: "kling";
      readonly base_url: string;
      readonly api_key?: string;
      readonly headers?: {
        readonly [key: string]: string;
      };
      readonly connect_timeout_s?: number;
      readonly reuse_connections?: boolean;
      readonly send_links?: "always" | "never";
      readonly credit_usd?: string;
    } | {
      readonly id: string;
      readonly kind: "fal";
      readonly base_url: string;
      readonly api_key?: string;
      readonly headers?: {
        readonly [key: string]: string;
      };
      readonly connect_timeout_s?: number;
      readonly reuse_connections?: boolean;
      readonly send_links?: "always" | "never";
    } | {
      readonly id: string;
      readonly kind: "geminigen";
      readonly base_url: string;
      readonly api_key?: string;
      readonly headers?: {
        readonly [key: string]: string;
      };
      readonly connect_timeout_s?: number;
      readonly reuse_connections?: boolean;
      readonly send_links?: "always" | "never";
      readonly credit_usd?: string;
    } | {
      readonly id: string;
      readonly kind: "minimax";
      readonly base_url: string;
      readonly api_key?: string;
      readonly headers?: {
        readonly [key: string]: string;
      };
      readonly connect_timeout_s?: number;
      readonly reuse_connections?: boolean;
      readonly send_links?: "always" | "never";
    } | {
      readonly id: string;
      readonly kind: "replicate";
      readonly base_url: string;
      readonly api_key?: string;
      readonly headers?: {
        readonly [key: string]: string;
      };
      readonly connect_timeout_s?: number;
      readonly reuse_connections?: boolean;
      readonly send_links?: "always" | "never";
    } | {
      readonly id: string;
      readonly kind: "runway";
      readonly base_url: string;
      readonly api_key?: string;
      readonly headers?: {
        readonly [key: string]: string;
      };
      readonly connect_timeout_s?: number;
      readonly reuse_connections?: boolean;
      readonly send_links?: "always" | "never";
      readonly credit_usd?: string;
    } | {
      readonly id: string;
      readonly kind: "seedance";
      readonly base_url: string;
      readonly api_key?: string;
      readonly headers?: {
        readonly [key: string]: string;
      };
      readonly connect_timeout_s?: number;
      readonly reuse_connections?: boolean;
      readonly send_links?: "always" | "never";
    } | {
      readonly id: string;
      readonly kind: "veo";
      readonly base_url: string;
      readonly api_key?: string;
      readonly headers?: {
        readonly [key: string]: string;
      };
      readonly connect_timeout_s?: number;
      readonly reuse_connections?: boolean;
      readonly send_links?: "always" | "never";
    };
    readonly NewProviderRow: {
      readonly kind: "sandbox";
      readonly id?: string | null;
      readonly routes?: readonly ("chat" | "responses" | "embeddings")[] | null;
    } | {
      readonly kind: "openai-compatible";
      readonly base_url: string;
      readonly id?: string | null;
      readonly api_key?: string | null;
      readonly api_key_header?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly routes?: readonly ("chat" | "responses" | "embeddings")[] | null;
      /** @enum {string|null} */
      readonly max_tokens_field?: "max_tokens" | "max_completion_tokens" | null;
      readonly omit_fields?: readonly ("metadata" | "temperature" | "top_p" | "stop" | "parallel_tool_calls" | "stream_options")[] | null;
      readonly refuse_fields?: {
        readonly [key: string]: readonly (string | number | boolean)[];
      } | null;
      readonly cost_header?: string | null;
      readonly cost_field?: string | null;
      /** @enum {string|null} */
      readonly cost_unit?: "usd" | "cents" | "ticks" | null;
      /** @enum {string|null} */
      readonly usage_style?: "gemini" | null;
      /** @enum {string|null} */
      readonly bills_refused?: "content_filter" | null;
      readonly connect_timeout_s?: number | null;
      readonly read_timeout_s?: number | null;
      readonly stream_idle_timeout_s?: number | null;
      readonly first_byte_timeout_s?: number | null;
      readonly retries?: number | null;
      /** @enum {string|null} */
      readonly stream_usage?: "ask" | null;
      readonly finish_aborted?: boolean | null;
      readonly pass_rate_limits?: boolean | null;
      readonly reuse_connections?: boolean | null;
    } | {
      readonly kind: "anthropic";
      readonly base_url: string;
      readonly id?: string | null;
      readonly api_key?: string | null;
      readonly api_key_header?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly routes?: readonly "messages"[] | null;
      readonly betas?: readonly string[] | null;
      readonly refuse_fields?: {
        readonly [key: string]: readonly (string | number | boolean)[];
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly read_timeout_s?: number | null;
      readonly stream_idle_timeout_s?: number | null;
      readonly first_byte_timeout_s?: number | null;
      readonly retries?: number | null;
      readonly finish_aborted?: boolean | null;
      readonly pass_rate_limits?: boolean | null;
      readonly reuse_connections?: boolean | null;
    } | {
      readonly kind: "openai-images";
      readonly base_url: string;
      readonly id?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
    } | {
      readonly kind: "gemini-images";
      readonly id?: string | null;
      readonly base_url?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
    } | {
      readonly kind: "kling";
      readonly base_url: string;
      readonly id?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
      readonly credit_usd?: string | null;
    } | {
      readonly kind: "fal";
      readonly id?: string | null;
      readonly base_url?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
    } | {
      readonly kind: "geminigen";
      readonly id?: string | null;
      readonly base_url?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
      readonly credit_usd?: string | null;
    } | {
      readonly kind: "minimax";
      readonly id?: string | null;
      readonly base_url?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
    } | {
      readonly kind: "replicate";
      readonly id?: string | null;
      readonly base_url?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
    } | {
      readonly kind: "runway";
      readonly id?: string | null;
      readonly base_url?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
      readonly credit_usd?: string | null;
    } | {
      readonly kind: "seedance";
      readonly id?: string | null;
      readonly base_url?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
    } | {
      readonly kind: "veo";
      readonly id?: string | null;
      readonly base_url?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
    };
    readonly FileProviderRow: {
      readonly id: string;
      readonly kind: "sandbox";
      readonly routes?: readonly ("chat" | "responses" | "embeddings")[] | null;
    } | {
      readonly id: string;
      readonly kind: "openai-compatible";
      readonly base_url: string;
      readonly api_key?: string | null;
      readonly api_key_header?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly routes?: readonly ("chat" | "responses" | "embeddings")[] | null;
      /** @enum {string|null} */
      readonly max_tokens_field?: "max_tokens" | "max_completion_tokens" | null;
      readonly omit_fields?: readonly ("metadata" | "temperature" | "top_p" | "stop" | "parallel_tool_calls" | "stream_options")[] | null;
      readonly refuse_fields?: {
        readonly [key: string]: readonly (string | number | boolean)[];
      } | null;
      readonly cost_header?: string | null;
      readonly cost_field?: string | null;
      /** @enum {string|null} */
      readonly cost_unit?: "usd" | "cents" | "ticks" | null;
      /** @enum {string|null} */
      readonly usage_style?: "gemini" | null;
      /** @enum {string|null} */
      readonly bills_refused?: "content_filter" | null;
      readonly connect_timeout_s?: number | null;
      readonly read_timeout_s?: number | null;
      readonly stream_idle_timeout_s?: number | null;
      readonly first_byte_timeout_s?: number | null;
      readonly retries?: number | null;
      /** @enum {string|null} */
      readonly stream_usage?: "ask" | null;
      readonly finish_aborted?: boolean | null;
      readonly pass_rate_limits?: boolean | null;
      readonly reuse_connections?: boolean | null;
    } | {
      readonly id: string;
      readonly kind: "anthropic";
      readonly base_url: string;
      readonly api_key?: string | null;
      readonly api_key_header?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly routes?: readonly "messages"[] | null;
      readonly betas?: readonly string[] | null;
      readonly refuse_fields?: {
        readonly [key: string]: readonly (string | number | boolean)[];
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly read_timeout_s?: number | null;
      readonly stream_idle_timeout_s?: number | null;
      readonly first_byte_timeout_s?: number | null;
      readonly retries?: number | null;
      readonly finish_aborted?: boolean | null;
      readonly pass_rate_limits?: boolean | null;
      readonly reuse_connections?: boolean | null;
    } | {
      readonly id: string;
      readonly kind: "openai-images";
      readonly base_url: string;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
    } | {
      readonly id: string;
      readonly kind: "gemini-images";
      readonly base_url?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
    } | {
      readonly id: string;
      readonly kind: "kling";
      readonly base_url: string;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
      readonly credit_usd?: string | null;
    } | {
      readonly id: string;
      readonly kind: "fal";
      readonly base_url?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
    } | {
      readonly id: string;
      readonly kind: "geminigen";
      readonly base_url?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
      readonly credit_usd?: string | null;
    } | {
      readonly id: string;
      readonly kind: "minimax";
      readonly base_url?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
    } | {
      readonly id: string;
      readonly kind: "replicate";
      readonly base_url?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
    } | {
      readonly id: string;
      readonly kind: "runway";
      readonly base_url?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
      readonly credit_usd?: string | null;
    } | {
      readonly id: string;
      readonly kind: "seedance";
      readonly base_url?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
    } | {
      readonly id: string;
      readonly kind: "veo";
      readonly base_url?: string | null;
      readonly api_key?: string | null;
      readonly headers?: {
        readonly [key: string]: string;
      } | null;
      readonly connect_timeout_s?: number | null;
      readonly reuse_connections?: boolean | null;
      /** @enum {string|null} */
      readonly send_links?: "always" | "never" | null;
    };
    readonly ModelRow: {
      readonly id: string;
      readonly kind: "chat";
      readonly enabled: boolean;
      readonly upstreams: readonly {
        readonly provider: string;
        readonly model: string;
        readonly order?: number;
        readonly weight?: number;
        readonly cost?: components["schemas"]["Tariff"];
      }[];
      readonly display_name?: string;
      readonly description?: string;
      readonly owned_by?: string;
      readonly pricing?: ("free" | "upstream_cost") | components["schemas"]["Tariff"];
      readonly markup?: string;
      readonly ceiling_pricing?: components["schemas"]["Tariff"];
      readonly max_output_tokens?: number;
      readonly context_window?: number;
      readonly read_timeout_s?: number;
      readonly stream_idle_timeout_s?: number;
      readonly first_byte_timeout_s?: number;
      readonly preset?: "coding-agent";
      readonly inputs?: readonly ("text" | "image" | "file" | "audio")[];
      readonly unsupported_inputs?: "refuse" | "note";
      readonly messages_stream?: "synthetic" | "live";
      readonly stream_usage?: "ask" | "client";
      readonly heartbeats?: boolean;
      readonly replays?: boolean;
      readonly refuse_fields?: {
        readonly [key: string]: readonly (string | number | boolean)[];
      };
    } | {
      readonly id: string;
      readonly kind: "embedding";
      readonly enabled: boolean;
      readonly upstreams: readonly {
        readonly provider: string;
        readonly model: string;
        readonly order?: number;
        readonly weight?: number;
        readonly cost?: components["schemas"]["Tariff"];
      }[];
      readonly display_name?: string;
      readonly description?: string;
      readonly owned_by?: string;
      readonly pricing?: ("free" | "upstream_cost") | components["schemas"]["Tariff"];
      readonly markup?: string;
      readonly ceiling_pricing?: components["schemas"]["Tariff"];
      readonly context_window?: number;
      readonly read_timeout_s?: number;
      readonly replays?: boolean;
      readonly refuse_fields?: {
        readonly [key: string]: readonly (string | number | boolean)[];
      };
    } | {
      readonly id: string;
      readonly kind: "image";
      readonly enabled: boolean;
      readonly upstreams: readonly {
        readonly provider: string;
        readonly model: string;
        readonly order?: number;
        readonly weight?: number;
        readonly cost?: {
          readonly per_image: string;
        } | {
          readonly text_input_per_mtok: string;
          readonly image_input_per_mtok: string;
          readonly image_output_per_mtok: string;
          readonly max_per_image: string;
          readonly text_output_per_mtok?: string;
        };
      }[];
      readonly display_name?: string;
      readonly description?: string;
      readonly owned_by?: string;
      readonly pricing?: {
        readonly per_image: string;
      } | {
        readonly text_input_per_mtok: string;
        readonly image_input_per_mtok: string;
        readonly image_output_per_mtok: string;
        readonly max_per_image: string;
        readonly text_output_per_mtok?: string;
      };
      readonly provider_prices?: {
        readonly text_input_per_mtok: string;
        readonly image_input_per_mtok: string;
        readonly image_output_per_mtok: string;
        readonly text_output_per_mtok?: string;
      };
      readonly params?: {
        readonly [key: string]: readonly string[];
      };
      readonly fixed_params?: {
        readonly [key: string]: string | number | boolean;
      };
      readonly output_types?: readonly ("image/svg+xml" | "image/heic" | "image/tiff")[];
    } | {
      readonly id: string;
      readonly kind: "video";
      readonly enabled: boolean;
      readonly upstreams: readonly {
        readonly provider: string;
        readonly model: string;
        readonly order?: number;
        readonly weight?: number;
        readonly cost?: {
          readonly per_second: string;
        };
      }[];
      readonly engine: "family-a" | "family-a-extend" | "family-b" | "family-b-edit" | "family-b-motion" | "family-c" | "family-d-5" | "family-d-10" | "family-e" | "family-e-extend" | "family-f" | "family-g" | "family-g-extend" | "storyboard";
      readonly display_name?: string;
      readonly description?: string;
      readonly owned_by?: string;
      readonly pricing?: {
        readonly per_second: string;
      };
      readonly params?: {
        readonly [key: string]: readonly string[];
      };
      readonly fixed_params?: {
        readonly [key: string]: string | number | boolean;
      };
      readonly hold_duration_seconds?: number;
      readonly output_types?: readonly "video/x-matroska"[];
    };
    readonly NewModelRow: {
      readonly kind: "chat";
      readonly upstreams: readonly {
        readonly provider: string;
        readonly model: string;
        readonly order?: number | null;
        readonly weight?: number | null;
        readonly cost?: components["schemas"]["NewTariff"] | null;
      }[];
      readonly id?: string | null;
      readonly enabled?: boolean | null;
      readonly display_name?: string | null;
      readonly description?: string | null;
      readonly owned_by?: string | null;
      readonly pricing?: (("free" | "upstream_cost") | components["schemas"]["NewTariff"]) | null;
      readonly markup?: string | null;
      readonly ceiling_pricing?: components["schemas"]["NewTariff"] | null;
      readonly max_output_tokens?: number | null;
      readonly context_window?: number | null;
      readonly read_timeout_s?: number | null;
      readonly stream_idle_timeout_s?: number | null;
      readonly first_byte_timeout_s?: number | null;
      /** @enum {string|null} */
      readonly preset?: "coding-agent" | null;
      readonly inputs?: readonly ("text" | "image" | "file" | "audio")[] | null;
      /** @enum {string|null} */
      readonly unsupported_inputs?: "refuse" | "note" | null;
      /** @enum {string|null} */
      readonly messages_stream?: "synthetic" | "live" | null;
      /** @enum {string|null} */
      readonly stream_usage?: "ask" | "client" | null;
      readonly heartbeats?: boolean | null;
      readonly replays?: boolean | null;
      readonly refuse_fields?: {
        readonly [key: string]: readonly (string | number | boolean)[];
      } | null;
    } | {
      readonly kind: "embedding";
      readonly upstreams: readonly {
        readonly provider: string;
        readonly model: string;
        readonly order?: number | null;
        readonly weight?: number | null;
        readonly cost?: components["schemas"]["NewTariff"] | null;
      }[];
      readonly id?: string | null;
      readonly enabled?: boolean | null;
      readonly display_name?: string | null;
      readonly description?: string | null;
      readonly owned_by?: string | null;
      readonly pricing?: (("free" | "upstream_cost") | components["schemas"]["NewTariff"]) | null;
      readonly markup?: string | null;
      readonly ceiling_pricing?: components["schemas"]["NewTariff"] | null;
      readonly context_window?: number | null;
      readonly read_timeout_s?: number | null;
      readonly replays?: boolean | null;
      readonly refuse_fields?: {
        readonly [key: string]: readonly (string | number | boolean)[];
      } | null;
    } | {
      readonly kind: "image";
      readonly upstreams: readonly {
        readonly provider: string;
        readonly model: string;
        readonly order?: number | null;
        readonly weight?: number | null;
        readonly cost?: ({
          readonly per_image: string;
        } | {
          readonly text_input_per_mtok: string;
          readonly image_input_per_mtok: string;
          readonly image_output_per_mtok: string;
          readonly max_per_image: string;
          readonly text_output_per_mtok?: string | null;
        }) | null;
      }[];
      readonly id?: string | null;
      readonly enabled?: boolean | null;
      readonly display_name?: string | null;
      readonly description?: string | null;
      readonly owned_by?: string | null;
      readonly pricing?: ({
        readonly per_image: string;
      } | {
        readonly text_input_per_mtok: string;
        readonly image_input_per_mtok: string;
        readonly image_output_per_mtok: string;
        readonly max_per_image: string;
        readonly text_output_per_mtok?: string | null;
      }) | null;
      readonly provider_prices?: {
        readonly text_input_per_mtok: string;
        readonly image_input_per_mtok: string;
        readonly image_output_per_mtok: string;
        readonly text_output_per_mtok?: string | null;
      } | null;
      readonly params?: {
        readonly [key: string]: readonly string[];
      } | null;
      readonly fixed_params?: {
        readonly [key: string]: string | number | boolean;
      } | null;
      readonly output_types?: readonly ("image/svg+xml" | "image/heic" | "image/tiff")[] | null;
    } | {
      readonly kind: "video";
      readonly upstreams: readonly {
        readonly provider: string;
        readonly model: string;
        readonly order?: number | null;
        readonly weight?: number | null;
        readonly cost?: {
          readonly per_second: string;
        } | null;
      }[];
      readonly engine: "family-a" | "family-a-extend" | "family-b" | "family-b-edit" | "family-b-motion" | "family-c" | "family-d-5" | "family-d-10" | "family-e" | "family-e-extend" | "family-f" | "family-g" | "family-g-extend" | "storyboard";
      readonly id?: string | null;
      readonly enabled?: boolean | null;
      readonly display_name?: string | null;
      readonly description?: string | null;
      readonly owned_by?: string | null;
      readonly pricing?: {
        readonly per_second: string;
      } | null;
      readonly params?: {
        readonly [key: string]: readonly string[];
      } | null;
      readonly fixed_params?: {
        readonly [key: string]: string | number | boolean;
      } | null;
      readonly hold_duration_seconds?: number | null;
      readonly output_types?: readonly "video/x-matroska"[] | null;
    };
    readonly FileModelRow: {
      readonly id: string;
      readonly kind: "chat";
      readonly upstreams: readonly {
        readonly provider: string;
        readonly model: string;
        readonly order?: number | null;
        readonly weight?: number | null;
        readonly cost?: components["schemas"]["NewTariff"] | null;
      }[];
      readonly enabled?: boolean | null;
      readonly display_name?: string | null;
      readonly description?: string | null;
      readonly owned_by?: string | null;
      readonly pricing?: (("free" | "upstream_cost") | components["schemas"]["NewTariff"]) | null;
      readonly markup?: string | null;
      readonly ceiling_pricing?: components["schemas"]["NewTariff"] | null;
      readonly max_output_tokens?: number | null;
      readonly context_window?: number | null;
      readonly read_timeout_s?: number | null;
      readonly stream_idle_timeout_s?: number | null;
      readonly first_byte_timeout_s?: number | null;
      /** @enum {string|null} */
      readonly preset?: "coding-agent" | null;
      readonly inputs?: readonly ("text" | "image" | "file" | "audio")[] | null;
      /** @enum {string|null} */
      readonly unsupported_inputs?: "refuse" | "note" | null;
      /** @enum {string|null} */
      readonly messages_stream?: "synthetic" | "live" | null;
      /** @enum {string|null} */
      readonly stream_usage?: "ask" | "client" | null;
      readonly heartbeats?: boolean | null;
      readonly replays?: boolean | null;
      readonly refuse_fields?: {
        readonly [key: string]: readonly (string | number | boolean)[];
      } | null;
    } | {
      readonly id: string;
      readonly kind: "embedding";
      readonly upstreams: readonly {
        readonly provider: string;
        readonly model: string;
        readonly order?: number | null;
        readonly weight?: number | null;
        readonly cost?: components["schemas"]["NewTariff"] | null;
      }[];
      readonly enabled?: boolean | null;
      readonly display_name?: string | null;
      readonly description?: string | null;
      readonly owned_by?: string | null;
      readonly pricing?: (("free" | "upstream_cost") | components["schemas"]["NewTariff"]) | null;
      readonly markup?: string | null;
      readonly ceiling_pricing?: components["schemas"]["NewTariff"] | null;
      readonly context_window?: number | null;
      readonly read_timeout_s?: number | null;
      readonly replays?: boolean | null;
      readonly refuse_fields?: {
        readonly [key: string]: readonly (string | number | boolean)[];
      } | null;
    } | {
      readonly id: string;
      readonly kind: "image";
      readonly upstreams: readonly {
        readonly provider: string;
        readonly model: string;
        readonly order?: number | null;
        readonly weight?: number | null;
        readonly cost?: ({
          readonly per_image: string;
        } | {
          readonly text_input_per_mtok: string;
          readonly image_input_per_mtok: string;
          readonly image_output_per_mtok: string;
          readonly max_per_image: string;
          readonly text_output_per_mtok?: string | null;
        }) | null;
      }[];
      readonly enabled?: boolean | null;
      readonly display_name?: string | null;
      readonly description?: string | null;
      readonly owned_by?: string | null;
      readonly pricing?: ({
        readonly per_image: string;
      } | {
        readonly text_input_per_mtok: string;
        readonly image_input_per_mtok: string;
        readonly image_output_per_mtok: string;
        readonly max_per_image: string;
        readonly text_output_per_mtok?: string | null;
      }) | null;
      readonly provider_prices?: {
        readonly text_input_per_mtok: string;
        readonly image_input_per_mtok: string;
        readonly image_output_per_mtok: string;
        readonly text_output_per_mtok?: string | null;
      } | null;
      readonly params?: {
        readonly [key: string]: readonly string[];
      } | null;
      readonly fixed_params?: {
        readonly [key: string]: string | number | boolean;
      } | null;
      readonly output_types?: readonly ("image/svg+xml" | "image/heic" | "image/tiff")[] | null;
    } | {
      readonly id: string;
      readonly kind: "video";
      readonly upstreams: readonly {
        readonly provider: string;
        readonly model: string;
        readonly order?: number | null;
        readonly weight?: number | null;
        readonly cost?: {
          readonly per_second: string;
        } | null;
      }[];
      readonly engine: "family-a" | "family-a-extend" | "family-b" | "family-b-edit" | "family-b-motion" | "family-c" | "family-d-5" | "family-d-10" | "family-e" | "family-e-extend" | "family-f" | "family-g" | "family-g-extend" | "storyboard";
      readonly enabled?: boolean | null;
      readonly display_name?: string | null;
      readonly description?: string | null;
      readonly owned_by?: string | null;
      readonly pricing?: {
        readonly per_second: string;
      } | null;
      readonly params?: {
        readonly [key: string]: readonly string[];
      } | null;
      readonly fixed_params?: {
        readonly [key: string]: string | number | boolean;
      } | null;
      readonly hold_duration_seconds?: number | null;
      readonly output_types?: readonly "video/x-matroska"[] | null;
    };
    readonly Account: {
      readonly id: string;
      readonly name: string;
      readonly available_usd: string | null;
      readonly held_usd: string | null;
      readonly sandbox_only: boolean;
      readonly suspended_at: string | null;
      readonly closed_at: string | null;
      readonly replays: boolean;
      readonly price_list: string | null;
      readonly alert_below_usd: string | null;
      readonly job_events: boolean;
      readonly created_at: string | null;
    };
    readonly LimitedAccount: {
      readonly id: string;
      readonly name: string;
      readonly available_usd: string | null;
      readonly held_usd: string | null;
      readonly sandbox_only: boolean;
      readonly suspended_at: string | null;
      readonly closed_at: string | null;
      readonly replays: boolean;
      readonly price_list: string | null;
      readonly alert_below_usd: string | null;
      readonly job_events: boolean;
      readonly created_at: string | null;
      readonly contacts: readonly string[];
      readonly limits: {
        readonly requests_per_minute: number | null;
        readonly tokens_per_minute: number | null;
        readonly concurrent_requests: number | null;
      };
      readonly budgets: {
        readonly day: string | null;
        readonly week: string | null;
        readonly month: string | null;
        readonly total: string | null;
      };
      readonly budget_usage: {
        readonly day?: {
          readonly spent_usd: string;
          readonly reserved_usd: string;
          readonly remaining_usd: string;
          readonly resets_at: string | null;
        };
        readonly week?: {
          readonly spent_usd: string;
          readonly reserved_usd: string;
          readonly remaining_usd: string;
          readonly resets_at: string | null;
        };
        readonly month?: {
          readonly spent_usd: string;
          readonly reserved_usd: string;
          readonly remaining_usd: string;
          readonly resets_at: string | null;
        };
        readonly total?: {
          readonly spent_usd: string;
          readonly reserved_usd: string;
          readonly remaining_usd: string;
          readonly resets_at: string | null;
        };
      };
      readonly per_model: {
        readonly [key: string]: {
          readonly limits: {
            readonly requests_per_minute: number | null;
            readonly tokens_per_minute: number | null;
            readonly concurrent_requests: number | null;
          };
          readonly budgets: {
            readonly day: string | null;
            readonly week: string | null;
            readonly month: string | null;
            readonly total: string | null;
          };
          readonly budget_usage: {
            readonly day?: {
              readonly spent_usd: string;
              readonly reserved_usd: string;
              readonly remaining_usd: string;
              readonly resets_at: string | null;
            };
            readonly week?: {
              readonly spent_usd: string;
              readonly reserved_usd: string;
              readonly remaining_usd: string;
              readonly resets_at: string | null;
            };
            readonly month?: {
              readonly spent_usd: string;
              readonly reserved_usd: string;
              readonly remaining_usd: string;
              readonly resets_at: string | null;
            };
            readonly total?: {
              readonly spent_usd: string;
              readonly reserved_usd: string;
              readonly remaining_usd: string;
              readonly resets_at: string | null;
            };
          };
        };
      };
      readonly key_defaults: {
        readonly limits: {
          readonly requests_per_minute: number | null;
          readonly tokens_per_minute: number | null;
          readonly concurrent_requests: number | null;
        };
        readonly budgets: {
          readonly day: string | null;
          readonly week: string | null;
          readonly month: string | null;
          readonly total: string | null;
        };
        readonly models: readonly string[] | null;
        readonly routes: readonly ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
        readonly expires_in: number | null;
        readonly allowed_addresses: readonly string[] | null;
      };
      readonly warnings?: readonly string[];
    };
    readonly Credit: {
      readonly id: string;
      readonly amount_usd: string;
      readonly available_usd: string;
      readonly is_repeat: boolean;
    };
    readonly AdminMovement: {
      readonly id: string;
      readonly kind: "top_up" | "grant" | "charge" | "hold" | "capture" | "release" | "expire" | "compensation" | "debit" | "refund" | "loss";
      readonly amount_usd: string;
      readonly ref: string | null;
      readonly note: string | null;
      readonly at: string;
      readonly tags?: {
        readonly [key: string]: string;
      };
      readonly user?: string;
    };
    readonly NewAccount: {
      readonly name: string;
    };
    readonly NewGrant: {
      readonly amount_usd: string;
      readonly note?: string | null;
      /** @enum {string|null} */
      readonly source?: "grant" | "top_up" | null;
    };
    readonly NewDebit: {
      readonly amount_usd: string;
      readonly note?: string | null;
      readonly allow_negative?: boolean;
    };
    readonly NewRefund: {
      readonly amount_usd?: string | null;
      readonly note?: string | null;
    };
    readonly AccountChange: {
      readonly name?: string;
      readonly replays?: boolean;
      readonly price_list?: string | null;
      readonly alert_below_usd?: string | null;
      readonly contacts?: readonly string[] | null;
      readonly job_events?: boolean;
      readonly key_defaults?: {
        readonly limits?: {
          readonly requests_per_minute?: number | null;
          readonly tokens_per_minute?: number | null;
          readonly concurrent_requests?: number | null;
        } | null;
        readonly budgets?: {
          readonly day?: string | null;
          readonly week?: string | null;
          readonly month?: string | null;
          readonly total?: string | null;
        } | null;
        readonly models?: readonly string[] | null;
        readonly routes?: readonly ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
        readonly expires_in?: number | null;
        readonly allowed_addresses?: readonly string[] | null;
      } | null;
      readonly limits?: {
        readonly requests_per_minute?: number | null;
        readonly tokens_per_minute?: number | null;
        readonly concurrent_requests?: number | null;
      } | null;
      readonly budgets?: {
        readonly day?: string | null;
        readonly week?: string | null;
        readonly month?: string | null;
        readonly total?: string | null;
      } | null;
      readonly per_model?: {
        readonly [key: string]: {
          readonly limits?: {
            readonly requests_per_minute?: number | null;
            readonly tokens_per_minute?: number | null;
            readonly concurrent_requests?: number | null;
          } | null;
          readonly budgets?: {
            readonly day?: string | null;
            readonly week?: string | null;
            readonly month?: string | null;
            readonly total?: string | null;
          } | null;
        } | null;
      } | null;
    };
    readonly Suspension: {
      readonly id: string;
      readonly name: string;
      readonly suspended_at: string | null;
    };
    readonly LimitedKey: {
      readonly id: string;
      readonly name: string;
      readonly prefix: string;
      readonly project: string | null;
      readonly secrets: readonly components["schemas"]["KeySecret"][];
      readonly created_at: string;
      readonly revoked_at: string | null;
      readonly expires_at: string | null;
      readonly disabled_at: string | null;
      readonly models: readonly string[] | null;
      readonly routes: readonly ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
      readonly allowed_addresses: readonly string[] | null;
      readonly last_used_on: string | null;
      readonly limits: {
        readonly requests_per_minute: number | null;
        readonly tokens_per_minute: number | null;
        readonly concurrent_requests: number | null;
      };
      readonly budgets: {
        readonly day: string | null;
        readonly week: string | null;
        readonly month: string | null;
        readonly total: string | null;
      };
      readonly budget_usage: {
        readonly day?: {
          readonly spent_usd: string;
          readonly reserved_usd: string;
          readonly remaining_usd: string;
          readonly resets_at: string | null;
        };
        readonly week?: {
          readonly spent_usd: string;
          readonly reserved_usd: string;
          readonly remaining_usd: string;
          readonly resets_at: string | null;
        };
        readonly month?: {
          readonly spent_usd: string;
          readonly reserved_usd: string;
          readonly remaining_usd: string;
          readonly resets_at: string | null;
        };
        readonly total?: {
          readonly spent_usd: string;
          readonly reserved_usd: string;
          readonly remaining_usd: string;
          readonly resets_at: string | null;
        };
      };
      readonly per_model: {
        readonly [key: string]: {
          readonly limits: {
            readonly requests_per_minute: number | null;
            readonly tokens_per_minute: number | null;
            readonly concurrent_requests: number | null;
          };
          readonly budgets: {
            readonly day: string | null;
            readonly week: string | null;
            readonly month: string | null;
            readonly total: string | null;
          };
          readonly budget_usage: {
            readonly day?: {
              readonly spent_usd: string;
              readonly reserved_usd: string;
              readonly remaining_usd: string;
              readonly resets_at: string | null;
            };
            readonly week?: {
              readonly spent_usd: string;
              readonly reserved_usd: string;
              readonly remaining_usd: string;
              readonly resets_at: string | null;
            };
            readonly month?: {
              readonly spent_usd: string;
              readonly reserved_usd: string;
              readonly remaining_usd: string;
              readonly resets_at: string | null;
            };
            readonly total?: {
              readonly spent_usd: string;
              readonly reserved_usd: string;
              readonly remaining_usd: string;
              readonly resets_at: string | null;
            };
          };
        };
      };
      readonly warnings?: readonly string[];
    };
    readonly ApiKey: {
      readonly id: string;
      readonly name: string;
      readonly prefix: string;
      readonly project: string | null;
      readonly secrets: readonly components["schemas"]["KeySecret"][];
      readonly created_at: string;
      readonly revoked_at: string | null;
      readonly expires_at: string | null;
      readonly disabled_at: string | null;
      readonly models: readonly string[] | null;
      readonly routes: readonly ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
      readonly allowed_addresses: readonly string[] | null;
      readonly last_used_on: string | null;
    };
    readonly FoundKey: {
      readonly id: string;
      readonly name: string;
      readonly prefix: string;
      readonly project: string | null;
      readonly secrets: readonly components["schemas"]["KeySecret"][];
      readonly created_at: string;
      readonly revoked_at: string | null;
      readonly expires_at: string | null;
      readonly disabled_at: string | null;
      readonly models: readonly string[] | null;
      readonly routes: readonly ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
      readonly allowed_addresses: readonly string[] | null;
      readonly last_used_on: string | null;
      readonly found_secret: string | null;
      readonly account: string | null;
      readonly account_name: string | null;
    };
    readonly KeyName: {
      readonly key: string;
    };
    readonly NewKey: {
      readonly name?: string | null;
      readonly project?: string | null;
      readonly models?: readonly string[] | null;
      readonly routes?: readonly ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
      readonly expires_at?: string | null;
      readonly allowed_addresses?: readonly string[] | null;
      readonly limits?: {
        readonly requests_per_minute?: number | null;
        readonly tokens_per_minute?: number | null;
        readonly concurrent_requests?: number | null;
      } | null;
      readonly budgets?: {
        readonly day?: string | null;
        readonly week?: string | null;
        readonly month?: string | null;
        readonly total?: string | null;
      } | null;
      readonly per_model?: {
        readonly [key: string]: {
          readonly limits?: {
            readonly requests_per_minute?: number | null;
            readonly tokens_per_minute?: number | null;
            readonly concurrent_requests?: number | null;
          } | null;
          readonly budgets?: {
            readonly day?: string | null;
            readonly week?: string | null;
            readonly month?: string | null;
            readonly total?: string | null;
          } | null;
        } | null;
      } | null;
    };
    readonly KeyDefaults: {
      readonly limits: {
        readonly requests_per_minute: number | null;
        readonly tokens_per_minute: number | null;
        readonly concurrent_requests: number | null;
      };
      readonly budgets: {
        readonly day: string | null;
        readonly week: string | null;
        readonly month: string | null;
        readonly total: string | null;
      };
      readonly models: readonly string[] | null;
      readonly routes: readonly ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
      readonly expires_in: number | null;
      readonly allowed_addresses: readonly string[] | null;
      readonly warnings?: readonly string[];
    };
    readonly KeyDefaultsChange: {
      readonly limits?: {
        readonly requests_per_minute?: number | null;
        readonly tokens_per_minute?: number | null;
        readonly concurrent_requests?: number | null;
      } | null;
      readonly budgets?: {
        readonly day?: string | null;
        readonly week?: string | null;
        readonly month?: string | null;
        readonly total?: string | null;
      } | null;
      readonly models?: readonly string[] | null;
      readonly routes?: readonly ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
      readonly expires_in?: number | null;
      readonly allowed_addresses?: readonly string[] | null;
    };
    readonly KeyChange: {
      readonly name?: string;
      readonly disabled?: boolean;
      readonly models?: readonly string[] | null;
      readonly routes?: readonly ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
      readonly expires_at?: string | null;
      readonly allowed_addresses?: readonly string[] | null;
      readonly limits?: {
        readonly requests_per_minute?: number | null;
        readonly tokens_per_minute?: number | null;
        readonly concurrent_requests?: number | null;
      } | null;
      readonly budgets?: {
        readonly day?: string | null;
        readonly week?: string | null;
        readonly month?: string | null;
        readonly total?: string | null;
      } | null;
      readonly per_model?: {
        readonly [key: string]: {
          readonly limits?: {
            readonly requests_per_minute?: number | null;
            readonly tokens_per_minute?: number | null;
            readonly concurrent_requests?: number | null;
          } | null;
          readonly budgets?: {
            readonly day?: string | null;
            readonly week?: string | null;
            readonly month?: string | null;
            readonly total?: string | null;
          } | null;
        } | null;
      } | null;
    };
    readonly KeySecret: {
      readonly prefix: string;
      readonly created_at: string | null;
      readonly ends_at: string | null;
      readonly has_ended: boolean;
    };
    readonly RotatedKey: {
      readonly id: string;
      readonly name: string;
      readonly prefix: string;
      readonly project: string | null;
      readonly secrets: readonly components["schemas"]["KeySecret"][];
      readonly created_at: string;
      readonly revoked_at: string | null;
      readonly expires_at: string | null;
      readonly disabled_at: string | null;
      readonly models: readonly string[] | null;
      readonly routes: readonly ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
      readonly allowed_addresses: readonly string[] | null;
      readonly last_used_on: string | null;
      readonly key: string;
    };
    readonly Rotation: {
      readonly old_ends_in?: number | null;
      readonly old_ends_at?: string | null;
    };
    readonly Catalog: {
      readonly revision: number;
      readonly updated_at: string;
      readonly providers: readonly components["schemas"]["ProviderRow"][];
      readonly models: readonly components["schemas"]["ModelRow"][];
      readonly price_lists?: readonly components["schemas"]["PriceListRow"][];
    };
    readonly ReplacedCatalog: {
      readonly revision: number;
      readonly updated_at: string;
      readonly providers: readonly components["schemas"]["ProviderRow"][];
      readonly models: readonly components["schemas"]["ModelRow"][];
      readonly missing_variables: readonly string[];
      readonly warnings: readonly string[];
      readonly price_lists?: readonly components["schemas"]["PriceListRow"][];
    };
    readonly CatalogFile: {
      readonly providers: readonly components["schemas"]["ProviderRow"][];
      readonly models: readonly components["schemas"]["ModelRow"][];
      readonly price_lists?: readonly components["schemas"]["PriceListRow"][];
    };
    readonly NewCatalogFile: {
      readonly providers: readonly components["schemas"]["FileProviderRow"][];
      readonly models: readonly components["schemas"]["FileModelRow"][];
      readonly price_lists?: readonly components["schemas"]["PriceListRow"][];
    };
    readonly NewCatalog: {
      readonly providers: readonly components["schemas"]["FileProviderRow"][];
      readonly models: readonly components["schemas"]["FileModelRow"][];
      readonly price_lists?: readonly components["schemas"]["PriceListRow"][];
      readonly revision?: unknown;
      readonly updated_at?: unknown;
      readonly missing_variables?: unknown;
      readonly warnings?: unknown;
    };
    readonly CatalogChanges: {
      readonly dry_run: true;
      readonly revision: number;
      readonly changes: readonly {
        readonly kind: "provider" | "model" | "price_list";
        readonly id: string;
        readonly change: "added" | "changed" | "removed";
        readonly fields: readonly {
          readonly field: string;
          readonly before: unknown;
          readonly after: unknown;
        }[];
        readonly loses_key: boolean;
      }[];
      readonly is_reordered: boolean;
      readonly removals: readonly string[];
      readonly missing_variables: readonly string[];
      readonly warnings: readonly string[];
    };
    readonly Rollback: {
      readonly revision: number;
    };
    readonly ModelSwitch: {
      readonly enabled: boolean;
    };
    readonly Deleted: {
      readonly id: string;
      readonly deleted: true;
    };
    readonly Revision: {
      readonly revision: number;
      readonly actor: string;
      readonly action: string;
      readonly subject: string;
      readonly at: string;
      readonly changes: readonly {
        readonly kind: "provider" | "model" | "price_list";
        readonly id: string;
        readonly change: "added" | "changed" | "removed";
      }[];
      readonly change_count: number;
    };
    readonly PriceListRow: {
      readonly id: string;
      readonly factor?: string | null;
      readonly prices?: {
        readonly [key: string]: "free" | Record<string, never>;
      } | null;
    };
    readonly NewPriceListRow: {
      readonly id?: string;
      readonly factor?: string | null;
      readonly prices?: {
        readonly [key: string]: "free" | Record<string, never>;
      } | null;
    };
    readonly PriceChange: {
      readonly model: string;
      readonly kind: "chat" | "embedding" | "image" | "video";
      readonly before: {
        readonly pricing: unknown;
        readonly markup?: string;
        readonly ceiling_pricing?: unknown;
      };
      readonly after: {
        readonly pricing: unknown;
        readonly markup?: string;
        readonly ceiling_pricing?: unknown;
      };
      readonly example: {
        readonly of: string;
        readonly before_usd: string | null;
        readonly after_usd: string | null;
      };
    };
    readonly PriceListPreview: {
      readonly dry_run: true;
      readonly revision: number;
      readonly is_new: boolean;
      readonly changes: readonly components["schemas"]["PriceChange"][];
    };
    readonly AdminCharge: {
      readonly id: string;
      readonly object: "usage";
      readonly route: string;
      readonly model: string;
      readonly usage: {
        readonly input_tokens: number;
        readonly output_tokens: number;
        readonly cached_input_tokens: number;
        readonly cache_write_tokens: number;
        readonly cache_write_1h_tokens: number;
        readonly audio_input_tokens: number;
        readonly reasoning_tokens: number;
        readonly audio_output_tokens: number;
        readonly server_tool_uses: number;
        readonly search_calls: number;
        readonly file_searches: number;
        readonly service_tier: string | null;
        readonly assumed_cached_tokens?: number;
      } | {
        readonly images: number;
        readonly text_input_tokens?: number;
        readonly image_input_tokens?: number;
        readonly text_output_tokens?: number;
        readonly image_output_tokens?: number;
      } | {
        readonly seconds: number;
      };
      readonly source: "reported" | "estimated";
      readonly is_clamped: boolean;
      readonly cost_usd: string;
      readonly refunded_usd: string;
      readonly created_at: string;
      readonly provider_cost_usd: string | null;
      readonly provider: string;
      readonly account: string | null;
      readonly account_name: string | null;
      readonly key: string | null;
      readonly project: string | null;
      readonly tags?: {
        readonly [key: string]: string;
      };
      readonly user?: string;
    };
    readonly AdminRefund: {
      readonly id: string;
      readonly object: "refund";
      readonly charge: string;
      readonly route: string;
      readonly model: string;
      readonly cost_usd: string;
      readonly note: string | null;
      readonly created_at: string;
      readonly provider: string;
      readonly account: string | null;
      readonly account_name: string | null;
      readonly key: string | null;
      readonly project: string | null;
      readonly tags?: {
        readonly [key: string]: string;
      };
      readonly user?: string;
    };
    readonly Loss: {
      readonly id: string;
      readonly kind: "text" | "image" | "video";
      readonly reason: string;
      readonly account: string | null;
      readonly account_name: string | null;
      readonly model: string;
      readonly provider: string;
      readonly loss_usd: string;
      readonly provider_cost_usd: string | null;
      readonly at: string;
    };
    readonly Job: {
      readonly id: string;
      readonly request_id: string | null;
      readonly kind: "image" | "video";
      readonly state: "queued" | "processing" | "unknown_submit" | "completed" | "failed";
      readonly account: string | null;
      readonly account_name: string | null;
      readonly key: string | null;
      readonly route: string;
      readonly model: string;
      readonly provider: string;
      readonly upstream_id: string | null;
      readonly held_usd: string;
      readonly cost_usd: string | null;
      readonly provider_cost_usd: string | null;
      readonly created_at: string;
      readonly changed_at: string;
      readonly tags?: {
        readonly [key: string]: string;
      };
      readonly user?: string;
    };
    readonly JobDetails: {
      readonly id: string;
      readonly request_id: string | null;
      readonly kind: "image" | "video";
      readonly state: "queued" | "processing" | "unknown_submit" | "completed" | "failed";
      readonly account: string | null;
      readonly account_name: string | null;
      readonly key: string | null;
      readonly route: string;
      readonly model: string;
      readonly provider: string;
      readonly upstream_id: string | null;
      readonly held_usd: string;
      readonly cost_usd: string | null;
      readonly provider_cost_usd: string | null;
      readonly created_at: string;
      readonly changed_at: string;
      readonly why: string;
      readonly next: string | null;
      readonly next_at: string | null;
      readonly upstream_model: string;
      readonly upstream_status: string | null;
      readonly problem: string | null;
      readonly failure: {
        readonly reason: string;
        readonly code: string | null;
        readonly message: string;
      } | null;
      readonly node: string;
      readonly submitted_at: string | null;
      readonly next_poll_at: string;
      readonly deadline_at: string;
      readonly watched_until: string | null;
      readonly archived_at: string | null;
      readonly loss_usd: string | null;
      readonly request: {
        readonly params: {
          readonly [key: string]: unknown;
        };
        readonly count: number;
        readonly duration: number | null;
        readonly images: number;
        readonly videos: number;
      };
      readonly duration: number | null;
      readonly outputs: readonly {
        readonly key: string;
        readonly bytes: number;
        readonly media_type: string;
        readonly sha256: string;
      }[];
      readonly history: readonly {
        readonly state: "queued" | "processing" | "unknown_submit" | "completed" | "failed";
        readonly detail: string | null;
        readonly at: string;
      }[];
      readonly tags?: {
        readonly [key: string]: string;
      };
      readonly user?: string;
    };
    readonly AuditRow: {
      readonly id: string;
      readonly actor: string;
      readonly action: string;
      readonly subject: string;
      readonly detail: string | null;
      readonly at: string;
    };
    readonly Reconciliation: {
      readonly has_run: boolean;
      readonly compensated: number;
      readonly compensated_usd: string;
      readonly closed: number;
      readonly expired: number;
      readonly jobs: {
        readonly lost: number;
        readonly polled: number;
        readonly ended: number;
        readonly recovered: number;
        readonly released: number;
        readonly late_completions: number;
        readonly archived: number;
        readonly removed_files: number;
        readonly failed: number;
      };
      readonly failed: number;
    };
    readonly Verification: {
      readonly ok: boolean;
      readonly entries: number;
      readonly files_elsewhere: number;
      readonly problems: readonly {
        readonly id: string;
        readonly concerns: "everything" | "account" | "nothing";
        readonly entry_id: string | null;
        readonly message: string;
        readonly accepted: boolean;
      }[];
    };
    readonly Acceptance: {
      readonly accept?: string | null;
      readonly reason?: string | null;
      readonly accept_loss?: string | null;
    };
    readonly Nodes: {
      readonly data: readonly {
        readonly name: string;
        readonly version: string;
        readonly too_old: boolean;
        readonly lane: number | null;
        readonly epoch: number | null;
        readonly last_seen_at: string;
        readonly text_holds: number | null;
      }[];
    };
    readonly Doctor: {
      readonly ok: boolean;
      readonly checks: readonly {
        readonly name: string;
        readonly ok: boolean;
        readonly detail: string;
        readonly is_warning?: true;
      }[];
      readonly settings: readonly {
        readonly name: string;
        readonly value: string | null;
        readonly default: string | null;
        readonly is_set: boolean;
      }[];
    };
    readonly NewBackup: {
      readonly file: string;
    };
    readonly Backup: {
      readonly file: string;
      readonly bytes: number;
      readonly commits: number;
      readonly job_files_folder: string;
      readonly job_files: number;
      readonly results_in: string | null;
    };
    readonly AdminToken: {
      readonly id: string;
      readonly name: string;
      readonly prefix: string;
      readonly scopes: readonly ("read" | "metrics" | "grants" | "all")[];
      readonly grants_per_day_usd: string | null;
      readonly granted_today_usd: string | null;
      readonly created_by: string;
      readonly created_at: string;
      readonly expires_at: string | null;
      readonly last_used_on: string | null;
      readonly revoked_at: string | null;
      readonly state: "active" | "expired" | "revoked";
    };
    readonly NewAdminToken: {
      readonly name: string;
      readonly scopes: readonly ("read" | "metrics" | "grants" | "all")[];
      readonly grants_per_day_usd?: string | null;
      readonly expires_at?: string | null;
    };
    readonly Project: {
      readonly id: string;
      readonly name: string;
      readonly account: string | null;
      readonly created_at: string;
      readonly closed_at: string | null;
    };
    readonly LimitedProject: {
      readonly id: string;
      readonly name: string;
      readonly account: string | null;
      readonly created_at: string;
      readonly closed_at: string | null;
      readonly limits: {
        readonly requests_per_minute: number | null;
        readonly tokens_per_minute: number | null;
        readonly concurrent_requests: number | null;
      };
      readonly budgets: {
        readonly day: string | null;
        readonly week: string | null;
        readonly month: string | null;
        readonly total: string | null;
      };
      readonly budget_usage: {
        readonly day?: {
          readonly spent_usd: string;
          readonly reserved_usd: string;
          readonly remaining_usd: string;
          readonly resets_at: string | null;
        };
        readonly week?: {
          readonly spent_usd: string;
          readonly reserved_usd: string;
          readonly remaining_usd: string;
          readonly resets_at: string | null;
        };
        readonly month?: {
          readonly spent_usd: string;
          readonly reserved_usd: string;
          readonly remaining_usd: string;
          readonly resets_at: string | null;
        };
        readonly total?: {
          readonly spent_usd: string;
          readonly reserved_usd: string;
          readonly remaining_usd: string;
          readonly resets_at: string | null;
        };
      };
    };
    readonly NewProject: {
      readonly name: string;
      readonly limits?: {
        readonly requests_per_minute?: number | null;
        readonly tokens_per_minute?: number | null;
        readonly concurrent_requests?: number | null;
      } | null;
      readonly budgets?: {
        readonly day?: string | null;
        readonly week?: string | null;
        readonly month?: string | null;
        readonly total?: string | null;
      } | null;
    };
    readonly ProjectUsage: {
      readonly charges: number;
      readonly input_tokens: number;
      readonly output_tokens: number;
      readonly images: number;
      readonly seconds: number;
      readonly cost_usd: string;
      readonly compensated_usd: string;
      readonly provider_cost_usd: string;
      readonly margin_usd: string;
      readonly charges_without_cost: number;
      readonly day?: string;
      readonly model?: string;
      readonly key?: string;
    };
    readonly ProjectChange: {
      readonly name?: string;
      readonly limits?: {
        readonly requests_per_minute?: number | null;
        readonly tokens_per_minute?: number | null;
        readonly concurrent_requests?: number | null;
      } | null;
      readonly budgets?: {
        readonly day?: string | null;
        readonly week?: string | null;
        readonly month?: string | null;
        readonly total?: string | null;
      } | null;
    };
    readonly Webhook: {
      readonly id: string;
      readonly account: string | null;
      readonly url: string;
      readonly events: readonly ("balance.low" | "balance.granted" | "balance.topped_up" | "budget.nearly_spent" | "budget.reached" | "job.finished" | "key.expiring" | "provider.failing" | "provider.recovered" | "books.problem" | "webhook.switched_off" | "webhook.test")[];
      readonly note: string;
      readonly created_at: string;
      readonly state: "on" | "off" | "switched_off";
      readonly off_at: string | null;
      readonly failing_since: string | null;
      readonly old_secret_ends_at: string | null;
      readonly dropped: number;
    };
    readonly WebhookWithSecret: {
      readonly id: string;
      readonly account: string | null;
      readonly url: string;
      readonly events: readonly ("balance.low" | "balance.granted" | "balance.topped_up" | "budget.nearly_spent" | "budget.reached" | "job.finished" | "key.expiring" | "provider.failing" | "provider.recovered" | "books.problem" | "webhook.switched_off" | "webhook.test")[];
      readonly note: string;
      readonly created_at: string;
      readonly state: "on" | "off" | "switched_off";
      readonly off_at: string | null;
      readonly failing_since: string | null;
      readonly old_secret_ends_at: string | null;
      readonly dropped: number;
      readonly secret: string;
    };
    readonly WebhookDelivery: {
      readonly id: string;
      readonly event: string;
      readonly type: "balance.low" | "balance.granted" | "balance.topped_up" | "budget.nearly_spent" | "budget.reached" | "job.finished" | "key.expiring" | "provider.failing" | "provider.recovered" | "books.problem" | "webhook.switched_off" | "webhook.test";
      readonly occurred_at: string;
      readonly state: "waiting" | "delivered" | "failed";
      readonly attempts: number;
      readonly next_attempt_at: string | null;
      readonly attempted_at: string | null;
      readonly status: number | null;
      readonly duration_ms: number | null;
      readonly problem: string | null;
    };
    readonly NewWebhook: {
      readonly url: string;
      readonly events?: readonly ("balance.low" | "balance.granted" | "balance.topped_up" | "budget.nearly_spent" | "budget.reached" | "job.finished" | "key.expiring" | "provider.failing" | "provider.recovered" | "books.problem" | "webhook.switched_off" | "webhook.test")[] | null;
      readonly account?: string | null;
      readonly note?: string | null;
    };
    readonly WebhookChange: {
      readonly url?: string | null;
      readonly events?: readonly ("balance.low" | "balance.granted" | "balance.topped_up" | "budget.nearly_spent" | "budget.reached" | "job.finished" | "key.expiring" | "provider.failing" | "provider.recovered" | "books.problem" | "webhook.switched_off" | "webhook.test")[] | null;
      readonly note?: string | null;
      readonly on?: boolean;
    };
    readonly WebhookRotation: {
      readonly old_ends_in?: number;
    };
    readonly Margin: {
      readonly charges: number;
      readonly revenue_usd: string;
      readonly provider_cost_usd: string;
      readonly losses_usd: string;
      readonly margin_usd: string;
      readonly charges_without_cost: number;
      readonly losses_without_cost: number;
      readonly model?: string;
      readonly provider?: string;
      readonly account?: string | null;
      readonly account_name?: string | null;
      readonly key?: string | null;
      readonly key_name?: string | null;
      readonly project?: string | null;
      readonly project_name?: string | null;
      readonly day?: string;
    };
    readonly AdminUsageTotals: {
      readonly from: string;
      readonly to: string;
      readonly charges: number;
      readonly input_tokens: number;
      readonly output_tokens: number;
      readonly images: number;
      readonly seconds: number;
      readonly cost_usd: string;
      readonly refunded_usd: string;
      readonly compensated_usd: string;
      readonly provider_cost_usd: string;
      readonly margin_usd: string;
      readonly charges_without_cost: number;
    };
    readonly AdminUsageGroup: {
      readonly object: "usage_group";
      readonly value: string | null;
      readonly charges: number;
      readonly input_tokens: number;
      readonly output_tokens: number;
      readonly images: number;
      readonly seconds: number;
      readonly cost_usd: string;
      readonly refunded_usd: string;
      readonly compensated_usd: string;
      readonly provider_cost_usd: string;
      readonly margin_usd: string;
      readonly charges_without_cost: number;
    };
    readonly RequestSums: {
      readonly requests: number;
      readonly errors: number;
      readonly duration_p50_ms: number | null;
      readonly duration_p99_ms: number | null;
      readonly first_byte_p50_ms: number | null;
      readonly first_byte_p99_ms: number | null;
      readonly tokens: {
        readonly input?: number;
        readonly cached_input?: number;
        readonly cache_write?: number;
        readonly cache_write_1h?: number;
        readonly audio_input?: number;
        readonly output?: number;
        readonly reasoning?: number;
        readonly audio_output?: number;
      };
    };
    readonly RequestGroup: {
      readonly requests: number;
      readonly errors: number;
      readonly duration_p50_ms: number | null;
      readonly duration_p99_ms: number | null;
      readonly first_byte_p50_ms: number | null;
      readonly first_byte_p99_ms: number | null;
      readonly tokens: {
        readonly input?: number;
        readonly cached_input?: number;
        readonly cache_write?: number;
        readonly cache_write_1h?: number;
        readonly audio_input?: number;
        readonly output?: number;
        readonly reasoning?: number;
        readonly audio_output?: number;
      };
      readonly day?: string;
      readonly hour?: string;
      readonly status?: number;
      readonly model?: string;
      readonly provider?: string;
      readonly account?: string;
      readonly account_name?: string | null;
    };
    readonly MailState: {
      readonly server: string | null;
      readonly operators: readonly string[];
      readonly waiting: number;
      readonly left_out: number;
    };
    readonly MailMessage: {
      readonly id: string;
      readonly to: string;
      readonly account: string | null;
      readonly event: string | null;
      /** @enum {string|null} */
      readonly type: "balance.low" | "balance.granted" | "balance.topped_up" | "budget.nearly_spent" | "budget.reached" | "job.finished" | "key.expiring" | "provider.failing" | "provider.recovered" | "books.problem" | "webhook.switched_off" | "webhook.test" | null;
      readonly queued_at: string;
      readonly state: "waiting" | "sent" | "failed";
      readonly attempts: number;
      readonly next_attempt_at: string | null;
      readonly attempted_at: string | null;
      readonly problem: string | null;
    };
    readonly MailTest: {
      readonly to?: string | null;
    };
    readonly SentTestMail: {
      readonly to: string;
      readonly sent: boolean;
      readonly problem: string | null;
    };
    readonly EventAccount: {
      readonly id: string;
      readonly name: string;
    };
  };
  responses: {
    readonly "AdminError400-1": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "invalid_request_error";
            readonly code: "malformed_request" | "invalid_field";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "malformed_request" | "invalid_field";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError401-2": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "authentication_error";
            readonly code: "invalid_api_key" | "admin_token_unknown" | "admin_token_expired" | "admin_token_revoked";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "invalid_api_key" | "admin_token_unknown" | "admin_token_expired" | "admin_token_revoked";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError403-3": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "permission_error";
            readonly code: "missing_scope";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "missing_scope";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError408-4": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "timeout_error";
            readonly code: "headers_timeout";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "headers_timeout";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError431-5": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "request_too_large";
            readonly code: "headers_too_large";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "headers_too_large";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError500-6": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "server_error";
            readonly code: "server_error";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "server_error";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError503-7": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "server_error";
            readonly code: "unavailable";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "unavailable";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError400-8": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "invalid_request_error";
            readonly code: "malformed_request" | "invalid_json" | "invalid_field";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "malformed_request" | "invalid_json" | "invalid_field";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError408-9": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "timeout_error";
            readonly code: "headers_timeout" | "body_timeout";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "headers_timeout" | "body_timeout";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError409-10": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "conflict_error";
            readonly code: "already_exists";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "already_exists";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError413-11": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "request_too_large";
            readonly code: "request_too_large";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "request_too_large";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError415-12": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "invalid_request_error";
            readonly code: "unsupported_encoding";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "unsupported_encoding";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError503-13": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "server_error";
            readonly code: "unavailable" | "overloaded";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "unavailable" | "overloaded";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError400-14": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "invalid_request_error";
            readonly code: "malformed_request";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "malformed_request";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError404-15": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "not_found_error";
            readonly code: "not_found";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "not_found";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError409-16": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "conflict_error";
            readonly code: "already_exists" | "already_closed";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "already_exists" | "already_closed";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError403-17": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "permission_error";
            readonly code: "missing_scope" | "grants_per_day_exceeded";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "missing_scope" | "grants_per_day_exceeded";
            };
          };
          readonly type?: "error";
          readonly grants_per_day_usd?: string;
          readonly granted_today_usd?: string;
          readonly remaining_usd?: string;
          readonly resets_at?: string;
        };
      };
    };
    readonly "AdminError409-18": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "conflict_error";
            readonly code: "idempotency_key_reuse" | "already_closed";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "idempotency_key_reuse" | "already_closed";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError402-19": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "insufficient_balance";
            readonly code: "insufficient_balance";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "insufficient_balance";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError409-20": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "conflict_error";
            readonly code: "idempotency_key_reuse";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "idempotency_key_reuse";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError409-21": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "conflict_error";
            readonly code: "idempotency_key_reuse" | "already_exists" | "already_closed";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "idempotency_key_reuse" | "already_exists" | "already_closed";
            };
          };
          readonly type?: "error";
          readonly refundable_usd?: string;
        };
      };
    };
    readonly "AdminError409-22": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "conflict_error";
            readonly code: "account_not_empty";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "account_not_empty";
            };
          };
          readonly type?: "error";
          readonly available_usd?: string;
          readonly held_usd?: string;
          readonly open_requests?: number;
          readonly open_jobs?: number;
        };
      };
    };
    readonly "AdminError409-23": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "conflict_error";
            readonly code: "too_many_webhooks";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "too_many_webhooks";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError409-24": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "conflict_error";
            readonly code: "webhook_off";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "webhook_off";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError409-25": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "conflict_error";
            readonly code: "already_closed";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "already_closed";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError409-26": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "conflict_error";
            readonly code: "mail_off";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "mail_off";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError409-27": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "conflict_error";
            readonly code: "rotation_running" | "key_revoked" | "already_closed";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "rotation_running" | "key_revoked" | "already_closed";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError409-28": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "conflict_error";
            readonly code: "last_secret" | "key_revoked";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "last_secret" | "key_revoked";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError409-29": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "conflict_error";
            readonly code: "removals_not_allowed";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "removals_not_allowed";
            };
          };
          readonly type?: "error";
        };
      };
    };
    readonly "AdminError400-30": {
      content: {
        readonly "application/json": {
          readonly error: {
            readonly message: string;
            readonly type: "invalid_request_error";
            readonly code: "malformed_request" | "invalid_json" | "invalid_field" | "not_supported";
            readonly param: string | null;
            readonly details?: {
              readonly error_code: "malformed_request" | "invalid_json" | "invalid_field" | "not_supported";
            };
          };
          readonly type?: "error";
        };
      };
    };
  };
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  readonly listAccounts: {
    readonly parameters: {
      readonly query?: {
        readonly limit?: number;
        readonly cursor?: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["Account"][];
            readonly has_more: boolean;
            readonly next: string | null;
          };
        };
      };
    };
  };
  readonly createAccount: {
    readonly parameters: {
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["NewAccount"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly id: string;
            readonly name: string;
          };
        };
      };
    };
  };
  readonly readAccount: {
    readonly parameters: {
      readonly path: {
        readonly account: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["LimitedAccount"];
        };
      };
    };
  };
  readonly changeAccount: {
    readonly parameters: {
      readonly path: {
        readonly account: string;
      };
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["AccountChange"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["LimitedAccount"];
        };
      };
    };
  };
  readonly grantCredit: {
    readonly parameters: {
      readonly header?: {
        readonly "idempotency-key"?: string;
      };
      readonly path: {
        readonly account: string;
      };
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["NewGrant"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["Credit"];
        };
      };
    };
  };
  readonly debitAccount: {
    readonly parameters: {
      readonly header?: {
        readonly "idempotency-key"?: string;
      };
      readonly path: {
        readonly account: string;
      };
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["NewDebit"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["Credit"];
        };
      };
    };
  };
  readonly refundCharge: {
    readonly parameters: {
      readonly header?: {
        readonly "idempotency-key"?: string;
      };
      readonly path: {
        readonly charge: string;
      };
    };
    readonly requestBody?: {
      readonly content: {
        readonly "application/json": components["schemas"]["NewRefund"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["Credit"];
        };
      };
    };
  };
  readonly listAdminMovements: {
    readonly parameters: {
      readonly query?: {
        readonly limit?: number;
        readonly cursor?: string;
      };
      readonly path: {
        readonly account: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["AdminMovement"][];
            readonly has_more: boolean;
            readonly next: string | null;
          };
        };
      };
    };
  };
  readonly suspendAccount: {
    readonly parameters: {
      readonly path: {
        readonly account: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["Suspension"];
        };
      };
    };
  };
  readonly resumeAccount: {
    readonly parameters: {
      readonly path: {
        readonly account: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["Suspension"];
        };
      };
    };
  };
  readonly closeAccount: {
    readonly parameters: {
      readonly path: {
        readonly account: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["Account"];
        };
      };
    };
  };
  readonly listProjects: {
    readonly parameters: {
      readonly path: {
        readonly account: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["Project"][];
          };
        };
      };
    };
  };
  readonly createProject: {
    readonly parameters: {
      readonly path: {
        readonly account: string;
      };
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["NewProject"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["LimitedProject"];
        };
      };
    };
  };
  readonly readProject: {
    readonly parameters: {
      readonly path: {
        readonly project: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["LimitedProject"];
        };
      };
    };
  };
  readonly changeProject: {
    readonly parameters: {
      readonly path: {
        readonly project: string;
      };
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["ProjectChange"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["LimitedProject"];
        };
      };
    };
  };
  readonly readProjectUsage: {
    readonly parameters: {
      readonly query?: {
        readonly by?: "day" | "model" | "key";
        readonly from?: string;
        readonly to?: string;
      };
      readonly path: {
        readonly project: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly project: string;
            readonly from: string;
            readonly to: string;
            readonly data: readonly components["schemas"]["ProjectUsage"][];
            readonly totals: {
              readonly charges: number;
              readonly input_tokens: number;
              readonly output_tokens: number;
              readonly images: number;
              readonly seconds: number;
              readonly cost_usd: string;
              readonly compensated_usd: string;
              readonly provider_cost_usd: string;
              readonly margin_usd: string;
              readonly charges_without_cost: number;
            };
          };
        };
      };
    };
  };
  readonly closeProject: {
    readonly parameters: {
      readonly path: {
        readonly project: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["LimitedProject"];
        };
      };
    };
  };
  readonly listWebhooks: {
    readonly parameters: {
      readonly query?: {
        readonly account?: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["Webhook"][];
          };
        };
      };
    };
  };
  readonly createWebhook: {
    readonly parameters: {
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["NewWebhook"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["WebhookWithSecret"];
        };
      };
    };
  };
  readonly readWebhook: {
    readonly parameters: {
      readonly path: {
        readonly webhook: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["Webhook"];
        };
      };
    };
  };
  readonly removeWebhook: {
    readonly parameters: {
      readonly path: {
        readonly webhook: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly id: string;
            readonly removed: true;
          };
        };
      };
    };
  };
  readonly changeWebhook: {
    readonly parameters: {
      readonly path: {
        readonly webhook: string;
      };
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["WebhookChange"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["Webhook"];
        };
      };
    };
  };
  readonly rotateWebhook: {
    readonly parameters: {
      readonly path: {
        readonly webhook: string;
      };
    };
    readonly requestBody?: {
      readonly content: {
        readonly "application/json": components["schemas"]["WebhookRotation"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["WebhookWithSecret"];
        };
      };
    };
  };
  readonly testWebhook: {
    readonly parameters: {
      readonly path: {
        readonly webhook: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["WebhookDelivery"];
        };
      };
    };
  };
  readonly listWebhookDeliveries: {
    readonly parameters: {
      readonly query?: {
        readonly limit?: number;
        readonly cursor?: string;
        readonly state?: "waiting" | "delivered" | "failed";
      };
      readonly path: {
        readonly webhook: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["WebhookDelivery"][];
            readonly has_more: boolean;
            readonly next: string | null;
          };
        };
      };
    };
  };
  readonly redeliverWebhookMessage: {
    readonly parameters: {
      readonly path: {
        readonly webhook: string;
        readonly delivery: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["WebhookDelivery"];
        };
      };
    };
  };
  readonly listKeys: {
    readonly parameters: {
      readonly path: {
        readonly account: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["ApiKey"][];
          };
        };
      };
    };
  };
  readonly createKey: {
    readonly parameters: {
      readonly path: {
        readonly account: string;
      };
    };
    readonly requestBody?: {
      readonly content: {
        readonly "application/json": components["schemas"]["NewKey"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly id: string;
            readonly name: string;
            readonly prefix: string;
            readonly project: string | null;
            readonly secrets: readonly components["schemas"]["KeySecret"][];
            readonly created_at: string;
            readonly revoked_at: string | null;
            readonly expires_at: string | null;
            readonly disabled_at: string | null;
            readonly models: readonly string[] | null;
            readonly routes: readonly ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
            readonly allowed_addresses: readonly string[] | null;
            readonly last_used_on: string | null;
            readonly limits: {
              readonly requests_per_minute: number | null;
              readonly tokens_per_minute: number | null;
              readonly concurrent_requests: number | null;
            };
            readonly budgets: {
              readonly day: string | null;
              readonly week: string | null;
              readonly month: string | null;
              readonly total: string | null;
            };
            readonly budget_usage: {
              readonly day?: {
                readonly spent_usd: string;
                readonly reserved_usd: string;
                readonly remaining_usd: string;
                readonly resets_at: string | null;
              };
              readonly week?: {
                readonly spent_usd: string;
                readonly reserved_usd: string;
                readonly remaining_usd: string;
                readonly resets_at: string | null;
              };
              readonly month?: {
                readonly spent_usd: string;
                readonly reserved_usd: string;
                readonly remaining_usd: string;
                readonly resets_at: string | null;
              };
              readonly total?: {
                readonly spent_usd: string;
                readonly reserved_usd: string;
                readonly remaining_usd: string;
                readonly resets_at: string | null;
              };
            };
            readonly per_model: {
              readonly [key: string]: {
                readonly limits: {
                  readonly requests_per_minute: number | null;
                  readonly tokens_per_minute: number | null;
                  readonly concurrent_requests: number | null;
                };
                readonly budgets: {
                  readonly day: string | null;
                  readonly week: string | null;
                  readonly month: string | null;
                  readonly total: string | null;
                };
                readonly budget_usage: {
                  readonly day?: {
                    readonly spent_usd: string;
                    readonly reserved_usd: string;
                    readonly remaining_usd: string;
                    readonly resets_at: string | null;
                  };
                  readonly week?: {
                    readonly spent_usd: string;
                    readonly reserved_usd: string;
                    readonly remaining_usd: string;
                    readonly resets_at: string | null;
                  };
                  readonly month?: {
                    readonly spent_usd: string;
                    readonly reserved_usd: string;
                    readonly remaining_usd: string;
                    readonly resets_at: string | null;
                  };
                  readonly total?: {
                    readonly spent_usd: string;
                    readonly reserved_usd: string;
                    readonly remaining_usd: string;
                    readonly resets_at: string | null;
                  };
                };
              };
            };
            readonly key: string;
            readonly warnings?: readonly string[];
          };
        };
      };
    };
  };
  readonly revokeKeyOfAccount: {
    readonly parameters: {
      readonly path: {
        readonly account: string;
        readonly id: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["ApiKey"];
        };
      };
    };
  };
  readonly readKeyDefaults: {
    readonly parameters: {
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["KeyDefaults"];
        };
      };
    };
  };
  readonly changeKeyDefaults: {
    readonly parameters: {
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["KeyDefaultsChange"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["KeyDefaults"];
        };
      };
    };
  };
  readonly findKey: {
    readonly parameters: {
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["KeyName"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["FoundKey"];
        };
      };
    };
  };
  readonly readKeyLimits: {
    readonly parameters: {
      readonly path: {
        readonly id: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["LimitedKey"];
        };
      };
    };
  };
  readonly changeKey: {
    readonly parameters: {
      readonly path: {
        readonly id: string;
      };
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["KeyChange"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["LimitedKey"];
        };
      };
    };
  };
  readonly revokeKey: {
    readonly parameters: {
      readonly path: {
        readonly id: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["ApiKey"];
        };
      };
    };
  };
  readonly readMargins: {
    readonly parameters: {
      readonly query?: {
        readonly by?: "model" | "provider" | "account" | "key" | "project" | "day";
        readonly account?: string;
        readonly from?: string;
        readonly to?: string;
        readonly limit?: number;
        readonly cursor?: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["Margin"][];
            readonly has_more: boolean;
            readonly next: string | null;
            readonly from?: string;
            readonly to?: string;
            readonly totals?: {
              readonly charges: number;
              readonly revenue_usd: string;
              readonly provider_cost_usd: string;
              readonly losses_usd: string;
              readonly margin_usd: string;
              readonly charges_without_cost: number;
              readonly losses_without_cost: number;
            };
          };
        };
      };
    };
  };
  readonly readRequestsReport: {
    readonly parameters: {
      readonly query?: {
        readonly by?: "day" | "hour" | "status" | "model" | "provider" | "account";
        readonly from?: string;
        readonly to?: string;
        readonly limit?: number;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly from: string;
            readonly to: string;
            readonly is_on: boolean;
            readonly data: readonly components["schemas"]["RequestGroup"][];
            readonly has_more: boolean;
            readonly totals: components["schemas"]["RequestSums"];
          };
        };
      };
    };
  };
  readonly readMail: {
    readonly parameters: {
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["MailState"];
        };
      };
    };
  };
  readonly listMails: {
    readonly parameters: {
      readonly query?: {
        readonly limit?: number;
        readonly cursor?: string;
        readonly state?: "waiting" | "sent" | "failed";
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["MailMessage"][];
            readonly has_more: boolean;
            readonly next: string | null;
          };
        };
      };
    };
  };
  readonly sendTestMail: {
    readonly parameters: {
    };
    readonly requestBody?: {
      readonly content: {
        readonly "application/json": components["schemas"]["MailTest"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["SentTestMail"][];
          };
        };
      };
    };
  };
  readonly rotateKey: {
    readonly parameters: {
      readonly path: {
        readonly id: string;
      };
    };
    readonly requestBody?: {
      readonly content: {
        readonly "application/json": components["schemas"]["Rotation"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["RotatedKey"];
        };
      };
    };
  };
  readonly revokeKeySecret: {
    readonly parameters: {
      readonly path: {
        readonly id: string;
        readonly secret: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["ApiKey"];
        };
      };
    };
  };
  readonly listAdminTokens: {
    readonly parameters: {
      readonly query?: {
        readonly limit?: number;
        readonly cursor?: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["AdminToken"][];
            readonly has_more: boolean;
            readonly next: string | null;
          };
        };
      };
    };
  };
  readonly createAdminToken: {
    readonly parameters: {
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["NewAdminToken"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly id: string;
            readonly name: string;
            readonly prefix: string;
            readonly scopes: readonly ("read" | "metrics" | "grants" | "all")[];
            readonly grants_per_day_usd: string | null;
            readonly granted_today_usd: string | null;
            readonly created_by: string;
            readonly created_at: string;
            readonly expires_at: string | null;
            readonly last_used_on: string | null;
            readonly revoked_at: string | null;
            readonly state: "active" | "expired" | "revoked";
            readonly token: string;
          };
        };
      };
    };
  };
  readonly readAdminToken: {
    readonly parameters: {
      readonly path: {
        readonly token: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["AdminToken"];
        };
      };
    };
  };
  readonly revokeAdminToken: {
    readonly parameters: {
      readonly path: {
        readonly token: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["AdminToken"];
        };
      };
    };
  };
  readonly listProviders: {
    readonly parameters: {
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["ProviderRow"][];
          };
        };
      };
    };
  };
  readonly readRowOfProvider: {
    readonly parameters: {
      readonly path: {
        readonly provider: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["ProviderRow"];
        };
      };
    };
  };
  readonly putProvider: {
    readonly parameters: {
      readonly path: {
        readonly provider: string;
      };
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["NewProviderRow"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["ProviderRow"];
        };
      };
    };
  };
  readonly deleteProvider: {
    readonly parameters: {
      readonly path: {
        readonly provider: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["Deleted"];
        };
      };
    };
  };
  readonly listModelRows: {
    readonly parameters: {
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["ModelRow"][];
            readonly uncallable: readonly {
              readonly id: string;
              readonly reason: string;
            }[];
          };
        };
      };
    };
  };
  readonly readRowOfModel: {
    readonly parameters: {
      readonly path: {
        readonly model: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["ModelRow"];
        };
      };
    };
  };
  readonly putModel: {
    readonly parameters: {
      readonly path: {
        readonly model: string;
      };
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["NewModelRow"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["ModelRow"];
        };
      };
    };
  };
  readonly deleteModel: {
    readonly parameters: {
      readonly path: {
        readonly model: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["Deleted"];
        };
      };
    };
  };
  readonly switchModel: {
    readonly parameters: {
      readonly path: {
        readonly model: string;
      };
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["ModelSwitch"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["ModelRow"];
        };
      };
    };
  };
  readonly readCatalog: {
    readonly parameters: {
      readonly query?: {
        readonly format?: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["Catalog"];
          readonly "application/yaml": components["schemas"]["CatalogFile"];
        };
      };
    };
  };
  readonly replaceCatalog: {
    readonly parameters: {
      readonly query?: {
        readonly dry_run?: "true" | "false";
        readonly allow_removals?: "true" | "false";
      };
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["NewCatalog"];
        readonly "application/yaml": components["schemas"]["NewCatalogFile"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["ReplacedCatalog"] | components["schemas"]["CatalogChanges"];
        };
      };
    };
  };
  readonly listRevisions: {
    readonly parameters: {
      readonly query?: {
        readonly limit?: number;
        readonly cursor?: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["Revision"][];
            readonly has_more: boolean;
            readonly next: string | null;
          };
        };
      };
    };
  };
  readonly rollBackCatalog: {
    readonly parameters: {
      readonly query?: {
        readonly dry_run?: "true" | "false";
        readonly allow_removals?: "true" | "false";
      };
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["Rollback"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["ReplacedCatalog"] | components["schemas"]["CatalogChanges"];
        };
      };
    };
  };
  readonly listPriceLists: {
    readonly parameters: {
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["PriceListRow"][];
          };
        };
      };
    };
  };
  readonly readPriceList: {
    readonly parameters: {
      readonly path: {
        readonly list: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["PriceListRow"];
        };
      };
    };
  };
  readonly putPriceList: {
    readonly parameters: {
      readonly query?: {
        readonly dry_run?: "true" | "false";
      };
      readonly path: {
        readonly list: string;
      };
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["NewPriceListRow"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["PriceListRow"] | components["schemas"]["PriceListPreview"];
        };
      };
    };
  };
  readonly deletePriceList: {
    readonly parameters: {
      readonly path: {
        readonly list: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["Deleted"];
        };
      };
    };
  };
  readonly readPriceListChanges: {
    readonly parameters: {
      readonly path: {
        readonly list: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["PriceChange"][];
          };
        };
      };
    };
  };
  readonly listAdminUsage: {
    readonly parameters: {
      readonly query?: {
        readonly account?: string;
        readonly limit?: number;
        readonly cursor?: string;
        readonly from?: string;
        readonly to?: string;
        readonly group_by?: string;
        readonly tag?: string;
        readonly user?: string;
        readonly project?: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly (components["schemas"]["AdminCharge"] | components["schemas"]["AdminRefund"] | components["schemas"]["AdminUsageGroup"])[];
            readonly has_more: boolean;
            readonly next: string | null;
            readonly totals?: components["schemas"]["AdminUsageTotals"];
          };
        };
      };
    };
  };
  readonly listJobs: {
    readonly parameters: {
      readonly query?: {
        readonly account?: string;
        readonly kind?: "image" | "video";
        readonly state?: "queued" | "processing" | "unknown_submit" | "completed" | "failed";
        readonly limit?: number;
        readonly cursor?: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["Job"][];
            readonly has_more: boolean;
            readonly next: string | null;
          };
        };
      };
    };
  };
  readonly listLosses: {
    readonly parameters: {
      readonly query?: {
        readonly limit?: number;
        readonly cursor?: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["Loss"][];
            readonly has_more: boolean;
            readonly next: string | null;
          };
        };
      };
    };
  };
  readonly readJob: {
    readonly parameters: {
      readonly path: {
        readonly job: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["JobDetails"];
        };
      };
    };
  };
  readonly listAudit: {
    readonly parameters: {
      readonly query?: {
        readonly limit?: number;
        readonly cursor?: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["AuditRow"][];
            readonly has_more: boolean;
            readonly next: string | null;
          };
        };
      };
    };
  };
  readonly reconcile: {
    readonly parameters: {
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["Reconciliation"];
        };
      };
    };
  };
  readonly verify: {
    readonly parameters: {
    };
    readonly requestBody?: {
      readonly content: {
        readonly "application/json": components["schemas"]["Acceptance"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["Verification"];
        };
      };
    };
  };
  readonly listNodes: {
    readonly parameters: {
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["Nodes"];
        };
      };
    };
  };
  readonly readDoctor: {
    readonly parameters: {
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["Doctor"];
        };
      };
    };
  };
  readonly listAdminRequests: {
    readonly parameters: {
      readonly query?: {
        readonly account?: string;
        readonly key?: string;
        readonly project?: string;
        readonly model?: string;
        readonly code?: string;
        readonly failed?: "true" | "false";
        readonly tag?: string;
        readonly user?: string;
        readonly sort?: "newest" | "cost" | "duration";
        readonly from?: string;
        readonly to?: string;
        readonly limit?: number;
        readonly cursor?: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly data: readonly components["schemas"]["AdminRequest"][];
            readonly has_more: boolean;
            readonly next: string | null;
          };
        };
      };
    };
  };
  readonly readAdminRequest: {
    readonly parameters: {
      readonly path: {
        readonly request: string;
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["AdminRequestPage"] | components["schemas"]["AdminMovementPage"];
        };
      };
    };
  };
  readonly createBackup: {
    readonly parameters: {
    };
    readonly requestBody: {
      readonly content: {
        readonly "application/json": components["schemas"]["NewBackup"];
      };
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": components["schemas"]["Backup"];
        };
      };
    };
  };
  readonly readAdminDescription: {
    readonly parameters: {
    };
    readonly responses: {
      readonly 200: {
        content: {
          readonly "application/json": {
            readonly openapi: string;
          } & {
            readonly [key: string]: unknown;
          };
        };
      };
    };
  };
}
