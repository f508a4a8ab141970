/** Defines the limits, and finds those that an attack missed. */
import { isClear, type Attack } from './attack.ts'
import { rareKinds } from './probe.ts'
import type { Figures } from './run.ts'

export interface Limits {
  /** Measure of the event loop: delay in elapsed time, or CPU time of one turn on a busy machine. */
  turnMs: number
  measure: 'delay' | 'cpu'
  /** Limit of the tenant's 99th percentile: a factor of the quiet value, or milliseconds, whichever is more. */
  timesQuiet: number
  p99Ms: number
  /** Limit of the tenant's median for the rare, more expensive probes, computed in the same way. */
  rareMs: number
  peakBytes: number
  /** True when the attacker may still wait for an answer at the end of the attack. */
  mayWait: boolean
}

export const limits: Limits = {
  turnMs: 250,
  measure: 'delay',
  timesQuiet: 10,
  p99Ms: 100,
  rareMs: 1000,
  peakBytes: 1.5 * 1024 ** 3,
  mayWait: false,
}

/**
 * Limits for CI, whose two cores also run other test files, PostgreSQL, the attacker and the prober. The work of the
 * service has the strict limit, measured as CPU time of a turn, because delay depends on other processes. The tenant's
 * times and the attacker's answers depend on them, too. So their limits only detect a blocked service. The command uses
 * strict limits and needs a quiet machine.
 */
export const ciLimits: Limits = {
  ...limits,
  measure: 'cpu',
  timesQuiet: 20,
  p99Ms: 5000,
  rareMs: 5000,
  mayWait: true,
}

/** @returns a text for each missed limit */
export function missed(attack: Attack, figures: Figures, quiet: Figures, limits: Limits): string[] {
  const found = [...figures.faults]
  const turnMs = limits.measure === 'delay' ? figures.longestDelayMs : figures.longestCpuMs
  const what = limits.measure === 'delay' ? 'the loop was blocked for' : 'one turn used'
  if (turnMs > limits.turnMs) found.push(`${what} ${ms(turnMs)}; ${limits.turnMs} ms are allowed`)
  const { p99Ms, failures } = figures.tenant
  const p99LimitMs = attack.stopsTheDatabase
    ? Number.POSITIVE_INFINITY
    : Math.max(limits.p99Ms, limits.timesQuiet * quiet.tenant.p99Ms)
  if (!(p99Ms <= p99LimitMs)) found.push(`the tenant's p99 is ${ms(p99Ms)}; ${ms(p99LimitMs)} are allowed`)
  for (const kind of attack.stopsTheDatabase ? [] : rareKinds) {
    const limitMs = Math.max(limits.rareMs, limits.timesQuiet * (quiet.tenant.rareMs[kind] ?? 0))
    const rareMs = figures.tenant.rareMs[kind] ?? 0
    if (rareMs > limitMs) found.push(`the tenant's '${kind}' took ${ms(rareMs)}; ${ms(limitMs)} are allowed`)
  }
  if (!attack.stopsTheDatabase)
    for (const [reason, count] of Object.entries(failures))
      found.push(`the tenant: ${reason} (${count} times)`)
  if (figures.peakBytes > limits.peakBytes)
    found.push(`${mb(figures.peakBytes)} of memory; ${mb(limits.peakBytes)} are allowed`)
  for (const [answer, count] of Object.entries(figures.answers))
    if (!isClear(attack, answer) && !(limits.mayWait && answer.startsWith('no answer: ')))
      found.push(`the attacker got no clear answer: ${answer} (${count} times)`)
  return found
}

/** Returns the median of each number, and all values of other figures. */
export function medians(runs: Figures[]): Figures {
  const median = (of: (figures: Figures) => number) => {
    const sorted = runs.map(of).toSorted((a, b) => a - b)
    return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  }
  const all = (of: (figures: Figures) => Record<string, number>) => {
    const sum: Record<string, number> = {}
    for (const figures of runs)
      for (const [key, count] of Object.entries(of(figures))) sum[key] = (sum[key] ?? 0) + count
    return sum
  }
  return {
    attack: runs[0]!.attack,
    longestDelayMs: median((one) => one.longestDelayMs),
    longestCpuMs: median((one) => one.longestCpuMs),
    peakBytes: median((one) => one.peakBytes),
    tenant: {
      samples: Math.min(...runs.map(({ tenant }) => tenant.samples)),
      p50Ms: median(({ tenant }) => tenant.p50Ms),
      p99Ms: median(({ tenant }) => tenant.p99Ms),
      rareMs: Object.fromEntries(
        rareKinds.map((kind) => [kind, median(({ tenant }) => tenant.rareMs[kind] ?? Number.NaN)]),
      ),
      failures: all(({ tenant }) => tenant.failures),
    },
    answers: all(({ answers }) => answers),
    faults: [...new Set(runs.flatMap(({ faults }) => faults))],
  }
}

export const ms = (value: number) => (Number.isFinite(value) ? `${Math.round(value)} ms` : '–')
export const mb = (bytes: number) => `${Math.round(bytes / 1024 ** 2)} MB`
