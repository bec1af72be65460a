// Written by `npm run console-types` from the OpenAPI document of the admin API.

export interface paths {
  "/admin/api/accounts": {
    parameters: {
    };
    get: operations["listAccounts"];
    post: operations["createAccount"];
  };
  "/admin/api/accounts/{account}": {
    parameters: {
    };
    get: operations["readAccount"];
    patch: operations["changeAccount"];
  };
  "/admin/api/accounts/{account}/grants": {
    parameters: {
    };
    post: operations["grantCredit"];
  };
  "/admin/api/accounts/{account}/debits": {
    parameters: {
    };
    post: operations["debitAccount"];
  };
  "/admin/api/charges/{charge}/refund": {
    parameters: {
    };
    post: operations["refundCharge"];
  };
  "/admin/api/accounts/{account}/statement": {
    parameters: {
    };
    get: operations["listAdminMovements"];
  };
  "/admin/api/accounts/{account}/suspend": {
    parameters: {
    };
    post: operations["suspendAccount"];
  };
  "/admin/api/accounts/{account}/resume": {
    parameters: {
    };
    post: operations["resumeAccount"];
  };
  "/admin/api/accounts/{account}/close": {
    parameters: {
    };
    post: operations["closeAccount"];
  };
  "/admin/api/accounts/{account}/projects": {
    parameters: {
    };
    get: operations["listProjects"];
    post: operations["createProject"];
  };
  "/admin/api/projects/{project}": {
    parameters: {
    };
    get: operations["readProject"];
    patch: operations["changeProject"];
  };
  "/admin/api/projects/{project}/usage": {
    parameters: {
    };
    get: operations["readProjectUsage"];
  };
  "/admin/api/projects/{project}/close": {
    parameters: {
    };
    post: operations["closeProject"];
  };
  "/admin/api/webhooks": {
    parameters: {
    };
    get: operations["listWebhooks"];
    post: operations["createWebhook"];
  };
  "/admin/api/webhooks/{webhook}": {
    parameters: {
    };
    get: operations["readWebhook"];
    delete: operations["removeWebhook"];
    patch: operations["changeWebhook"];
  };
  "/admin/api/webhooks/{webhook}/rotate": {
    parameters: {
    };
    post: operations["rotateWebhook"];
  };
  "/admin/api/webhooks/{webhook}/test": {
    parameters: {
    };
    post: operations["testWebhook"];
  };
  "/admin/api/webhooks/{webhook}/deliveries": {
    parameters: {
    };
    get: operations["listWebhookDeliveries"];
  };
  "/admin/api/webhooks/{webhook}/deliveries/{delivery}/redeliver": {
    parameters: {
    };
    post: operations["redeliverWebhookMessage"];
  };
  "/admin/api/accounts/{account}/keys": {
    parameters: {
    };
    get: operations["listKeys"];
    post: operations["createKey"];
  };
  "/admin/api/accounts/{account}/keys/{id}": {
    parameters: {
    };
    delete: operations["revokeKeyOfAccount"];
  };
  "/admin/api/key-defaults": {
    parameters: {
    };
    get: operations["readKeyDefaults"];
    patch: operations["changeKeyDefaults"];
  };
  "/admin/api/keys": {
    parameters: {
    };
    get: operations["listAllKeys"];
  };
  "/admin/api/keys/find": {
    parameters: {
    };
    post: operations["findKey"];
  };
  "/admin/api/keys/{id}": {
    parameters: {
    };
    get: operations["readKeyLimits"];
    patch: operations["changeKey"];
  };
  "/admin/api/keys/{id}/revoke": {
    parameters: {
    };
    post: operations["revokeKey"];
  };
  "/admin/api/margins": {
    parameters: {
    };
    get: operations["readMargins"];
  };
  "/admin/api/overview": {
    parameters: {
    };
    get: operations["readOverview"];
  };
  "/admin/api/provider-states": {
    parameters: {
    };
    get: operations["listProviderStates"];
  };
  "/admin/api/providers/{provider}/test": {
    parameters: {
    };
    post: operations["testProvider"];
  };
  "/admin/api/requests/report": {
    parameters: {
    };
    get: operations["readRequestsReport"];
  };
  "/admin/api/mail": {
    parameters: {
    };
    get: operations["readMail"];
  };
  "/admin/api/mail/messages": {
    parameters: {
    };
    get: operations["listMails"];
  };
  "/admin/api/mail/test": {
    parameters: {
    };
    post: operations["sendTestMail"];
  };
  "/admin/api/keys/{id}/rotate": {
    parameters: {
    };
    post: operations["rotateKey"];
  };
  "/admin/api/keys/{id}/secrets/{secret}/revoke": {
    parameters: {
    };
    post: operations["revokeKeySecret"];
  };
  "/admin/api/tokens": {
    parameters: {
    };
    get: operations["listAdminTokens"];
    post: operations["createAdminToken"];
  };
  "/admin/api/tokens/{token}": {
    parameters: {
    };
    get: operations["readAdminToken"];
    delete: operations["revokeAdminToken"];
  };
  "/admin/api/users": {
    parameters: {
    };
    get: operations["listUsers"];
    post: operations["inviteUser"];
  };
  "/admin/api/users/{user}": {
    parameters: {
    };
    get: operations["readUser"];
    patch: operations["changeUser"];
  };
  "/admin/api/users/{user}/link": {
    parameters: {
    };
    post: operations["makeUserLink"];
  };
  "/admin/api/users/{user}/sessions": {
    parameters: {
    };
    get: operations["listUserSessions"];
    delete: operations["endUserSessions"];
  };
  "/admin/api/providers": {
    parameters: {
    };
    get: operations["listProviders"];
  };
  "/admin/api/providers/{provider}": {
    parameters: {
    };
    get: operations["readRowOfProvider"];
    put: operations["putProvider"];
    delete: operations["deleteProvider"];
  };
  "/admin/api/models": {
    parameters: {
    };
    get: operations["listModelRows"];
  };
  "/admin/api/models/{model}": {
    parameters: {
    };
    get: operations["readRowOfModel"];
    put: operations["putModel"];
    delete: operations["deleteModel"];
    patch: operations["switchModel"];
  };
  "/admin/api/catalog": {
    parameters: {
    };
    get: operations["readCatalog"];
    put: operations["replaceCatalog"];
  };
  "/admin/api/catalog/rollback": {
    parameters: {
    };
    post: operations["rollBackCatalog"];
  };
  "/admin/api/catalog/changes": {
    parameters: {
    };
    get: operations["compareRevisions"];
  };
  "/admin/api/catalog/history": {
    parameters: {
    };
    get: operations["listRevisions"];
  };
  "/admin/api/catalog/history/{kind}/{row}": {
    parameters: {
    };
    get: operations["listRowEdits"];
  };
  "/admin/api/price-lists": {
    parameters: {
    };
    get: operations["listPriceLists"];
  };
  "/admin/api/price-lists/{list}": {
    parameters: {
    };
    get: operations["readPriceList"];
    put: operations["putPriceList"];
    delete: operations["deletePriceList"];
  };
  "/admin/api/price-lists/{list}/changes": {
    parameters: {
    };
    get: operations["readPriceListChanges"];
  };
  "/admin/api/jobs": {
    parameters: {
    };
    get: operations["listJobs"];
  };
  "/admin/api/jobs/{job}": {
    parameters: {
    };
    get: operations["readJob"];
  };
  "/admin/api/jobs/{job}/content/{n}": {
    parameters: {
    };
    get: operations["readJobContent"];
  };
  "/admin/api/usage": {
    parameters: {
    };
    get: operations["listAdminUsage"];
  };
  "/admin/api/losses": {
    parameters: {
    };
    get: operations["listLosses"];
  };
  "/admin/api/audit": {
    parameters: {
    };
    get: operations["listAudit"];
  };
  "/admin/api/reconcile": {
    parameters: {
    };
    post: operations["reconcile"];
  };
  "/admin/api/verify": {
    parameters: {
    };
    get: operations["readVerification"];
    post: operations["verify"];
  };
  "/admin/api/nodes": {
    parameters: {
    };
    get: operations["listNodes"];
  };
  "/admin/api/settings": {
    parameters: {
    };
    get: operations["listSettings"];
  };
  "/admin/api/doctor": {
    parameters: {
    };
    get: operations["readDoctor"];
  };
  "/admin/api/requests": {
    parameters: {
    };
    get: operations["listAdminRequests"];
  };
  "/admin/api/requests/{request}": {
    parameters: {
    };
    get: operations["readAdminRequest"];
  };
  "/admin/api/backups": {
    parameters: {
    };
    get: operations["listBackups"];
    post: operations["createBackup"];
  };
  "/admin/openapi.json": {
    parameters: {
    };
    get: operations["readAdminDescription"];
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    AdminRequest: {
      id: string;
      object: "request";
      created_at: string;
      key: string;
      project: string | null;
      route: string;
      model: string | null;
      status: number;
      error_code: string | null;
      duration_ms: number;
      first_byte_ms: number | null;
      held_usd: string | null;
      required_usd: string | null;
      available_usd: string | null;
      refused_by: {
        scope: "account" | "project" | "account_model" | "key" | "key_model";
        limit: "requests_per_minute" | "tokens_per_minute" | "concurrent_requests" | "day_budget" | "week_budget" | "month_budget" | "total_budget";
      } | null;
      cost_usd: string | null;
      job: string | null;
      is_replay: boolean;
      replay_of: string | null;
      client_disconnected: boolean;
      tags: {
        [key: string]: string;
      };
      user: string | null;
      alike_refusals: number;
      account: string;
      account_name: string | null;
      attempts: {
        provider: string;
        reason: string | null;
      }[];
    };
    AdminRequestPage: {
      id: string;
      object: "request_page";
      outcome: "charged" | "given_back" | "replayed" | "running" | "refused" | "failed" | "cancelled" | "uncharged";
      why: string[];
      hold: {
        amount_usd: string;
        state: "open" | "captured" | "released" | "expired";
        placed_at: string | null;
        ended_at: string | null;
      } | null;
      account: string | null;
      account_name: string | null;
      request: components["schemas"]["AdminRequest"] | null;
      charge: {
        id: string;
        object: "usage";
        route: string;
        model: string;
        usage: {
          input_tokens: number;
          output_tokens: number;
          cached_input_tokens: number;
          cache_write_tokens: number;
          cache_write_1h_tokens: number;
          audio_input_tokens: number;
          reasoning_tokens: number;
          audio_output_tokens: number;
          server_tool_uses: number;
          search_calls: number;
          file_searches: number;
          service_tier: string | null;
          assumed_cached_tokens?: number;
        } | {
          images: number;
          text_input_tokens?: number;
          image_input_tokens?: number;
          text_output_tokens?: number;
          image_output_tokens?: number;
        } | {
          seconds: number;
        };
        source: "reported" | "estimated";
        is_clamped: boolean;
        cost_usd: string;
        refunded_usd: string;
        created_at: string;
        shortfall_usd: string;
        pricing: "tariff" | "free" | "upstream_cost";
        arithmetic: {
          items: {
            item: "input" | "cached_input" | "cache_write" | "cache_write_1h" | "audio_input" | "output" | "reasoning" | "audio_output" | "server_tool_use" | "search_call" | "file_search" | "text_input" | "image_input" | "text_output" | "image_output" | "request" | "image" | "max_image" | "second";
            quantity: number;
            per: number;
            price_usd: string;
            amount_usd: string;
          }[];
          sum_usd: string;
          total_usd: string;
          above_input_tokens: number | null;
          service_tier: string | null;
          service_tier_factor: string | null;
          is_at_most: boolean;
        } | null;
        refunds: {
          id: string;
          amount_usd: string;
          created_at: string;
          note: string | null;
        }[];
        provider: string;
        provider_cost_usd: string | null;
        tags?: {
          [key: string]: string;
        };
        user?: string;
      } | null;
      undelivered_attempts: {
        number: number;
        provider: string;
        state: "abandoned" | "timed_out" | "closed" | "billed" | "compensated";
        input_tokens: number | null;
        output_tokens: number | null;
        cost_usd: string | null;
        provider_cost_usd: string | null;
        at: string;
      }[];
      job: {
        id: string;
        kind: "image" | "video";
        state: "queued" | "processing" | "unknown_submit" | "completed" | "failed";
        model: string;
        route: string;
        reserved_usd: string;
        failure: {
          code: string | null;
          message: string;
        } | null;
        created_at: string;
        changed_at: string;
        deadline_at: string;
        provider: string;
        upstream_id: string | null;
        problem: string | null;
        loss_usd: string | null;
        provider_cost_usd: string | null;
        why: string | null;
        next: string | null;
        history: {
          state: "queued" | "processing" | "unknown_submit" | "completed" | "failed";
          detail: string | null;
          at: string;
        }[];
      } | null;
    };
    AdminMovementPage: {
      id: string;
      object: "movement_page";
      kind: "top_up" | "grant" | "debit";
      amount_usd: string;
      created_at: string;
      note: string | null;
      account: string | null;
      account_name: string | null;
    };
    Tariff: {
      input_per_mtok?: string;
      cached_input_per_mtok?: string;
      cache_write_per_mtok?: string;
      cache_write_1h_per_mtok?: string;
      audio_input_per_mtok?: string;
      output_per_mtok?: string;
      reasoning_per_mtok?: string;
      audio_output_per_mtok?: string;
      per_request?: string;
      per_server_tool_use?: string;
      per_search_call?: string;
      per_file_search?: string;
      tiers?: {
        above_input_tokens: number;
        input_per_mtok?: string;
        cached_input_per_mtok?: string;
        cache_write_per_mtok?: string;
        cache_write_1h_per_mtok?: string;
        audio_input_per_mtok?: string;
        output_per_mtok?: string;
        reasoning_per_mtok?: string;
        audio_output_per_mtok?: string;
        per_request?: string;
        per_server_tool_use?: string;
        per_search_call?: string;
        per_file_search?: string;
      }[];
      service_tiers?: {
        [key: string]: string;
      };
    };
    NewTariff: {
      input_per_mtok?: string | null;
      cached_input_per_mtok?: string | null;
      cache_write_per_mtok?: string | null;
      cache_write_1h_per_mtok?: string | null;
      audio_input_per_mtok?: string | null;
      output_per_mtok?: string | null;
      reasoning_per_mtok?: string | null;
      audio_output_per_mtok?: string | null;
      per_request?: string | null;
      per_server_tool_use?: string | null;
      per_search_call?: string | null;
      per_file_search?: string | null;
      tiers?: {
        above_input_tokens: number;
        input_per_mtok?: string | null;
        cached_input_per_mtok?: string | null;
        cache_write_per_mtok?: string | null;
        cache_write_1h_per_mtok?: string | null;
        audio_input_per_mtok?: string | null;
        output_per_mtok?: string | null;
        reasoning_per_mtok?: string | null;
        audio_output_per_mtok?: string | null;
        per_request?: string | null;
        per_server_tool_use?: string | null;
        per_search_call?: string | null;
        per_file_search?: string | null;
      }[] | null;
      service_tiers?: {
        [key: string]: string;
      } | null;
    };
    ProviderRow: {
      id: string;
      kind: "sandbox";
      routes?: ("chat" | "responses" | "embeddings")[];
    } | {
      id: string;
      kind: "openai-compatible";
      base_url: string;
      api_key?: string;
      api_key_header?: string;
      headers?: {
        [key: string]: string;
      };
      routes?: ("chat" | "responses" | "embeddings")[];
      max_tokens_field?: "max_tokens" | "max_completion_tokens";
      omit_fields?: ("metadata" | "temperature" | "top_p" | "stop" | "parallel_tool_calls" | "stream_options")[];
      refuse_fields?: {
        [key: string]: (string | number | boolean)[];
      };
      cost_header?: string;
      cost_field?: string;
      cost_unit?: "usd" | "cents" | "ticks";
      usage_style?: "gemini";
      bills_refused?: "content_filter";
      connect_timeout_s?: number;
      read_timeout_s?: number;
      stream_idle_timeout_s?: number;
      first_byte_timeout_s?: number;
      retries?: number;
      stream_usage?: "ask";
      finish_aborted?: boolean;
      pass_rate_limits?: boolean;
      reuse_connections?: boolean;
    } | {
      id: string;
      kind: "anthropic";
      base_url: string;
      api_key?: string;
      api_key_header?: string;
      headers?: {
        [key: string]: string;
      };
      routes?: "messages"[];
      betas?: string[];
      refuse_fields?: {
        [key: string]: (string | number | boolean)[];
      };
      connect_timeout_s?: number;
      read_timeout_s?: number;
      stream_idle_timeout_s?: number;
      first_byte_timeout_s?: number;
      retries?: number;
      finish_aborted?: boolean;
      pass_rate_limits?: boolean;
      reuse_connections?: boolean;
    } | {
      id: string;
      kind: "openai-images";
      base_url: string;
      api_key?: string;
      headers?: {
        [key: string]: string;
      };
      connect_timeout_s?: number;
      reuse_connections?: boolean;
      send_links?: "always" | "never";
    } | {
      id: string;
      kind: "gemini-images";
      base_url: string;
      api_key?: string;
      headers?: {
        [key: string]: string;
      };
      connect_timeout_s?: number;
      reuse_connections?: boolean;
      send_links?: "always" | "never";
    } | {
      id: string;
      kind: "kling";
      base_url: string;
      api_key?: string;
      headers?: {
        [key: string]: string;
      };
      connect_timeout_s?: number;
      reuse_connections?: boolean;
      send_links?: "always" | "never";
      credit_usd?: string;
    } | {
      id: string;
      kind: "fal";
      base_url: string;
      api_key?: string;
      headers?: {
        [key: string]: string;
      };
      connect_timeout_s?: number;
      reuse_connections?: boolean;
      send_links?: "always" | "never";
    } | {
      id: string;
      kind: "geminigen";
      base_url: string;
      api_key?: string;
      headers?: {
        [key: string]: string;
      };
      connect_timeout_s?: number;
      reuse_connections?: boolean;
      send_links?: "always" | "never";
      credit_usd?: string;
    } | {
      id: string;
      kind: "minimax";
      base_url: string;
      api_key?: string;
      headers?: {
        [key: string]: string;
      };
      connect_timeout_s?: number;
      reuse_connections?: boolean;
      send_links?: "always" | "never";
    } | {
      id: string;
      kind: "replicate";
      base_url: string;
      api_key?: string;
      headers?: {
        [key: string]: string;
      };
      connect_timeout_s?: number;
      reuse_connections?: boolean;
      send_links?: "always" | "never";
    } | {
      id: string;
      kind: "runway";
      base_url: string;
      api_key?: string;
      headers?: {
        [key: string]: string;
      };
      connect_timeout_s?: number;
      reuse_connections?: boolean;
      send_links?: "always" | "never";
      credit_usd?: string;
    } | {
      id: string;
      kind: "seedance";
      base_url: string;
      api_key?: string;
      headers?: {
        [key: string]: string;
      };
      connect_timeout_s?: number;
      reuse_connections?: boolean;
      send_links?: "always" | "never";
    } | {
      id: string;
      kind: "veo";
      base_url: string;
      api_key?: string;
      headers?: {
        [key: string]: string;
      };
      connect_timeout_s?: number;
      reuse_connections?: boolean;
      send_links?: "always" | "never";
    };
    NewProviderRow: {
      kind: "sandbox";
      id?: string | null;
      routes?: ("chat" | "responses" | "embeddings")[] | null;
    } | {
      kind: "openai-compatible";
      base_url: string;
      id?: string | null;
      api_key?: string | null;
      api_key_header?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      routes?: ("chat" | "responses" | "embeddings")[] | null;
      /** @enum {string|null} */
      max_tokens_field?: "max_tokens" | "max_completion_tokens" | null;
      omit_fields?: ("metadata" | "temperature" | "top_p" | "stop" | "parallel_tool_calls" | "stream_options")[] | null;
      refuse_fields?: {
        [key: string]: (string | number | boolean)[];
      } | null;
      cost_header?: string | null;
      cost_field?: string | null;
      /** @enum {string|null} */
      cost_unit?: "usd" | "cents" | "ticks" | null;
      /** @enum {string|null} */
      usage_style?: "gemini" | null;
      /** @enum {string|null} */
      bills_refused?: "content_filter" | null;
      connect_timeout_s?: number | null;
      read_timeout_s?: number | null;
      stream_idle_timeout_s?: number | null;
      first_byte_timeout_s?: number | null;
      retries?: number | null;
      /** @enum {string|null} */
      stream_usage?: "ask" | null;
      finish_aborted?: boolean | null;
      pass_rate_limits?: boolean | null;
      reuse_connections?: boolean | null;
    } | {
      kind: "anthropic";
      base_url: string;
      id?: string | null;
      api_key?: string | null;
      api_key_header?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      routes?: "messages"[] | null;
      betas?: string[] | null;
      refuse_fields?: {
        [key: string]: (string | number | boolean)[];
      } | null;
      connect_timeout_s?: number | null;
      read_timeout_s?: number | null;
      stream_idle_timeout_s?: number | null;
      first_byte_timeout_s?: number | null;
      retries?: number | null;
      finish_aborted?: boolean | null;
      pass_rate_limits?: boolean | null;
      reuse_connections?: boolean | null;
    } | {
      kind: "openai-images";
      base_url: string;
      id?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
    } | {
      kind: "gemini-images";
      id?: string | null;
      base_url?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
    } | {
      kind: "kling";
      base_url: string;
      id?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
      credit_usd?: string | null;
    } | {
      kind: "fal";
      id?: string | null;
      base_url?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
    } | {
      kind: "geminigen";
      id?: string | null;
      base_url?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
      credit_usd?: string | null;
    } | {
      kind: "minimax";
      id?: string | null;
      base_url?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
    } | {
      kind: "replicate";
      id?: string | null;
      base_url?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
    } | {
      kind: "runway";
      id?: string | null;
      base_url?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
      credit_usd?: string | null;
    } | {
      kind: "seedance";
      id?: string | null;
      base_url?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
    } | {
      kind: "veo";
      id?: string | null;
      base_url?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
    };
    FileProviderRow: {
      id: string;
      kind: "sandbox";
      routes?: ("chat" | "responses" | "embeddings")[] | null;
    } | {
      id: string;
      kind: "openai-compatible";
      base_url: string;
      api_key?: string | null;
      api_key_header?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      routes?: ("chat" | "responses" | "embeddings")[] | null;
      /** @enum {string|null} */
      max_tokens_field?: "max_tokens" | "max_completion_tokens" | null;
      omit_fields?: ("metadata" | "temperature" | "top_p" | "stop" | "parallel_tool_calls" | "stream_options")[] | null;
      refuse_fields?: {
        [key: string]: (string | number | boolean)[];
      } | null;
      cost_header?: string | null;
      cost_field?: string | null;
      /** @enum {string|null} */
      cost_unit?: "usd" | "cents" | "ticks" | null;
      /** @enum {string|null} */
      usage_style?: "gemini" | null;
      /** @enum {string|null} */
      bills_refused?: "content_filter" | null;
      connect_timeout_s?: number | null;
      read_timeout_s?: number | null;
      stream_idle_timeout_s?: number | null;
      first_byte_timeout_s?: number | null;
      retries?: number | null;
      /** @enum {string|null} */
      stream_usage?: "ask" | null;
      finish_aborted?: boolean | null;
      pass_rate_limits?: boolean | null;
      reuse_connections?: boolean | null;
    } | {
      id: string;
      kind: "anthropic";
      base_url: string;
      api_key?: string | null;
      api_key_header?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      routes?: "messages"[] | null;
      betas?: string[] | null;
      refuse_fields?: {
        [key: string]: (string | number | boolean)[];
      } | null;
      connect_timeout_s?: number | null;
      read_timeout_s?: number | null;
      stream_idle_timeout_s?: number | null;
      first_byte_timeout_s?: number | null;
      retries?: number | null;
      finish_aborted?: boolean | null;
      pass_rate_limits?: boolean | null;
      reuse_connections?: boolean | null;
    } | {
      id: string;
      kind: "openai-images";
      base_url: string;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
    } | {
      id: string;
      kind: "gemini-images";
      base_url?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
    } | {
      id: string;
      kind: "kling";
      base_url: string;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
      credit_usd?: string | null;
    } | {
      id: string;
      kind: "fal";
      base_url?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
    } | {
      id: string;
      kind: "geminigen";
      base_url?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
      credit_usd?: string | null;
    } | {
      id: string;
      kind: "minimax";
      base_url?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
    } | {
      id: string;
      kind: "replicate";
      base_url?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
    } | {
      id: string;
      kind: "runway";
      base_url?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
      credit_usd?: string | null;
    } | {
      id: string;
      kind: "seedance";
      base_url?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
    } | {
      id: string;
      kind: "veo";
      base_url?: string | null;
      api_key?: string | null;
      headers?: {
        [key: string]: string;
      } | null;
      connect_timeout_s?: number | null;
      reuse_connections?: boolean | null;
      /** @enum {string|null} */
      send_links?: "always" | "never" | null;
    };
    ModelRow: {
      id: string;
      kind: "chat";
      enabled: boolean;
      upstreams: {
        provider: string;
        model: string;
        order?: number;
        weight?: number;
        cost?: components["schemas"]["Tariff"];
      }[];
      display_name?: string;
      description?: string;
      owned_by?: string;
      pricing?: ("free" | "upstream_cost") | components["schemas"]["Tariff"];
      markup?: string;
      ceiling_pricing?: components["schemas"]["Tariff"];
      max_output_tokens?: number;
      context_window?: number;
      read_timeout_s?: number;
      stream_idle_timeout_s?: number;
      first_byte_timeout_s?: number;
      preset?: "coding-agent";
      inputs?: ("text" | "image" | "file" | "audio")[];
      unsupported_inputs?: "refuse" | "note";
      messages_stream?: "synthetic" | "live";
      stream_usage?: "ask" | "client";
      heartbeats?: boolean;
      replays?: boolean;
      refuse_fields?: {
        [key: string]: (string | number | boolean)[];
      };
    } | {
      id: string;
      kind: "embedding";
      enabled: boolean;
      upstreams: {
        provider: string;
        model: string;
        order?: number;
        weight?: number;
        cost?: components["schemas"]["Tariff"];
      }[];
      display_name?: string;
      description?: string;
      owned_by?: string;
      pricing?: ("free" | "upstream_cost") | components["schemas"]["Tariff"];
      markup?: string;
      ceiling_pricing?: components["schemas"]["Tariff"];
      context_window?: number;
      read_timeout_s?: number;
      replays?: boolean;
      refuse_fields?: {
        [key: string]: (string | number | boolean)[];
      };
    } | {
      id: string;
      kind: "image";
      enabled: boolean;
      upstreams: {
        provider: string;
        model: string;
        order?: number;
        weight?: number;
        cost?: {
          per_image: string;
        } | {
          text_input_per_mtok: string;
          image_input_per_mtok: string;
          image_output_per_mtok: string;
          max_per_image: string;
          text_output_per_mtok?: string;
        };
      }[];
      display_name?: string;
      description?: string;
      owned_by?: string;
      pricing?: {
        per_image: string;
      } | {
        text_input_per_mtok: string;
        image_input_per_mtok: string;
        image_output_per_mtok: string;
        max_per_image: string;
        text_output_per_mtok?: string;
      };
      provider_prices?: {
        text_input_per_mtok: string;
        image_input_per_mtok: string;
        image_output_per_mtok: string;
        text_output_per_mtok?: string;
      };
      params?: {
        [key: string]: string[];
      };
      fixed_params?: {
        [key: string]: string | number | boolean;
      };
      output_types?: ("image/svg+xml" | "image/heic" | "image/tiff")[];
    } | {
      id: string;
      kind: "video";
      enabled: boolean;
      upstreams: {
        provider: string;
        model: string;
        order?: number;
        weight?: number;
        cost?: {
          per_second: string;
        };
      }[];
      engine: "family-a" | "family-a-extend" | "family-b" | "family-b-edit" | "family-b-motion" | "family-c" | "family-d-5" | "family-d-10" | "family-e" | "family-e-extend" | "family-f" | "family-g" | "family-g-extend" | "storyboard";
      display_name?: string;
      description?: string;
      owned_by?: string;
      pricing?: {
        per_second: string;
      };
      params?: {
        [key: string]: string[];
      };
      fixed_params?: {
        [key: string]: string | number | boolean;
      };
      hold_duration_seconds?: number;
      output_types?: "video/x-matroska"[];
    };
    NewModelRow: {
      kind: "chat";
      upstreams: {
        provider: string;
        model: string;
        order?: number | null;
        weight?: number | null;
        cost?: components["schemas"]["NewTariff"] | null;
      }[];
      id?: string | null;
      enabled?: boolean | null;
      display_name?: string | null;
      description?: string | null;
      owned_by?: string | null;
      pricing?: (("free" | "upstream_cost") | components["schemas"]["NewTariff"]) | null;
      markup?: string | null;
      ceiling_pricing?: components["schemas"]["NewTariff"] | null;
      max_output_tokens?: number | null;
      context_window?: number | null;
      read_timeout_s?: number | null;
      stream_idle_timeout_s?: number | null;
      first_byte_timeout_s?: number | null;
      /** @enum {string|null} */
      preset?: "coding-agent" | null;
      inputs?: ("text" | "image" | "file" | "audio")[] | null;
      /** @enum {string|null} */
      unsupported_inputs?: "refuse" | "note" | null;
      /** @enum {string|null} */
      messages_stream?: "synthetic" | "live" | null;
      /** @enum {string|null} */
      stream_usage?: "ask" | "client" | null;
      heartbeats?: boolean | null;
      replays?: boolean | null;
      refuse_fields?: {
        [key: string]: (string | number | boolean)[];
      } | null;
    } | {
      kind: "embedding";
      upstreams: {
        provider: string;
        model: string;
        order?: number | null;
        weight?: number | null;
        cost?: components["schemas"]["NewTariff"] | null;
      }[];
      id?: string | null;
      enabled?: boolean | null;
      display_name?: string | null;
      description?: string | null;
      owned_by?: string | null;
      pricing?: (("free" | "upstream_cost") | components["schemas"]["NewTariff"]) | null;
      markup?: string | null;
      ceiling_pricing?: components["schemas"]["NewTariff"] | null;
      context_window?: number | null;
      read_timeout_s?: number | null;
      replays?: boolean | null;
      refuse_fields?: {
        [key: string]: (string | number | boolean)[];
      } | null;
    } | {
      kind: "image";
      upstreams: {
        provider: string;
        model: string;
        order?: number | null;
        weight?: number | null;
        cost?: ({
          per_image: string;
        } | {
          text_input_per_mtok: string;
          image_input_per_mtok: string;
          image_output_per_mtok: string;
          max_per_image: string;
          text_output_per_mtok?: string | null;
        }) | null;
      }[];
      id?: string | null;
      enabled?: boolean | null;
      display_name?: string | null;
      description?: string | null;
      owned_by?: string | null;
      pricing?: ({
        per_image: string;
      } | {
        text_input_per_mtok: string;
        image_input_per_mtok: string;
        image_output_per_mtok: string;
        max_per_image: string;
        text_output_per_mtok?: string | null;
      }) | null;
      provider_prices?: {
        text_input_per_mtok: string;
        image_input_per_mtok: string;
        image_output_per_mtok: string;
        text_output_per_mtok?: string | null;
      } | null;
      params?: {
        [key: string]: string[];
      } | null;
      fixed_params?: {
        [key: string]: string | number | boolean;
      } | null;
      output_types?: ("image/svg+xml" | "image/heic" | "image/tiff")[] | null;
    } | {
      kind: "video";
      upstreams: {
        provider: string;
        model: string;
        order?: number | null;
        weight?: number | null;
        cost?: {
          per_second: string;
        } | null;
      }[];
      engine: "family-a" | "family-a-extend" | "family-b" | "family-b-edit" | "family-b-motion" | "family-c" | "family-d-5" | "family-d-10" | "family-e" | "family-e-extend" | "family-f" | "family-g" | "family-g-extend" | "storyboard";
      id?: string | null;
      enabled?: boolean | null;
      display_name?: string | null;
      description?: string | null;
      owned_by?: string | null;
      pricing?: {
        per_second: string;
      } | null;
      params?: {
        [key: string]: string[];
      } | null;
      fixed_params?: {
        [key: string]: string | number | boolean;
      } | null;
      hold_duration_seconds?: number | null;
      output_types?: "video/x-matroska"[] | null;
    };
    FileModelRow: {
      id: string;
      kind: "chat";
      upstreams: {
        provider: string;
        model: string;
        order?: number | null;
        weight?: number | null;
        cost?: components["schemas"]["NewTariff"] | null;
      }[];
      enabled?: boolean | null;
      display_name?: string | null;
      description?: string | null;
      owned_by?: string | null;
      pricing?: (("free" | "upstream_cost") | components["schemas"]["NewTariff"]) | null;
      markup?: string | null;
      ceiling_pricing?: components["schemas"]["NewTariff"] | null;
      max_output_tokens?: number | null;
      context_window?: number | null;
      read_timeout_s?: number | null;
      stream_idle_timeout_s?: number | null;
      first_byte_timeout_s?: number | null;
      /** @enum {string|null} */
      preset?: "coding-agent" | null;
      inputs?: ("text" | "image" | "file" | "audio")[] | null;
      /** @enum {string|null} */
      unsupported_inputs?: "refuse" | "note" | null;
      /** @enum {string|null} */
      messages_stream?: "synthetic" | "live" | null;
      /** @enum {string|null} */
      stream_usage?: "ask" | "client" | null;
      heartbeats?: boolean | null;
      replays?: boolean | null;
      refuse_fields?: {
        [key: string]: (string | number | boolean)[];
      } | null;
    } | {
      id: string;
      kind: "embedding";
      upstreams: {
        provider: string;
        model: string;
        order?: number | null;
        weight?: number | null;
        cost?: components["schemas"]["NewTariff"] | null;
      }[];
      enabled?: boolean | null;
      display_name?: string | null;
      description?: string | null;
      owned_by?: string | null;
      pricing?: (("free" | "upstream_cost") | components["schemas"]["NewTariff"]) | null;
      markup?: string | null;
      ceiling_pricing?: components["schemas"]["NewTariff"] | null;
      context_window?: number | null;
      read_timeout_s?: number | null;
      replays?: boolean | null;
      refuse_fields?: {
        [key: string]: (string | number | boolean)[];
      } | null;
    } | {
      id: string;
      kind: "image";
      upstreams: {
        provider: string;
        model: string;
        order?: number | null;
        weight?: number | null;
        cost?: ({
          per_image: string;
        } | {
          text_input_per_mtok: string;
          image_input_per_mtok: string;
          image_output_per_mtok: string;
          max_per_image: string;
          text_output_per_mtok?: string | null;
        }) | null;
      }[];
      enabled?: boolean | null;
      display_name?: string | null;
      description?: string | null;
      owned_by?: string | null;
      pricing?: ({
        per_image: string;
      } | {
        text_input_per_mtok: string;
        image_input_per_mtok: string;
        image_output_per_mtok: string;
        max_per_image: string;
        text_output_per_mtok?: string | null;
      }) | null;
      provider_prices?: {
        text_input_per_mtok: string;
        image_input_per_mtok: string;
        image_output_per_mtok: string;
        text_output_per_mtok?: string | null;
      } | null;
      params?: {
        [key: string]: string[];
      } | null;
      fixed_params?: {
        [key: string]: string | number | boolean;
      } | null;
      output_types?: ("image/svg+xml" | "image/heic" | "image/tiff")[] | null;
    } | {
      id: string;
      kind: "video";
      upstreams: {
        provider: string;
        model: string;
        order?: number | null;
        weight?: number | null;
        cost?: {
          per_second: string;
        } | null;
      }[];
      engine: "family-a" | "family-a-extend" | "family-b" | "family-b-edit" | "family-b-motion" | "family-c" | "family-d-5" | "family-d-10" | "family-e" | "family-e-extend" | "family-f" | "family-g" | "family-g-extend" | "storyboard";
      enabled?: boolean | null;
      display_name?: string | null;
      description?: string | null;
      owned_by?: string | null;
      pricing?: {
        per_second: string;
      } | null;
      params?: {
        [key: string]: string[];
      } | null;
      fixed_params?: {
        [key: string]: string | number | boolean;
      } | null;
      hold_duration_seconds?: number | null;
      output_types?: "video/x-matroska"[] | null;
    };
    Account: {
      id: string;
      name: string;
      available_usd: string | null;
      held_usd: string | null;
      sandbox_only: boolean;
      suspended_at: string | null;
      closed_at: string | null;
      replays: boolean;
      price_list: string | null;
      alert_below_usd: string | null;
      job_events: boolean;
      created_at: string | null;
    };
    LimitedAccount: {
      id: string;
      name: string;
      available_usd: string | null;
      held_usd: string | null;
      sandbox_only: boolean;
      suspended_at: string | null;
      closed_at: string | null;
      replays: boolean;
      price_list: string | null;
      alert_below_usd: string | null;
      job_events: boolean;
      created_at: string | null;
      contacts: string[];
      limits: {
        requests_per_minute: number | null;
        tokens_per_minute: number | null;
        concurrent_requests: number | null;
      };
      budgets: {
        day: string | null;
        week: string | null;
        month: string | null;
        total: string | null;
      };
      budget_usage: {
        day?: {
          spent_usd: string;
          reserved_usd: string;
          remaining_usd: string;
          resets_at: string | null;
        };
        week?: {
          spent_usd: string;
          reserved_usd: string;
          remaining_usd: string;
          resets_at: string | null;
        };
        month?: {
          spent_usd: string;
          reserved_usd: string;
          remaining_usd: string;
          resets_at: string | null;
        };
        total?: {
          spent_usd: string;
          reserved_usd: string;
          remaining_usd: string;
          resets_at: string | null;
        };
      };
      per_model: {
        [key: string]: {
          limits: {
            requests_per_minute: number | null;
            tokens_per_minute: number | null;
            concurrent_requests: number | null;
          };
          budgets: {
            day: string | null;
            week: string | null;
            month: string | null;
            total: string | null;
          };
          budget_usage: {
            day?: {
              spent_usd: string;
              reserved_usd: string;
              remaining_usd: string;
              resets_at: string | null;
            };
            week?: {
              spent_usd: string;
              reserved_usd: string;
              remaining_usd: string;
              resets_at: string | null;
            };
            month?: {
              spent_usd: string;
              reserved_usd: string;
              remaining_usd: string;
              resets_at: string | null;
            };
            total?: {
              spent_usd: string;
              reserved_usd: string;
              remaining_usd: string;
              resets_at: string | null;
            };
          };
        };
      };
      key_defaults: {
        limits: {
          requests_per_minute: number | null;
          tokens_per_minute: number | null;
          concurrent_requests: number | null;
        };
        budgets: {
          day: string | null;
          week: string | null;
          month: string | null;
          total: string | null;
        };
        models: string[] | null;
        routes: ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
        expires_in: number | null;
        allowed_addresses: string[] | null;
      };
      warnings?: string[];
    };
    Credit: {
      id: string;
      amount_usd: string;
      available_usd: string;
      is_repeat: boolean;
    };
    AdminMovement: {
      id: string;
      kind: "top_up" | "grant" | "charge" | "hold" | "capture" | "release" | "expire" | "compensation" | "debit" | "refund" | "loss";
      amount_usd: string;
      ref: string | null;
      note: string | null;
      at: string;
      tags?: {
        [key: string]: string;
      };
      user?: string;
    };
    NewAccount: {
      name: string;
    };
    NewGrant: {
      amount_usd: string;
      note?: string | null;
      /** @enum {string|null} */
      source?: "grant" | "top_up" | null;
    };
    NewDebit: {
      amount_usd: string;
      note?: string | null;
      allow_negative?: boolean;
    };
    NewRefund: {
      amount_usd?: string | null;
      note?: string | null;
    };
    AccountChange: {
      name?: string;
      replays?: boolean;
      price_list?: string | null;
      alert_below_usd?: string | null;
      contacts?: string[] | null;
      job_events?: boolean;
      key_defaults?: {
        limits?: {
          requests_per_minute?: number | null;
          tokens_per_minute?: number | null;
          concurrent_requests?: number | null;
        } | null;
        budgets?: {
          day?: string | null;
          week?: string | null;
          month?: string | null;
          total?: string | null;
        } | null;
        models?: string[] | null;
        routes?: ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
        expires_in?: number | null;
        allowed_addresses?: string[] | null;
      } | null;
      limits?: {
        requests_per_minute?: number | null;
        tokens_per_minute?: number | null;
        concurrent_requests?: number | null;
      } | null;
      budgets?: {
        day?: string | null;
        week?: string | null;
        month?: string | null;
        total?: string | null;
      } | null;
      per_model?: {
        [key: string]: {
          limits?: {
            requests_per_minute?: number | null;
            tokens_per_minute?: number | null;
            concurrent_requests?: number | null;
          } | null;
          budgets?: {
            day?: string | null;
            week?: string | null;
            month?: string | null;
            total?: string | null;
          } | null;
        } | null;
      } | null;
    };
    Suspension: {
      id: string;
      name: string;
      suspended_at: string | null;
    };
    LimitedKey: {
      id: string;
      name: string;
      prefix: string;
      project: string | null;
      secrets: components["schemas"]["KeySecret"][];
      created_at: string;
      revoked_at: string | null;
      expires_at: string | null;
      disabled_at: string | null;
      models: string[] | null;
      routes: ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
      allowed_addresses: string[] | null;
      last_used_on: string | null;
      limits: {
        requests_per_minute: number | null;
        tokens_per_minute: number | null;
        concurrent_requests: number | null;
      };
      budgets: {
        day: string | null;
        week: string | null;
        month: string | null;
        total: string | null;
      };
      budget_usage: {
        day?: {
          spent_usd: string;
          reserved_usd: string;
          remaining_usd: string;
          resets_at: string | null;
        };
        week?: {
          spent_usd: string;
          reserved_usd: string;
          remaining_usd: string;
          resets_at: string | null;
        };
        month?: {
          spent_usd: string;
          reserved_usd: string;
          remaining_usd: string;
          resets_at: string | null;
        };
        total?: {
          spent_usd: string;
          reserved_usd: string;
          remaining_usd: string;
          resets_at: string | null;
        };
      };
      per_model: {
        [key: string]: {
          limits: {
            requests_per_minute: number | null;
            tokens_per_minute: number | null;
            concurrent_requests: number | null;
          };
          budgets: {
            day: string | null;
            week: string | null;
            month: string | null;
            total: string | null;
          };
          budget_usage: {
            day?: {
              spent_usd: string;
              reserved_usd: string;
              remaining_usd: string;
              resets_at: string | null;
            };
            week?: {
              spent_usd: string;
              reserved_usd: string;
              remaining_usd: string;
              resets_at: string | null;
            };
            month?: {
              spent_usd: string;
              reserved_usd: string;
              remaining_usd: string;
              resets_at: string | null;
            };
            total?: {
              spent_usd: string;
              reserved_usd: string;
              remaining_usd: string;
              resets_at: string | null;
            };
          };
        };
      };
      warnings?: string[];
    };
    ApiKey: {
      id: string;
      name: string;
      prefix: string;
      project: string | null;
      secrets: components["schemas"]["KeySecret"][];
      created_at: string;
      revoked_at: string | null;
      expires_at: string | null;
      disabled_at: string | null;
      models: string[] | null;
      routes: ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
      allowed_addresses: string[] | null;
      last_used_on: string | null;
    };
    KeyOfAccount: {
      id: string;
      name: string;
      prefix: string;
      project: string | null;
      secrets: components["schemas"]["KeySecret"][];
      created_at: string;
      revoked_at: string | null;
      expires_at: string | null;
      disabled_at: string | null;
      models: string[] | null;
      routes: ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
      allowed_addresses: string[] | null;
      last_used_on: string | null;
      account: string | null;
      account_name: string | null;
    };
    FoundKey: {
      id: string;
      name: string;
      prefix: string;
      project: string | null;
      secrets: components["schemas"]["KeySecret"][];
      created_at: string;
      revoked_at: string | null;
      expires_at: string | null;
      disabled_at: string | null;
      models: string[] | null;
      routes: ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
      allowed_addresses: string[] | null;
      last_used_on: string | null;
      found_secret: string | null;
      account: string | null;
      account_name: string | null;
    };
    KeyName: {
      key: string;
    };
    NewKey: {
      name?: string | null;
      project?: string | null;
      models?: string[] | null;
      routes?: ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
      expires_at?: string | null;
      allowed_addresses?: string[] | null;
      limits?: {
        requests_per_minute?: number | null;
        tokens_per_minute?: number | null;
        concurrent_requests?: number | null;
      } | null;
      budgets?: {
        day?: string | null;
        week?: string | null;
        month?: string | null;
        total?: string | null;
      } | null;
      per_model?: {
        [key: string]: {
          limits?: {
            requests_per_minute?: number | null;
            tokens_per_minute?: number | null;
            concurrent_requests?: number | null;
          } | null;
          budgets?: {
            day?: string | null;
            week?: string | null;
            month?: string | null;
            total?: string | null;
          } | null;
        } | null;
      } | null;
    };
    KeyDefaults: {
      limits: {
        requests_per_minute: number | null;
        tokens_per_minute: number | null;
        concurrent_requests: number | null;
      };
      budgets: {
        day: string | null;
        week: string | null;
        month: string | null;
        total: string | null;
      };
      models: string[] | null;
      routes: ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
      expires_in: number | null;
      allowed_addresses: string[] | null;
      warnings?: string[];
    };
    KeyDefaultsChange: {
      limits?: {
        requests_per_minute?: number | null;
        tokens_per_minute?: number | null;
        concurrent_requests?: number | null;
      } | null;
      budgets?: {
        day?: string | null;
        week?: string | null;
        month?: string | null;
        total?: string | null;
      } | null;
      models?: string[] | null;
      routes?: ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
      expires_in?: number | null;
      allowed_addresses?: string[] | null;
    };
    KeyChange: {
      name?: string;
      disabled?: boolean;
      models?: string[] | null;
      routes?: ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
      expires_at?: string | null;
      allowed_addresses?: string[] | null;
      limits?: {
        requests_per_minute?: number | null;
        tokens_per_minute?: number | null;
        concurrent_requests?: number | null;
      } | null;
      budgets?: {
        day?: string | null;
        week?: string | null;
        month?: string | null;
        total?: string | null;
      } | null;
      per_model?: {
        [key: string]: {
          limits?: {
            requests_per_minute?: number | null;
            tokens_per_minute?: number | null;
            concurrent_requests?: number | null;
          } | null;
          budgets?: {
            day?: string | null;
            week?: string | null;
            month?: string | null;
            total?: string | null;
          } | null;
        } | null;
      } | null;
    };
    KeySecret: {
      prefix: string;
      created_at: string | null;
      ends_at: string | null;
      has_ended: boolean;
    };
    RotatedKey: {
      id: string;
      name: string;
      prefix: string;
      project: string | null;
      secrets: components["schemas"]["KeySecret"][];
      created_at: string;
      revoked_at: string | null;
      expires_at: string | null;
      disabled_at: string | null;
      models: string[] | null;
      routes: ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
      allowed_addresses: string[] | null;
      last_used_on: string | null;
      key: string;
    };
    Rotation: {
      old_ends_in?: number | null;
      old_ends_at?: string | null;
    };
    Catalog: {
      revision: number;
      updated_at: string;
      providers: components["schemas"]["ProviderRow"][];
      models: components["schemas"]["ModelRow"][];
      price_lists?: components["schemas"]["PriceListRow"][];
    };
    ReplacedCatalog: {
      revision: number;
      updated_at: string;
      providers: components["schemas"]["ProviderRow"][];
      models: components["schemas"]["ModelRow"][];
      missing_variables: string[];
      warnings: string[];
      price_lists?: components["schemas"]["PriceListRow"][];
    };
    CatalogFile: {
      providers: components["schemas"]["ProviderRow"][];
      models: components["schemas"]["ModelRow"][];
      price_lists?: components["schemas"]["PriceListRow"][];
    };
    NewCatalogFile: {
      providers: components["schemas"]["FileProviderRow"][];
      models: components["schemas"]["FileModelRow"][];
      price_lists?: components["schemas"]["PriceListRow"][];
    };
    NewCatalog: {
      providers: components["schemas"]["FileProviderRow"][];
      models: components["schemas"]["FileModelRow"][];
      price_lists?: components["schemas"]["PriceListRow"][];
      revision?: unknown;
      updated_at?: unknown;
      missing_variables?: unknown;
      warnings?: unknown;
    };
    ProviderPreview: {
      dry_run: true;
      revision: number;
      is_new: boolean;
      fields: {
        field: string;
        before: unknown;
        after: unknown;
      }[];
      loses_key: boolean;
    };
    ModelPreview: {
      dry_run: true;
      revision: number;
      is_new: boolean;
      fields: {
        field: string;
        before: unknown;
        after: unknown;
      }[];
      example: {
        of: string;
        before_usd: string | null;
        after_usd: string | null;
        costs: {
          provider: string;
          cost_usd: string;
          margin_usd: string | null;
        }[];
      } | null;
    };
    CatalogChanges: {
      dry_run: true;
      revision: number;
      changes: {
        kind: "provider" | "model" | "price_list";
        id: string;
        change: "added" | "changed" | "removed";
        fields: {
          field: string;
          before: unknown;
          after: unknown;
        }[];
        loses_key: boolean;
      }[];
      is_reordered: boolean;
      removals: string[];
      missing_variables: string[];
      warnings: string[];
    };
    Rollback: {
      revision: number;
    };
    ModelSwitch: {
      enabled: boolean;
    };
    Deleted: {
      id: string;
      deleted: true;
    };
    RevisionChanges: {
      from: number;
      to: number;
      changes: {
        kind: "provider" | "model" | "price_list";
        id: string;
        change: "added" | "changed" | "removed";
        fields: {
          field: string;
          before: unknown;
          after: unknown;
        }[];
        loses_key: boolean;
      }[];
      is_reordered: boolean;
    };
    Revision: {
      revision: number;
      actor: string;
      action: string;
      subject: string;
      at: string;
      changes: {
        kind: "provider" | "model" | "price_list";
        id: string;
        change: "added" | "changed" | "removed";
      }[];
      change_count: number;
    };
    RowEdit: {
      revision: number;
      actor: string;
      action: string;
      subject: string;
      at: string;
      change: "added" | "changed" | "removed" | "moved";
      fields: {
        field: string;
        before: unknown;
        after: unknown;
      }[];
      loses_key: boolean;
      row: {
        [key: string]: unknown;
      } | null;
    };
    PriceListRow: {
      id: string;
      factor?: string | null;
      prices?: {
        [key: string]: "free" | Record<string, never>;
      } | null;
    };
    NewPriceListRow: {
      id?: string;
      factor?: string | null;
      prices?: {
        [key: string]: "free" | Record<string, never>;
      } | null;
    };
    PriceChange: {
      model: string;
      kind: "chat" | "embedding" | "image" | "video";
      before: {
        pricing: unknown;
        markup?: string;
        ceiling_pricing?: unknown;
      };
      after: {
        pricing: unknown;
        markup?: string;
        ceiling_pricing?: unknown;
      };
      example: {
        of: string;
        before_usd: string | null;
        after_usd: string | null;
      };
    };
    PriceListPreview: {
      dry_run: true;
      revision: number;
      is_new: boolean;
      changes: components["schemas"]["PriceChange"][];
    };
    Job: {
      id: string;
      request_id: string | null;
      kind: "image" | "video";
      state: "queued" | "processing" | "unknown_submit" | "completed" | "failed";
      account: string | null;
      account_name: string | null;
      key: string | null;
      route: string;
      model: string;
      provider: string;
      upstream_id: string | null;
      held_usd: string;
      cost_usd: string | null;
      provider_cost_usd: string | null;
      created_at: string;
      changed_at: string;
      tags?: {
        [key: string]: string;
      };
      user?: string;
    };
    JobDetails: {
      id: string;
      request_id: string | null;
      kind: "image" | "video";
      state: "queued" | "processing" | "unknown_submit" | "completed" | "failed";
      account: string | null;
      account_name: string | null;
      key: string | null;
      route: string;
      model: string;
      provider: string;
      upstream_id: string | null;
      held_usd: string;
      cost_usd: string | null;
      provider_cost_usd: string | null;
      created_at: string;
      changed_at: string;
      why: string;
      next: string | null;
      next_at: string | null;
      upstream_model: string;
      upstream_status: string | null;
      problem: string | null;
      failure: {
        reason: string;
        code: string | null;
        message: string;
      } | null;
      node: string;
      submitted_at: string | null;
      next_poll_at: string;
      deadline_at: string;
      watched_until: string | null;
      archived_at: string | null;
      loss_usd: string | null;
      request: {
        params: {
          [key: string]: unknown;
        };
        count: number;
        duration: number | null;
        images: number;
        videos: number;
      };
      duration: number | null;
      outputs: {
        key: string;
        bytes: number;
        media_type: string;
        sha256: string;
      }[];
      history: {
        state: "queued" | "processing" | "unknown_submit" | "completed" | "failed";
        detail: string | null;
        at: string;
      }[];
      tags?: {
        [key: string]: string;
      };
      user?: string;
    };
    AdminCharge: {
      id: string;
      object: "usage";
      route: string;
      model: string;
      usage: {
        input_tokens: number;
        output_tokens: number;
        cached_input_tokens: number;
        cache_write_tokens: number;
        cache_write_1h_tokens: number;
        audio_input_tokens: number;
        reasoning_tokens: number;
        audio_output_tokens: number;
        server_tool_uses: number;
        search_calls: number;
        file_searches: number;
        service_tier: string | null;
        assumed_cached_tokens?: number;
      } | {
        images: number;
        text_input_tokens?: number;
        image_input_tokens?: number;
        text_output_tokens?: number;
        image_output_tokens?: number;
      } | {
        seconds: number;
      };
      source: "reported" | "estimated";
      is_clamped: boolean;
      cost_usd: string;
      refunded_usd: string;
      created_at: string;
      provider_cost_usd: string | null;
      provider: string;
      account: string | null;
      account_name: string | null;
      key: string | null;
      project: string | null;
      tags?: {
        [key: string]: string;
      };
      user?: string;
    };
    AdminRefund: {
      id: string;
      object: "refund";
      charge: string;
      route: string;
      model: string;
      cost_usd: string;
      note: string | null;
      created_at: string;
      provider: string;
      account: string | null;
      account_name: string | null;
      key: string | null;
      project: string | null;
      tags?: {
        [key: string]: string;
      };
      user?: string;
    };
    Loss: {
      id: string;
      kind: "text" | "image" | "video";
      reason: string;
      account: string | null;
      account_name: string | null;
      model: string;
      provider: string;
      loss_usd: string;
      provider_cost_usd: string | null;
      at: string;
    };
    AuditRow: {
      id: string;
      actor: string;
      action: string;
      subject: string;
      detail: string | null;
      at: string;
    };
    Reconciliation: {
      has_run: boolean;
      compensated: number;
      compensated_usd: string;
      closed: number;
      expired: number;
      jobs: {
        lost: number;
        polled: number;
        ended: number;
        recovered: number;
        released: number;
        late_completions: number;
        archived: number;
        removed_files: number;
        failed: number;
      };
      failed: number;
    };
    Verification: {
      ok: boolean;
      entries: number;
      files_elsewhere: number;
      shared: boolean;
      problems: {
        id: string;
        concerns: "everything" | "account" | "nothing";
        entry_id: string | null;
        message: string;
        accepted: boolean;
      }[];
    };
    VerificationState: {
      running: {
        started_at: string;
        /** @enum {string|null} */
        step: "balances" | "holds" | "attempts" | "jobs" | "job_keys" | "corrections" | "switches" | "limits" | "catalog" | "usage_days" | "counts" | "commits" | "results" | null;
        checked: number;
        of: number;
      } | null;
      last: {
        started_at: string;
        ended_at: string;
        ok: boolean;
        entries: number;
        files_elsewhere: number;
        shared: boolean;
        problems: {
          id: string;
          concerns: "everything" | "account" | "nothing";
          entry_id: string | null;
          message: string;
          accepted: boolean;
        }[];
      } | null;
    };
    Acceptance: {
      accept?: string | null;
      reason?: string | null;
      accept_loss?: string | null;
    };
    Nodes: {
      data: {
        name: string;
        version: string;
        too_old: boolean;
        lane: number | null;
        epoch: number | null;
        last_seen_at: string;
        clock_offset_ms: number | null;
        text_holds: number | null;
      }[];
    };
    Doctor: {
      ok: boolean;
      checks: {
        name: string;
        ok: boolean;
        detail: string;
        is_warning?: true;
      }[];
      settings: {
        name: string;
        value: string | null;
        default: string | null;
        is_set: boolean;
      }[];
    };
    NewBackup: {
      file: string;
    };
    BackupPage: {
      data: {
        file: string;
        made_at: string;
        made_by: string;
        detail: string | null;
        bytes: number | null;
      }[];
      has_more: boolean;
      next: string | null;
      made_elsewhere?: string | null;
    };
    Backup: {
      file: string;
      bytes: number;
      commits: number;
      job_files_folder: string;
      job_files: number;
      results_in: string | null;
    };
    AdminToken: {
      id: string;
      name: string;
      prefix: string;
      scopes: ("read" | "metrics" | "grants" | "all")[];
      grants_per_day_usd: string | null;
      granted_today_usd: string | null;
      created_by: string;
      created_at: string;
      expires_at: string | null;
      last_used_on: string | null;
      revoked_at: string | null;
      state: "active" | "expired" | "revoked";
    };
    NewAdminToken: {
      name: string;
      scopes: ("read" | "metrics" | "grants" | "all")[];
      grants_per_day_usd?: string | null;
      expires_at?: string | null;
    };
    User: {
      id: string;
      email: string;
      name: string;
      role: "owner" | "operator" | "support" | "viewer";
      state: "invited" | "active" | "disabled";
      grants_per_day_usd: string | null;
      granted_today_usd: string | null;
      has_password: boolean;
      has_totp: boolean;
      has_oidc: boolean;
      created_by: string;
      created_at: string;
      last_sign_in_at: string | null;
      disabled_at: string | null;
    };
    NewUser: {
      email: string;
      role: "owner" | "operator" | "support" | "viewer";
      name?: string | null;
      grants_per_day_usd?: string | null;
    };
    UserPatch: {
      name?: string;
      role?: "owner" | "operator" | "support" | "viewer";
      grants_per_day_usd?: string | null;
      disabled?: boolean;
      has_totp?: false;
    };
    UserSession: {
      id: string;
      address: string;
      user_agent: string;
      created_at: string;
      last_used_at: string;
      expires_at: string;
    };
    Project: {
      id: string;
      name: string;
      account: string | null;
      created_at: string;
      closed_at: string | null;
    };
    LimitedProject: {
      id: string;
      name: string;
      account: string | null;
      created_at: string;
      closed_at: string | null;
      limits: {
        requests_per_minute: number | null;
        tokens_per_minute: number | null;
        concurrent_requests: number | null;
      };
      budgets: {
        day: string | null;
        week: string | null;
        month: string | null;
        total: string | null;
      };
      budget_usage: {
        day?: {
          spent_usd: string;
          reserved_usd: string;
          remaining_usd: string;
          resets_at: string | null;
        };
        week?: {
          spent_usd: string;
          reserved_usd: string;
          remaining_usd: string;
          resets_at: string | null;
        };
        month?: {
          spent_usd: string;
          reserved_usd: string;
          remaining_usd: string;
          resets_at: string | null;
        };
        total?: {
          spent_usd: string;
          reserved_usd: string;
          remaining_usd: string;
          resets_at: string | null;
        };
      };
    };
    NewProject: {
      name: string;
      limits?: {
        requests_per_minute?: number | null;
        tokens_per_minute?: number | null;
        concurrent_requests?: number | null;
      } | null;
      budgets?: {
        day?: string | null;
        week?: string | null;
        month?: string | null;
        total?: string | null;
      } | null;
    };
    ProjectUsage: {
      charges: number;
      input_tokens: number;
      output_tokens: number;
      images: number;
      seconds: number;
      cost_usd: string;
      compensated_usd: string;
      provider_cost_usd: string;
      margin_usd: string;
      charges_without_cost: number;
      day?: string;
      model?: string;
      key?: string;
    };
    ProjectChange: {
      name?: string;
      limits?: {
        requests_per_minute?: number | null;
        tokens_per_minute?: number | null;
        concurrent_requests?: number | null;
      } | null;
      budgets?: {
        day?: string | null;
        week?: string | null;
        month?: string | null;
        total?: string | null;
      } | null;
    };
    Webhook: {
      id: string;
      account: string | null;
      url: string;
      events: ("balance.low" | "balance.granted" | "balance.topped_up" | "budget.nearly_spent" | "budget.reached" | "job.finished" | "key.expiring" | "provider.failing" | "provider.recovered" | "books.problem" | "webhook.switched_off" | "webhook.test")[];
      note: string;
      created_at: string;
      state: "on" | "off" | "switched_off";
      off_at: string | null;
      failing_since: string | null;
      old_secret_ends_at: string | null;
      dropped: number;
    };
    WebhookWithSecret: {
      id: string;
      account: string | null;
      url: string;
      events: ("balance.low" | "balance.granted" | "balance.topped_up" | "budget.nearly_spent" | "budget.reached" | "job.finished" | "key.expiring" | "provider.failing" | "provider.recovered" | "books.problem" | "webhook.switched_off" | "webhook.test")[];
      note: string;
      created_at: string;
      state: "on" | "off" | "switched_off";
      off_at: string | null;
      failing_since: string | null;
      old_secret_ends_at: string | null;
      dropped: number;
      secret: string;
    };
    WebhookDelivery: {
      id: string;
      event: string;
      type: "balance.low" | "balance.granted" | "balance.topped_up" | "budget.nearly_spent" | "budget.reached" | "job.finished" | "key.expiring" | "provider.failing" | "provider.recovered" | "books.problem" | "webhook.switched_off" | "webhook.test";
      occurred_at: string;
      state: "waiting" | "delivered" | "failed";
      attempts: number;
      next_attempt_at: string | null;
      attempted_at: string | null;
      status: number | null;
      duration_ms: number | null;
      problem: string | null;
    };
    NewWebhook: {
      url: string;
      events?: ("balance.low" | "balance.granted" | "balance.topped_up" | "budget.nearly_spent" | "budget.reached" | "job.finished" | "key.expiring" | "provider.failing" | "provider.recovered" | "books.problem" | "webhook.switched_off" | "webhook.test")[] | null;
      account?: string | null;
      note?: string | null;
    };
    WebhookChange: {
      url?: string | null;
      events?: ("balance.low" | "balance.granted" | "balance.topped_up" | "budget.nearly_spent" | "budget.reached" | "job.finished" | "key.expiring" | "provider.failing" | "provider.recovered" | "books.problem" | "webhook.switched_off" | "webhook.test")[] | null;
      note?: string | null;
      on?: boolean;
    };
    WebhookRotation: {
      old_ends_in?: number;
    };
    Margin: {
      charges: number;
      revenue_usd: string;
      provider_cost_usd: string;
      losses_usd: string;
      margin_usd: string;
      charges_without_cost: number;
      losses_without_cost: number;
      model?: string;
      provider?: string;
      account?: string | null;
      account_name?: string | null;
      key?: string | null;
      key_name?: string | null;
      project?: string | null;
      project_name?: string | null;
      day?: string;
    };
    AdminUsageTotals: {
      from: string;
      to: string;
      charges: number;
      input_tokens: number;
      output_tokens: number;
      images: number;
      seconds: number;
      cost_usd: string;
      refunded_usd: string;
      compensated_usd: string;
      provider_cost_usd: string;
      margin_usd: string;
      charges_without_cost: number;
    };
    AdminUsageGroup: {
      object: "usage_group";
      value: string | null;
      charges: number;
      input_tokens: number;
      output_tokens: number;
      images: number;
      seconds: number;
      cost_usd: string;
      refunded_usd: string;
      compensated_usd: string;
      provider_cost_usd: string;
      margin_usd: string;
      charges_without_cost: number;
    };
    MarginSums: {
      charges: number;
      revenue_usd: string;
      provider_cost_usd: string;
      losses_usd: string;
      margin_usd: string;
      charges_without_cost: number;
      losses_without_cost: number;
    };
    Circuit: {
      provider: string;
      model: string;
      state: "closed" | "half_open" | "open";
      failures: number;
      open_for_ms: number | null;
    };
    ProviderState: {
      provider: string;
      state: "healthy" | "failing" | "half_open" | "open";
      circuits: components["schemas"]["Circuit"][];
      recent_failures: {
        model: string;
        reason: string | null;
        at: string;
      }[];
    };
    Overview: {
      today: components["schemas"]["MarginSums"] | null;
      last_30_days: components["schemas"]["MarginSums"] | null;
      requests_24_hours: components["schemas"]["RequestSums"] | null;
      circuits: components["schemas"]["Circuit"][];
      open_jobs: {
        queued: number;
        processing: number;
        unknown_submit: number;
      };
      held_usd: {
        text: string;
        media: string;
      };
      books: {
        accepts_paid_work: boolean;
        is_writable: boolean;
        stopped_because: string | null;
        stopped_accounts: number;
        last_check: {
          at: string;
          open_problems: number;
          all_rows: boolean;
          all_rows_at: string | null;
        } | null;
      };
      alerts: {
        kind: "books" | "store" | "circuit" | "records" | "results" | "model";
        message: string;
      }[];
    };
    RequestSums: {
      requests: number;
      errors: number;
      duration_p50_ms: number | null;
      duration_p99_ms: number | null;
      first_byte_p50_ms: number | null;
      first_byte_p99_ms: number | null;
      tokens: {
        input?: number;
        cached_input?: number;
        cache_write?: number;
        cache_write_1h?: number;
        audio_input?: number;
        output?: number;
        reasoning?: number;
        audio_output?: number;
      };
    };
    RequestGroup: {
      requests: number;
      errors: number;
      duration_p50_ms: number | null;
      duration_p99_ms: number | null;
      first_byte_p50_ms: number | null;
      first_byte_p99_ms: number | null;
      tokens: {
        input?: number;
        cached_input?: number;
        cache_write?: number;
        cache_write_1h?: number;
        audio_input?: number;
        output?: number;
        reasoning?: number;
        audio_output?: number;
      };
      day?: string;
      hour?: string;
      status?: number;
      model?: string;
      provider?: string;
      account?: string;
      account_name?: string | null;
    };
    MailState: {
      server: string | null;
      operators: string[];
      waiting: number;
      left_out: number;
    };
    MailMessage: {
      id: string;
      to: string;
      account: string | null;
      event: string | null;
      /** @enum {string|null} */
      type: "balance.low" | "balance.granted" | "balance.topped_up" | "budget.nearly_spent" | "budget.reached" | "job.finished" | "key.expiring" | "provider.failing" | "provider.recovered" | "books.problem" | "webhook.switched_off" | "webhook.test" | null;
      queued_at: string;
      state: "waiting" | "sent" | "failed";
      attempts: number;
      next_attempt_at: string | null;
      attempted_at: string | null;
      problem: string | null;
    };
    MailTest: {
      to?: string | null;
    };
    SentTestMail: {
      to: string;
      sent: boolean;
      problem: string | null;
    };
    EventAccount: {
      id: string;
      name: string;
    };
  };
  responses: {
    "AdminError400-1": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "invalid_request_error";
            code: "malformed_request" | "invalid_field";
            param: string | null;
            details?: {
              error_code: "malformed_request" | "invalid_field";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError401-2": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "authentication_error";
            code: "invalid_api_key" | "admin_token_unknown" | "admin_token_expired" | "admin_token_revoked";
            param: string | null;
            details?: {
              error_code: "invalid_api_key" | "admin_token_unknown" | "admin_token_expired" | "admin_token_revoked";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError403-3": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "permission_error";
            code: "missing_scope";
            param: string | null;
            details?: {
              error_code: "missing_scope";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError408-4": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "timeout_error";
            code: "headers_timeout";
            param: string | null;
            details?: {
              error_code: "headers_timeout";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError431-5": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "request_too_large";
            code: "headers_too_large";
            param: string | null;
            details?: {
              error_code: "headers_too_large";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError500-6": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "server_error";
            code: "server_error";
            param: string | null;
            details?: {
              error_code: "server_error";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError503-7": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "server_error";
            code: "unavailable";
            param: string | null;
            details?: {
              error_code: "unavailable";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError400-8": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "invalid_request_error";
            code: "malformed_request" | "invalid_json" | "invalid_field";
            param: string | null;
            details?: {
              error_code: "malformed_request" | "invalid_json" | "invalid_field";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError408-9": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "timeout_error";
            code: "headers_timeout" | "body_timeout";
            param: string | null;
            details?: {
              error_code: "headers_timeout" | "body_timeout";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError409-10": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "conflict_error";
            code: "already_exists";
            param: string | null;
            details?: {
              error_code: "already_exists";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError413-11": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "request_too_large";
            code: "request_too_large";
            param: string | null;
            details?: {
              error_code: "request_too_large";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError415-12": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "invalid_request_error";
            code: "unsupported_encoding";
            param: string | null;
            details?: {
              error_code: "unsupported_encoding";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError503-13": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "server_error";
            code: "unavailable" | "overloaded";
            param: string | null;
            details?: {
              error_code: "unavailable" | "overloaded";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError400-14": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "invalid_request_error";
            code: "malformed_request";
            param: string | null;
            details?: {
              error_code: "malformed_request";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError404-15": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "not_found_error";
            code: "not_found";
            param: string | null;
            details?: {
              error_code: "not_found";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError409-16": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "conflict_error";
            code: "already_exists" | "already_closed";
            param: string | null;
            details?: {
              error_code: "already_exists" | "already_closed";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError403-17": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "permission_error";
            code: "missing_scope" | "grants_per_day_exceeded";
            param: string | null;
            details?: {
              error_code: "missing_scope" | "grants_per_day_exceeded";
            };
          };
          type?: "error";
          grants_per_day_usd?: string;
          granted_today_usd?: string;
          remaining_usd?: string;
          resets_at?: string;
        };
      };
    };
    "AdminError409-18": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "conflict_error";
            code: "idempotency_key_reuse" | "already_closed";
            param: string | null;
            details?: {
              error_code: "idempotency_key_reuse" | "already_closed";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError402-19": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "insufficient_balance";
            code: "insufficient_balance";
            param: string | null;
            details?: {
              error_code: "insufficient_balance";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError409-20": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "conflict_error";
            code: "idempotency_key_reuse";
            param: string | null;
            details?: {
              error_code: "idempotency_key_reuse";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError409-21": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "conflict_error";
            code: "idempotency_key_reuse" | "already_exists" | "already_closed";
            param: string | null;
            details?: {
              error_code: "idempotency_key_reuse" | "already_exists" | "already_closed";
            };
          };
          type?: "error";
          refundable_usd?: string;
        };
      };
    };
    "AdminError409-22": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "conflict_error";
            code: "account_not_empty";
            param: string | null;
            details?: {
              error_code: "account_not_empty";
            };
          };
          type?: "error";
          available_usd?: string;
          held_usd?: string;
          open_requests?: number;
          open_jobs?: number;
        };
      };
    };
    "AdminError409-23": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "conflict_error";
            code: "too_many_webhooks";
            param: string | null;
            details?: {
              error_code: "too_many_webhooks";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError409-24": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "conflict_error";
            code: "webhook_off";
            param: string | null;
            details?: {
              error_code: "webhook_off";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError409-25": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "conflict_error";
            code: "already_closed";
            param: string | null;
            details?: {
              error_code: "already_closed";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError400-26": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "invalid_request_error";
            code: "malformed_request" | "invalid_field" | "invalid_json";
            param: string | null;
            details?: {
              error_code: "malformed_request" | "invalid_field" | "invalid_json";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError409-27": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "conflict_error";
            code: "mail_off";
            param: string | null;
            details?: {
              error_code: "mail_off";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError409-28": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "conflict_error";
            code: "rotation_running" | "key_revoked" | "already_closed";
            param: string | null;
            details?: {
              error_code: "rotation_running" | "key_revoked" | "already_closed";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError409-29": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "conflict_error";
            code: "last_secret" | "key_revoked";
            param: string | null;
            details?: {
              error_code: "last_secret" | "key_revoked";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError409-30": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "conflict_error";
            code: "last_owner";
            param: string | null;
            details?: {
              error_code: "last_owner";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError409-31": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "conflict_error";
            code: "catalog_changed";
            param: string | null;
            details?: {
              error_code: "catalog_changed";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError409-32": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "conflict_error";
            code: "removals_not_allowed" | "catalog_changed";
            param: string | null;
            details?: {
              error_code: "removals_not_allowed" | "catalog_changed";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError410-33": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "invalid_request_error";
            code: "content_archived";
            param: string | null;
            details?: {
              error_code: "content_archived";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError416-34": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "invalid_request_error";
            code: "range_not_satisfiable";
            param: string | null;
            details?: {
              error_code: "range_not_satisfiable";
            };
          };
          type?: "error";
        };
      };
    };
    "AdminError400-35": {
      content: {
        "application/json": {
          error: {
            message: string;
            type: "invalid_request_error";
            code: "malformed_request" | "invalid_json" | "invalid_field" | "not_supported";
            param: string | null;
            details?: {
              error_code: "malformed_request" | "invalid_json" | "invalid_field" | "not_supported";
            };
          };
          type?: "error";
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
  listAccounts: {
    parameters: {
      query?: {
        search?: string;
        limit?: number;
        cursor?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Account"][];
            has_more: boolean;
            next: string | null;
          };
        };
      };
    };
  };
  createAccount: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["NewAccount"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            id: string;
            name: string;
          };
        };
      };
    };
  };
  readAccount: {
    parameters: {
      path: {
        account: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["LimitedAccount"];
        };
      };
    };
  };
  changeAccount: {
    parameters: {
      path: {
        account: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["AccountChange"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["LimitedAccount"];
        };
      };
    };
  };
  grantCredit: {
    parameters: {
      header?: {
        "idempotency-key"?: string;
      };
      path: {
        account: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["NewGrant"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Credit"];
        };
      };
    };
  };
  debitAccount: {
    parameters: {
      header?: {
        "idempotency-key"?: string;
      };
      path: {
        account: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["NewDebit"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Credit"];
        };
      };
    };
  };
  refundCharge: {
    parameters: {
      header?: {
        "idempotency-key"?: string;
      };
      path: {
        charge: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["NewRefund"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Credit"];
        };
      };
    };
  };
  listAdminMovements: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
        kind?: string;
        from?: string;
        to?: string;
      };
      path: {
        account: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["AdminMovement"][];
            has_more: boolean;
            next: string | null;
          };
        };
      };
    };
  };
  suspendAccount: {
    parameters: {
      path: {
        account: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Suspension"];
        };
      };
    };
  };
  resumeAccount: {
    parameters: {
      path: {
        account: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Suspension"];
        };
      };
    };
  };
  closeAccount: {
    parameters: {
      path: {
        account: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Account"];
        };
      };
    };
  };
  listProjects: {
    parameters: {
      path: {
        account: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Project"][];
          };
        };
      };
    };
  };
  createProject: {
    parameters: {
      path: {
        account: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["NewProject"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["LimitedProject"];
        };
      };
    };
  };
  readProject: {
    parameters: {
      path: {
        project: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["LimitedProject"];
        };
      };
    };
  };
  changeProject: {
    parameters: {
      path: {
        project: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ProjectChange"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["LimitedProject"];
        };
      };
    };
  };
  readProjectUsage: {
    parameters: {
      query?: {
        by?: "day" | "model" | "key";
        from?: string;
        to?: string;
      };
      path: {
        project: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            project: string;
            from: string;
            to: string;
            data: components["schemas"]["ProjectUsage"][];
            totals: {
              charges: number;
              input_tokens: number;
              output_tokens: number;
              images: number;
              seconds: number;
              cost_usd: string;
              compensated_usd: string;
              provider_cost_usd: string;
              margin_usd: string;
              charges_without_cost: number;
            };
          };
        };
      };
    };
  };
  closeProject: {
    parameters: {
      path: {
        project: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["LimitedProject"];
        };
      };
    };
  };
  listWebhooks: {
    parameters: {
      query?: {
        account?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Webhook"][];
          };
        };
      };
    };
  };
  createWebhook: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["NewWebhook"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["WebhookWithSecret"];
        };
      };
    };
  };
  readWebhook: {
    parameters: {
      path: {
        webhook: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Webhook"];
        };
      };
    };
  };
  removeWebhook: {
    parameters: {
      path: {
        webhook: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            id: string;
            removed: true;
          };
        };
      };
    };
  };
  changeWebhook: {
    parameters: {
      path: {
        webhook: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["WebhookChange"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Webhook"];
        };
      };
    };
  };
  rotateWebhook: {
    parameters: {
      path: {
        webhook: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["WebhookRotation"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["WebhookWithSecret"];
        };
      };
    };
  };
  testWebhook: {
    parameters: {
      path: {
        webhook: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["WebhookDelivery"];
        };
      };
    };
  };
  listWebhookDeliveries: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
        state?: "waiting" | "delivered" | "failed";
      };
      path: {
        webhook: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["WebhookDelivery"][];
            has_more: boolean;
            next: string | null;
          };
        };
      };
    };
  };
  redeliverWebhookMessage: {
    parameters: {
      path: {
        webhook: string;
        delivery: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["WebhookDelivery"];
        };
      };
    };
  };
  listKeys: {
    parameters: {
      path: {
        account: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["ApiKey"][];
          };
        };
      };
    };
  };
  createKey: {
    parameters: {
      path: {
        account: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["NewKey"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            id: string;
            name: string;
            prefix: string;
            project: string | null;
            secrets: components["schemas"]["KeySecret"][];
            created_at: string;
            revoked_at: string | null;
            expires_at: string | null;
            disabled_at: string | null;
            models: string[] | null;
            routes: ("chat_completions" | "responses" | "messages" | "embeddings" | "images" | "videos")[] | null;
            allowed_addresses: string[] | null;
            last_used_on: string | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
            };
            budgets: {
              day: string | null;
              week: string | null;
              month: string | null;
              total: string | null;
            };
            budget_usage: {
              day?: {
                spent_usd: string;
                reserved_usd: string;
                remaining_usd: string;
                resets_at: string | null;
              };
              week?: {
                spent_usd: string;
                reserved_usd: string;
                remaining_usd: string;
                resets_at: string | null;
              };
              month?: {
                spent_usd: string;
                reserved_usd: string;
                remaining_usd: string;
                resets_at: string | null;
              };
              total?: {
                spent_usd: string;
                reserved_usd: string;
                remaining_usd: string;
                resets_at: string | null;
              };
            };
            per_model: {
              [key: string]: {
                limits: {
                  requests_per_minute: number | null;
                  tokens_per_minute: number | null;
                  concurrent_requests: number | null;
                };
                budgets: {
                  day: string | null;
                  week: string | null;
                  month: string | null;
                  total: string | null;
                };
                budget_usage: {
                  day?: {
                    spent_usd: string;
                    reserved_usd: string;
                    remaining_usd: string;
                    resets_at: string | null;
                  };
                  week?: {
                    spent_usd: string;
                    reserved_usd: string;
                    remaining_usd: string;
                    resets_at: string | null;
                  };
                  month?: {
                    spent_usd: string;
                    reserved_usd: string;
                    remaining_usd: string;
                    resets_at: string | null;
                  };
                  total?: {
                    spent_usd: string;
                    reserved_usd: string;
                    remaining_usd: string;
                    resets_at: string | null;
                  };
                };
              };
            };
            key: string;
            warnings?: string[];
          };
        };
      };
    };
  };
  revokeKeyOfAccount: {
    parameters: {
      path: {
        account: string;
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["ApiKey"];
        };
      };
    };
  };
  readKeyDefaults: {
    parameters: {
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["KeyDefaults"];
        };
      };
    };
  };
  changeKeyDefaults: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["KeyDefaultsChange"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["KeyDefaults"];
        };
      };
    };
  };
  listAllKeys: {
    parameters: {
      query?: {
        search?: string;
        limit?: number;
        cursor?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["KeyOfAccount"][];
            has_more: boolean;
            next: string | null;
          };
        };
      };
    };
  };
  findKey: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["KeyName"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["FoundKey"];
        };
      };
    };
  };
  readKeyLimits: {
    parameters: {
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["LimitedKey"];
        };
      };
    };
  };
  changeKey: {
    parameters: {
      path: {
        id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["KeyChange"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["LimitedKey"];
        };
      };
    };
  };
  revokeKey: {
    parameters: {
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["ApiKey"];
        };
      };
    };
  };
  readMargins: {
    parameters: {
      query?: {
        by?: "model" | "provider" | "account" | "key" | "project" | "day";
        account?: string;
        sort?: "name" | "revenue";
        from?: string;
        to?: string;
        limit?: number;
        cursor?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Margin"][];
            has_more: boolean;
            next: string | null;
            from?: string;
            to?: string;
            totals?: {
              charges: number;
              revenue_usd: string;
              provider_cost_usd: string;
              losses_usd: string;
              margin_usd: string;
              charges_without_cost: number;
              losses_without_cost: number;
            };
          };
        };
      };
    };
  };
  readOverview: {
    parameters: {
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Overview"];
        };
      };
    };
  };
  listProviderStates: {
    parameters: {
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["ProviderState"][];
          };
        };
      };
    };
  };
  testProvider: {
    parameters: {
      path: {
        provider: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            provider: string;
            ok: boolean;
            detail: string;
            duration_ms: number;
          };
        };
      };
    };
  };
  readRequestsReport: {
    parameters: {
      query?: {
        by?: "day" | "hour" | "status" | "model" | "provider" | "account";
        from?: string;
        to?: string;
        limit?: number;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            from: string;
            to: string;
            is_on: boolean;
            data: components["schemas"]["RequestGroup"][];
            has_more: boolean;
            totals: components["schemas"]["RequestSums"];
          };
        };
      };
    };
  };
  readMail: {
    parameters: {
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["MailState"];
        };
      };
    };
  };
  listMails: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
        state?: "waiting" | "sent" | "failed";
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["MailMessage"][];
            has_more: boolean;
            next: string | null;
          };
        };
      };
    };
  };
  sendTestMail: {
    parameters: {
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["MailTest"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["SentTestMail"][];
          };
        };
      };
    };
  };
  rotateKey: {
    parameters: {
      path: {
        id: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["Rotation"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["RotatedKey"];
        };
      };
    };
  };
  revokeKeySecret: {
    parameters: {
      path: {
        id: string;
        secret: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["ApiKey"];
        };
      };
    };
  };
  listAdminTokens: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["AdminToken"][];
            has_more: boolean;
            next: string | null;
          };
        };
      };
    };
  };
  createAdminToken: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["NewAdminToken"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            id: string;
            name: string;
            prefix: string;
            scopes: ("read" | "metrics" | "grants" | "all")[];
            grants_per_day_usd: string | null;
            granted_today_usd: string | null;
            created_by: string;
            created_at: string;
            expires_at: string | null;
            last_used_on: string | null;
            revoked_at: string | null;
            state: "active" | "expired" | "revoked";
            token: string;
          };
        };
      };
    };
  };
  readAdminToken: {
    parameters: {
      path: {
        token: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["AdminToken"];
        };
      };
    };
  };
  revokeAdminToken: {
    parameters: {
      path: {
        token: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["AdminToken"];
        };
      };
    };
  };
  listUsers: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["User"][];
            has_more: boolean;
            next: string | null;
          };
        };
      };
    };
  };
  inviteUser: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["NewUser"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            id: string;
            email: string;
            name: string;
            role: "owner" | "operator" | "support" | "viewer";
            state: "invited" | "active" | "disabled";
            grants_per_day_usd: string | null;
            granted_today_usd: string | null;
            has_password: boolean;
            has_totp: boolean;
            has_oidc: boolean;
            created_by: string;
            created_at: string;
            last_sign_in_at: string | null;
            disabled_at: string | null;
            link: string;
            link_expires_at: string;
            mailed: boolean;
          };
        };
      };
    };
  };
  readUser: {
    parameters: {
      path: {
        user: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["User"];
        };
      };
    };
  };
  changeUser: {
    parameters: {
      path: {
        user: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UserPatch"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["User"];
        };
      };
    };
  };
  makeUserLink: {
    parameters: {
      path: {
        user: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            link: string;
            link_expires_at: string;
            mailed: boolean;
          };
        };
      };
    };
  };
  listUserSessions: {
    parameters: {
      path: {
        user: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["UserSession"][];
          };
        };
      };
    };
  };
  endUserSessions: {
    parameters: {
      path: {
        user: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            ended: number;
          };
        };
      };
    };
  };
  listProviders: {
    parameters: {
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["ProviderRow"][];
            revision: number;
          };
        };
      };
    };
  };
  readRowOfProvider: {
    parameters: {
      path: {
        provider: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["ProviderRow"];
        };
      };
    };
  };
  putProvider: {
    parameters: {
      query?: {
        dry_run?: "true" | "false";
        revision?: number;
      };
      path: {
        provider: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["NewProviderRow"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["ProviderRow"] | components["schemas"]["ProviderPreview"];
        };
      };
    };
  };
  deleteProvider: {
    parameters: {
      path: {
        provider: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Deleted"];
        };
      };
    };
  };
  listModelRows: {
    parameters: {
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["ModelRow"][];
            uncallable: {
              id: string;
              reason: string;
            }[];
            revision: number;
          };
        };
      };
    };
  };
  readRowOfModel: {
    parameters: {
      path: {
        model: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["ModelRow"];
        };
      };
    };
  };
  putModel: {
    parameters: {
      query?: {
        dry_run?: "true" | "false";
        revision?: number;
      };
      path: {
        model: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["NewModelRow"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["ModelRow"] | components["schemas"]["ModelPreview"];
        };
      };
    };
  };
  deleteModel: {
    parameters: {
      path: {
        model: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Deleted"];
        };
      };
    };
  };
  switchModel: {
    parameters: {
      path: {
        model: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ModelSwitch"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["ModelRow"];
        };
      };
    };
  };
  readCatalog: {
    parameters: {
      query?: {
        format?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Catalog"];
          "application/yaml": components["schemas"]["CatalogFile"];
        };
      };
    };
  };
  replaceCatalog: {
    parameters: {
      query?: {
        dry_run?: "true" | "false";
        allow_removals?: "true" | "false";
        revision?: number;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["NewCatalog"];
        "application/yaml": components["schemas"]["NewCatalogFile"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["ReplacedCatalog"] | components["schemas"]["CatalogChanges"];
        };
      };
    };
  };
  rollBackCatalog: {
    parameters: {
      query?: {
        dry_run?: "true" | "false";
        allow_removals?: "true" | "false";
        revision?: number;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["Rollback"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["ReplacedCatalog"] | components["schemas"]["CatalogChanges"];
        };
      };
    };
  };
  compareRevisions: {
    parameters: {
      query?: {
        from?: number;
        to?: number;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["RevisionChanges"];
        };
      };
    };
  };
  listRevisions: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Revision"][];
            has_more: boolean;
            next: string | null;
          };
        };
      };
    };
  };
  listRowEdits: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
      };
      path: {
        kind: "provider" | "model" | "price_list";
        row: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["RowEdit"][];
            has_more: boolean;
            next: string | null;
          };
        };
      };
    };
  };
  listPriceLists: {
    parameters: {
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["PriceListRow"][];
            revision: number;
          };
        };
      };
    };
  };
  readPriceList: {
    parameters: {
      path: {
        list: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["PriceListRow"];
        };
      };
    };
  };
  putPriceList: {
    parameters: {
      query?: {
        dry_run?: "true" | "false";
        revision?: number;
      };
      path: {
        list: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["NewPriceListRow"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["PriceListRow"] | components["schemas"]["PriceListPreview"];
        };
      };
    };
  };
  deletePriceList: {
    parameters: {
      path: {
        list: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Deleted"];
        };
      };
    };
  };
  readPriceListChanges: {
    parameters: {
      path: {
        list: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["PriceChange"][];
          };
        };
      };
    };
  };
  listJobs: {
    parameters: {
      query?: {
        account?: string;
        kind?: "image" | "video";
        state?: "queued" | "processing" | "unknown_submit" | "completed" | "failed";
        limit?: number;
        cursor?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Job"][];
            has_more: boolean;
            next: string | null;
          };
        };
      };
    };
  };
  readJob: {
    parameters: {
      path: {
        job: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["JobDetails"];
        };
      };
    };
  };
  readJobContent: {
    parameters: {
      header?: {
        range?: string;
        "if-range"?: string;
        "if-none-match"?: string;
      };
      path: {
        job: string;
        n: number;
      };
    };
    responses: {
      200: {
        content: {
          "*/*": string;
        };
      };
      206: {
        content: {
          "*/*": string;
        };
      };
    };
  };
  listAdminUsage: {
    parameters: {
      query?: {
        account?: string;
        limit?: number;
        cursor?: string;
        from?: string;
        to?: string;
        group_by?: string;
        tag?: string;
        user?: string;
        project?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: (components["schemas"]["AdminCharge"] | components["schemas"]["AdminRefund"] | components["schemas"]["AdminUsageGroup"])[];
            has_more: boolean;
            next: string | null;
            totals?: components["schemas"]["AdminUsageTotals"];
          };
        };
      };
    };
  };
  listLosses: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Loss"][];
            has_more: boolean;
            next: string | null;
          };
        };
      };
    };
  };
  listAudit: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
        actor?: string;
        action?: string;
        subject?: string;
        from?: string;
        to?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["AuditRow"][];
            has_more: boolean;
            next: string | null;
          };
        };
      };
    };
  };
  reconcile: {
    parameters: {
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Reconciliation"];
        };
      };
    };
  };
  readVerification: {
    parameters: {
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["VerificationState"];
        };
      };
    };
  };
  verify: {
    parameters: {
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["Acceptance"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Verification"];
        };
      };
    };
  };
  listNodes: {
    parameters: {
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Nodes"];
        };
      };
    };
  };
  listSettings: {
    parameters: {
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: {
              section: string;
              name: string;
              value: string | null;
              default: string | null;
              source: "environment" | "default";
              meaning: string;
            }[];
          };
        };
      };
    };
  };
  readDoctor: {
    parameters: {
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Doctor"];
        };
      };
    };
  };
  listAdminRequests: {
    parameters: {
      query?: {
        account?: string;
        key?: string;
        project?: string;
        model?: string;
        code?: string;
        failed?: "true" | "false";
        status?: string;
        tag?: string;
        user?: string;
        sort?: "newest" | "cost" | "duration";
        from?: string;
        to?: string;
        limit?: number;
        cursor?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["AdminRequest"][];
            has_more: boolean;
            next: string | null;
          };
        };
      };
    };
  };
  readAdminRequest: {
    parameters: {
      path: {
        request: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["AdminRequestPage"] | components["schemas"]["AdminMovementPage"];
        };
      };
    };
  };
  listBackups: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["BackupPage"];
        };
      };
    };
  };
  createBackup: {
    parameters: {
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["NewBackup"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": components["schemas"]["Backup"];
        };
      };
    };
  };
  readAdminDescription: {
    parameters: {
    };
    responses: {
      200: {
        content: {
          "application/json": {
            openapi: string;
          } & {
            [key: string]: unknown;
          };
        };
      };
    };
  };
}
