import type { Throughput } from '../load/jobs.ts'
import { formatNumber } from '../table.ts'

export function describeThroughput({ perSecond, p50Ms, p99Ms, loadBusy }: Throughput): string {
  const times = `p50 ${formatNumber(p50Ms)} ms, p99 ${formatNumber(p99Ms)} ms`
  return `${formatNumber(perSecond)}/s, ${times} (load ${Math.round(loadBusy * 100)} % busy)`
}
