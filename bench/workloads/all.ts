import { chat } from './chat.ts'
import { embeddings } from './embeddings.ts'
import { codingAgent, messages } from './messages.ts'
import { responses } from './responses.ts'
import type { Workload } from './workload.ts'

/** Each is measured by `npm run bench`, in this order. */
export const workloads: readonly Workload[] = [chat, responses, messages, codingAgent, embeddings]
