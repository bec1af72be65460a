import { chat } from './chat.ts'
import { embeddings } from './embeddings.ts'
import { codingAgent, messages } from './messages.ts'
import { responses } from './responses.ts'
import type { Workload } from './workload.ts'

/** All workloads, in the order in which `npm run bench` measures them. */
export const workloads: readonly Workload[] = [chat, responses, messages, codingAgent, embeddings]
