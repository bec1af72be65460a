import type { Job, StoredFile } from '../../domain/jobs/job.ts'
import type { Blobs } from '../ports/blobs.ts'
import type { MediaOutput, MediaResult } from '../ports/media-provider.ts'
import type { UntrustedFetch } from '../ports/untrusted-fetch.ts'
import { publicId } from './job-id.ts'

export type StoreOutputsPorts = { readonly blobs: Blobs; readonly fetchUntrusted: UntrustedFetch }
