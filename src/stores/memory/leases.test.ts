import { leasesConform } from '../../../test/conformance/leases.ts'
import { MemoryLeases } from './leases.ts'

leasesConform(clock => new MemoryLeases(clock))
