import { chat } from './chat.ts'
import type { Workload } from './workload.ts'

/** Each is measured by `npm run bench`, in this order. */
export const workloads: readonly Workload[] = [chat]
